"""
HTML built of values: whatever did not come out of a function here cannot get into the page.

Everything that agents, roadmaps and files say goes through `Pen`, which makes it harmless, takes secrets out of it,
cuts it to a bound and escapes it. Elements take markup and nothing else: a type checker notices what was forgotten.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from autopilot.text.clean import clean, harmless
from autopilot.text.redact import HOLD

SHORT, NAME, LINE, BLOCK = 12, 120, 400, 8_000
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?)")
_VOID = frozenset({"meta", "input", "br", "rect", "line", "path"})

Attribute = str | int | float | bool | None
NOTHING = Markup()


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes foreign text. A secret is looked for beyond the bound as well, so that none is cut in half and missed."""

    redact: Callable[[str], str]
    known: dict[tuple[str, int], Markup] = field(default_factory=dict)

    def line(self, text: str, most: int = LINE) -> Markup:
        """One line; the end of a longer one is left out. Runs say the same again and again: short ones are kept."""
        if len(text) > LINE:
            return self._line(text, most)
        key = text, most
        if key not in self.known:
            self.known[key] = self._line(text, most)
        return self.known[key]

    def _line(self, text: str, most: int) -> Markup:
        shown = self.redact(clean(text, most + HOLD))
        return escape(shown if len(shown) <= most else f"{shown[: most - 3].rstrip()}...")

    def short(self, name: str) -> Markup:
        """The beginning of a commit's or a tree's name, which is enough to find it."""
        return escape(self.redact(clean(name, HOLD))[:SHORT])

    def block(self, text: str, most: int = BLOCK) -> Markup:
        """Lines as they are; of a longer text its beginning and its end."""
        return escape(self.cut(text, most))

    def cut(self, text: str, most: int = BLOCK) -> str:
        """The same, not escaped yet."""
        half = most // 2
        if len(text) <= most + 2 * HOLD:
            shown = self._plain(text)
            if len(shown) <= most:
                return shown
            return f"{shown[:half]}\n[{len(shown) - 2 * half:,} characters left out]\n{shown[-half:]}"
        first, last = self._plain(text[: half + HOLD]), self._plain(text[-half - HOLD :])
        return f"{first[:half]}\n[{len(text) - 2 * half:,} characters left out]\n{last[-half:]}"

    def _plain(self, text: str) -> str:
        return self.redact(harmless(_SEQUENCE.sub("", text)))


def el(name: str, /, *children: Markup, **attributes: Attribute) -> Markup:
    """An element. `class_` is written class and `aria_label` aria-label; what is None or False is left out."""
    told = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _VOID:
        return made(f"<{name}{told}>" if name in {"meta", "input", "br"} else f"<{name}{told}/>")
    return made(f"<{name}{told}>{''.join(children)}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def words(text: str) -> Markup:
    """Words and numbers of ours."""
    return escape(text)


def joined(parts: Iterable[Markup], between: str = "") -> Markup:
    return made(escape(between).join(parts))


def made(markup: str) -> Markup:
    """The one place where text becomes markup: every piece of it was escaped by then."""
    return Markup(markup)  # noqa: S704 - see above; the callers are the functions of this module and the page's frame


def table(title: str, head: Iterable[str], rows: Iterable[Iterable[Markup]]) -> Markup:
    """The first cell of a row is its heading."""
    return framed(title, head, (row(*cells) for cells in rows))


def framed(title: str, head: Iterable[str], rows: Iterable[Markup]) -> Markup:
    """A table of rows that are drawn already; the title is ours."""
    top = el("tr", *(el("th", words(column), scope="col") for column in head))
    body = el("table", el("caption", words(title)), el("thead", top), el("tbody", *rows))
    return scrolled(title, body)


def scrolled(title: str, *children: Markup) -> Markup:
    """What may be wider than the page; it can be scrolled by keyboard."""
    return el("div", *children, class_="wide", tabindex=0, role="region", aria_label=title)


def row(head: Markup, *cells: Markup) -> Markup:
    """A row of a table; there may be ten thousand of them, so it is put together in one go."""
    rest = "".join(f"<td>{cell}</td>" for cell in cells)
    return made(f'<tr><th scope="row">{head}</th>{rest}</tr>')


def folded(summary: Markup, *children: Markup, **attributes: Attribute) -> Markup:
    """Shut until somebody opens it, by mouse or keyboard."""
    return el("details", el("summary", summary), *children, **attributes)


def size(markup: Markup) -> int:
    """In bytes, as it will be in the file."""
    return len(markup.encode("utf-8", "replace"))
