"""PROJECT.md to values: what the project is, and what it must never lose."""

import re

from autopilot.domain.value import Value
from autopilot.planning.roadmap import fields, markdown
from autopilot.planning.roadmap.markdown import Document, Heading, cells, plain

_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")


class Project(Value, frozen=True, kw_only=True):
    name: str = ""
    what: str = ""
    core_value: str = ""
    validated: tuple[str, ...] = ()
    active: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    context: str = ""
    constraints: tuple[str, ...] = ()
    decisions: tuple[tuple[str, ...], ...] = ()


def read(text: str | bytes) -> Project:
    """Sections that are missing are empty; nothing is an error."""
    document = markdown.read(text)
    return Project(
        name=next((plain(h.text) for h in document.headings if h.level == 1), "").removeprefix("Project:").strip(),
        what=_prose(document, "what this is"),
        core_value=_prose(document, "core value"),
        validated=_items(document, "validated"),
        active=_items(document, "active"),
        out_of_scope=_items(document, "out of scope"),
        context=_prose(document, "context"),
        constraints=_items(document, "constraints"),
        decisions=_rows(document, "key decisions"),
    )


def _section(document: Document, name: str) -> list[tuple[int, str]]:
    """The numbered lines below a heading, up to the next of its level."""
    start: Heading | None = None
    for heading in document.headings:
        if start is not None and heading.level <= start.level:
            return [(n, document.lines[n - 1]) for n in range(start.line + 1, heading.line)]
        if start is None and plain(heading.text).lower().startswith(name):
            start = heading
    return [] if start is None else list(enumerate(document.lines[start.line :], start=start.line + 1))


def _prose(document: Document, name: str) -> str:
    return "\n".join(line for _, line in _section(document, name)).strip()


def _items(document: Document, name: str) -> tuple[str, ...]:
    return tuple(plain(text).lstrip("\u2713\u2714 ") for _, text in fields.items(_section(document, name)))


def _rows(document: Document, name: str) -> tuple[tuple[str, ...], ...]:
    rows = [line for _, line in _section(document, name) if "|" in line and not _DIVIDER.match(line)]
    return tuple(tuple(plain(cell) for cell in cells(row)) for row in rows[1:])
