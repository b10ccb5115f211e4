"""`autopilot doctor`: one line for each thing a run depends on, and how to mend what is wrong."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.domain.request import Check
from autopilot.text.clean import clean

FAILED = 2
_WIDTH = 12


class Examiner(Protocol):
    """The part of the program the doctor needs."""

    def examine(self, folder: str) -> tuple[Check, ...]: ...

    def write_config(self, folder: str) -> str: ...

    def try_notifying(self) -> tuple[Check, ...]: ...


def show(folder: str, app: Examiner, *, as_json: bool, write_config: bool, notify: bool = False) -> int:
    """Exit code 0 unless something keeps a run from starting."""
    written = app.write_config(folder) if write_config else ""
    checks = (*app.examine(folder), *(app.try_notifying() if notify else ()))
    if as_json:
        console.say(msgspec.json.encode({"checks": checks, "written": written or None}).decode())
    else:
        console.say("\n".join([*([f"Written: {written}", ""] if written else []), *lines(checks)]))
    return exit_code(checks)


def exit_code(checks: Sequence[Check]) -> int:
    return FAILED if any(check.level == "fail" for check in checks) else 0


def lines(checks: Sequence[Check]) -> list[str]:
    shown = []
    for check in checks:
        shown.append(f"{check.level:<4}  {check.what:<{_WIDTH}}  {clean(check.found, 300)}")
        if check.fix and check.level != "ok":
            shown.append(f"{'':<{_WIDTH + 8}}-> {clean(check.fix, 300)}")
    counts = {level: sum(check.level == level for check in checks) for level in ("ok", "warn", "fail")}
    return [*shown, "", ", ".join(f"{count} {level}" for level, count in counts.items())]
