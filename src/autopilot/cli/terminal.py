"""Questions to the person at the terminal."""

import sys

from autopilot.domain.errors import Interrupted, UsageInvalid
from autopilot.text.clean import harmless


class Cancelled(UsageInvalid):
    """The person left a question with Ctrl-C: there is no run to resume."""

    exit_code = Interrupted.exit_code


def present() -> bool:
    """Whether somebody can answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(question: str) -> str:
    """The line typed. The question goes to standard error, so that standard output holds results only."""
    try:
        sys.stderr.write(harmless(question))
        sys.stderr.flush()
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        raise Cancelled("Cancelled.", why="Nothing was changed.", do="Run the command again when you like.") from None
    if not line:
        raise UsageInvalid(
            "The question was not answered.", why="The input ended. Nothing was changed.", do="Run the command again."
        )
    return line.strip()
