"""What to type next: in a terminal, and in an agent's own session, where a fresh context comes first (INV-17)."""

from collections.abc import Iterator


def in_session(command: str) -> str:
    """The form with a slash, which never stands without `/clear` before it."""
    return f"/clear then /autopilot {command}"


def continuing(phases: str) -> Iterator[str]:
    yield f"- To continue in a terminal: `autopilot {phases}`"
    yield f"- To continue in an agent's session: {in_session(phases)}"
