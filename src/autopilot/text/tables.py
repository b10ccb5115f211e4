"""Markdown tables that nothing written in them can break."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('---' for _ in head)}|"]
    return "\n".join((*lines, *(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows)))


def _cell(value: object) -> str:
    return " ".join(str(value).replace("|", "\\|").split())
