"""What `autopilot doctor` says of the sandbox: which tier holds here, by trying to break out of it."""

from autopilot.domain.checkup import Check
from autopilot.domain.protocols import Processes
from autopilot.sandbox.choose import choose


def sandbox_check(processes: Processes) -> Check:
    sandbox, warning = choose("auto", processes, ())
    if warning is None:
        return Check(level="ok", what="sandbox", found=f"{sandbox.tier}: a command inside could not break out")
    return Check(
        level="warn",
        what="sandbox",
        found=f"{sandbox.tier}: {warning}",
        fix="Install bubblewrap and allow user namespaces; until then nothing is shown as verified.",
    )
