"""What `autopilot doctor` says of the sandbox: which tier holds here, by trying to break out of it."""

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Processes
from autopilot.domain.request import Check
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose

SWITCHED_OFF = "Take the choice back (AUTOPILOT_SANDBOX, your own config.toml) and install the package bubblewrap."
HELD_LOOSELY = (
    "Install the package bubblewrap. In a container allow user namespaces, or pidfd_getfd and a listener for seccomp."
)


def sandbox_check(processes: Processes, wanted: SandboxChoice = "auto", *, open_network: bool = False) -> Check:
    try:
        ground = choose(wanted, processes, open_network=open_network)
    except SandboxUnavailable as error:
        return Check(level="fail", what="sandbox", found=error.what, fix=error.do)
    if ground.warning is None:
        return Check(level="ok", what="sandbox", found=ground.label)
    fix = SWITCHED_OFF if ground.tier == "none" else HELD_LOOSELY
    return Check(level="warn", what="sandbox", found=f"{ground.label}: {ground.warning}", fix=fix)


def sandbox_words(processes: Processes, wanted: SandboxChoice) -> str:
    """One line for a forecast."""
    try:
        ground = choose(wanted, processes)
    except SandboxUnavailable as error:
        return error.what
    return f"{ground.label}: {ground.warning}" if ground.warning else ground.label
