"""The shell command both sandboxes run, and how its end is read."""

import secrets

import msgspec

from autopilot.domain.protocols import Ran

# The kernel takes no single argument longer than 128 KiB.
MAX_COMMAND = 120_000


def bash(command: str) -> tuple[str, ...]:
    """A failing command ends it, an unset variable is an error, and a pipe fails with any of its parts."""
    return ("bash", "-euo", "pipefail", "-c", command, "bash")


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
