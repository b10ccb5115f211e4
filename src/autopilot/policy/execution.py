"""What a command was: a run or only a search (SBOX-02), out of bounds (SBOX-03), broken down (SBOX-04). Pure."""

import re
from collections.abc import Iterable

from autopilot.domain.evidence import CommandRun

# From here on a shell tells of a command that could not be started or was ended by a signal.
NOT_STARTED = 126
_PARTS = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")
_SEARCH = re.compile(
    r"^(?:!\s*)?(?:(?:git\s+)?grep|egrep|fgrep|zgrep|rg|ag|test|\[\[?|ls|wc|cat|head|tail|find|stat|file|true|false|:|"
    r"echo|printf|sort|uniq|cut|tr|cd|jq|diff|cmp)(?:\s|$)"
)
_OUT_OF_BOUNDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("installs packages for the whole machine", re.compile(
        r"\b(?:npm|pnpm)\s+(?:i|install|add)\b[^;&|]*\s(?:-g|--global)\b|\byarn\s+global\s+add\b|"
        r"\bpip3?\s+install\b[^;&|]*\s--(?:user|break-system-packages)\b|\bsudo\b|\b(?:apt|apt-get|brew|dnf|yum)\s+install\b"
    )),
    ("writes outside the project", re.compile(
        r"(?<![<>=-])>{1,2}\s*(?:~|\$HOME|/(?!dev/(?:null|stdout|stderr|tty)\b|tmp/))|\brm\s+-\w+\s+(?:~|\$HOME|/(?!tmp/))"
    )),
    ("reaches into the network", re.compile(
        r"\b(?:curl|wget)\b[^;&|]*\bhttps?://(?!localhost\b|127\.0\.0\.1\b|0\.0\.0\.0\b|\[::1\])"
    )),
)  # fmt: skip
_REFUSED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("the sandbox refused a write", re.compile(r"Read-only file system|\bEROFS\b")),
    ("the sandbox refused the network", re.compile(
        r"Network is unreachable|Could not resolve host|Temporary failure in name resolution|"
        r"\bENETUNREACH\b|\bEAI_AGAIN\b"
    )),
)  # fmt: skip


def executes(command: str) -> bool:
    """Whether the command runs something of the project, and does not only look for text or files."""
    return any(part and not _SEARCH.match(part) for part in _PARTS.split(command.strip()))


def strongest(runs: Iterable[CommandRun]) -> CommandRun | None:
    """
    SBOX-02: of several runs about one criterion the one that tells most.

    Execution before search, and of equals the one that failed: a pass never hides a failure of its own kind.
    """
    return min(runs, key=lambda run: (not executes(run.command), run.passed), default=None)


def violation(run: CommandRun) -> str:
    """SBOX-03: how the command leaves its bounds, by its own text or by what it was refused; empty when it does not."""
    parts = _PARTS.split(run.command.strip())
    done = " ; ".join(part for part in parts if not _SEARCH.match(part) or ">" in part)
    asked = (what for what, pattern in _OUT_OF_BOUNDS if pattern.search(done))
    refused = (what for what, pattern in _REFUSED if not run.passed and pattern.search(run.output))
    return next(iter((*asked, *refused)), "")


def broke_down(run: CommandRun) -> bool:
    """SBOX-04: cut off, killed, or never started; a command that ran and said no is none."""
    return not run.passed and (run.exit_code is None or run.exit_code < 0 or run.exit_code >= NOT_STARTED)
