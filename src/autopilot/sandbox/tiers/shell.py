"""The shell command every sandbox runs, and how its end is read."""

import secrets
from collections.abc import Iterable

import msgspec

from autopilot.domain.process import Ran
from autopilot.sandbox.processes.launch import Ceilings

# The kernel takes no single argument longer than 128 KiB.
MAX_COMMAND = 120_000
BLOCK = 1024  # what `ulimit -f` counts in


def bash(command: str, ceilings: Ceilings) -> tuple[str, ...]:
    """A failing command ends it, an unset variable is an error, and a pipe fails with any of its parts."""
    return ("bash", "-euo", "pipefail", "-c", f"{limits(ceilings)} {command}", "bash")


def limited(argv: Iterable[str], ceilings: Ceilings) -> tuple[str, ...]:
    """A program that is no shell command, started under the ceilings."""
    return ("bash", "-c", f'{limits(ceilings)} exec "$@"', "bash", *argv)


def limits(ceilings: Ceilings) -> str:
    """Set by the shell itself before anything else: from outside they would come too late for a quick command."""
    blocks = max(1, ceilings.file_bytes // BLOCK)
    return f"{{ ulimit -c 0; ulimit -f {blocks}; ulimit -u {ceilings.processes}; }} 2>/dev/null || :;"


def refused(command: str) -> Ran | None:
    """How a command that no shell can be given ends: like one that could not be executed."""
    if "\0" in command:
        reason = b"the command contains a zero byte\n"
    elif len(command.encode(errors="surrogateescape")) > MAX_COMMAND:
        reason = b"the command is longer than %d bytes\n" % MAX_COMMAND
    else:
        return None
    return Ran(exit_code=126, stdout=b"", stderr=reason, seconds=0.0)


def as_shell(ran: Ran) -> Ran:
    """A command ended by a signal has the exit code a shell would show, whichever sandbox it ran in."""
    if ran.exit_code is None or ran.exit_code >= 0:
        return ran
    return msgspec.structs.replace(ran, exit_code=128 - ran.exit_code)


def own_mark(mark: str) -> str:
    """A mark beneath `mark` that no other command has."""
    return f"{mark or 'sandbox'}/{secrets.token_hex(8)}"
