"""Printing that survives closed pipes and odd letters: words to standard output, troubles to standard error."""

import os
import sys

from autopilot.text.clean import harmless


def say(text: str) -> None:
    """Print it all, now. A reader that went away is no error; a disk that is full is one."""
    try:
        sys.stdout.write(f"{harmless(text)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout.fileno())
    except OSError as error:
        from autopilot.domain.errors import StorageFailed

        silence(sys.stdout.fileno())
        raise StorageFailed(
            f"Cannot write to standard output: {error.strerror}.",
            why="What the command has to tell is incomplete.",
            do="Free some space there, or send the output elsewhere.",
        ) from error


def complain(what: str, why: str, do: str) -> None:
    """What happened, why it matters, what to do: three lines."""
    warn(f"autopilot: {what}\n  {why}\n  {do}")


def warn(text: str) -> None:
    try:
        sys.stderr.write(f"{harmless(text)}\n")
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr.fileno())


def silence(descriptor: int) -> None:
    """Let what is still buffered go nowhere, so that leaving the program does not stumble over it again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def prepare() -> None:
    """Make both streams safe to write: a closed one leads nowhere, an unknown letter is shown as `?`."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Kept open on purpose: it also keeps files of ours from being given the descriptor of a closed stream.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - pathlib is slow to import
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
