"""The labelled lines of a phase's section: goal, dependencies, requirements, success criteria."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autopilot.planning.roadmap.depends_on import without_parentheses
from autopilot.planning.roadmap.markdown import plain

Numbered = tuple[int, str]

_CRITERIA = (
    "success criteria", "acceptance criteria", "exit criteria", "definition of done", "uat", "validation gate",
    "success", "deliverables",
)  # fmt: skip
_GOALS = ("goal", "objective", "scope")
_NEEDS = ("depends on", "dependencies", "depends", "blocked by")
_REQUIREMENTS = ("requirements", "requirement", "covers")
_KNOWN = {
    *_CRITERIA, *_GOALS, *_NEEDS, *_REQUIREMENTS, "milestone goal", "plans", "plan", "status", "notes", "context",
    "research", "mode", "ui hint", "wave", "kind",
}  # fmt: skip

_BOLD_LABEL = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)(?P<label>[^*_\n]{2,60}?)(?:\*\*|__)(?P<rest>.*)$")
_PLAIN_LABEL = re.compile(
    r"\s*(?:[-*+]\s+|#{1,6}\s*)?(?P<label>[A-Za-z][A-Za-z ]{1,30}?)\s*(?:\([^()]{0,60}\))?\s*:(?P<rest>.*)$"
)
_HEADING_LABEL = re.compile(r"\s*#{1,6}\s*(?P<label>[A-Za-z][A-Za-z ]{1,30}?)\s*(?:\([^()]{0,60}\))?\s*:?(?P<rest>)$")
_ASIDE = re.compile(r"\s*\([^()]*\)\s*")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|\d{1,4}[.)])[ \t]+(?:\[.?\][ \t]+)?(?P<text>\S.*)$")
_NO_REQUIREMENTS = re.compile(r"\W*(?:tbd|none|n/?a|no\b|nothing|[-\u2014\u2013]+\W*$)", re.IGNORECASE)
_REQUIREMENT = re.compile(r"(?<![\w.-])[A-Z0-9]+(?:\.\d+)*(?:-[A-Z0-9]+(?:\.\d+)*)+(?![A-Za-z0-9_-])")
_SPAN = re.compile(
    rf"({_REQUIREMENT.pattern})\s*(?:-|\u2013|\u2014|\.\.\.?|\bthrough\b|\bto\b)\s*({_REQUIREMENT.pattern}|\d{{1,4}}\b)"
)
_DEPENDS = re.compile(r"\W{0,4}(?:depends on|blocked by)\s*:?\s+(?P<on>\S.*)", re.IGNORECASE)
_STUB = re.compile(
    r"\W*(?:(?:to be (?:planned|defined|determined)|urgent work)\b|(?:tbd|todo|placeholder|n/?a)\b(?! *[\w`]))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    goal: str = ""
    needs: str | None = None
    needs_line: int = 0
    requirements: tuple[str, ...] = ()
    criteria: tuple[Numbered, ...] = ()
    status: str | None = None
    status_line: int = 0
    kind: str = ""
    plans: str = ""
    plans_line: int = 0


@dataclass(frozen=True, slots=True)
class _Block:
    label: str
    line: int
    lines: tuple[Numbered, ...]

    def text(self) -> str:
        """The label's own line and what continues it, up to a blank line."""
        kept = [self.lines[0][1]]
        for _, line in self.lines[1:]:
            if not line.strip():
                break
            kept.append(line.strip())
        return plain(" ".join(kept))


def read(section: Sequence[Numbered]) -> Fields:
    blocks: dict[str, _Block] = {}
    for block in _blocks(section):
        blocks.setdefault(block.label, block)
    goal, wanted = (_first(blocks, names) for names in (_GOALS, _REQUIREMENTS))
    needs = _needs(blocks)
    state, plans = blocks.get("status"), blocks.get("plans")
    return Fields(
        goal=goal.text() if goal else "",
        needs=needs[1] if needs else None,
        needs_line=needs[0] if needs else 0,
        requirements=requirement_ids(_whole(wanted)) if wanted else (),
        criteria=_criteria(blocks),
        status=state.text() if state else None,
        status_line=state.line if state else 0,
        kind=blocks["kind"].text() if "kind" in blocks else "",
        plans=plans.text() if plans else "",
        plans_line=plans.line if plans else 0,
    )


def requirement_ids(text: str) -> tuple[str, ...]:
    """Ids in the order written; `A-01 through A-06` is six of them, `TBD` and `None` are none (R17)."""
    bare = without_parentheses(plain(text)).strip(" []")
    if not bare or _NO_REQUIREMENTS.match(bare):
        return ()
    found: list[str] = []
    at = 0
    while span := _SPAN.search(bare, at):
        found += _REQUIREMENT.findall(bare[at : span.start()])
        found += _between(span[1], span[2])
        at = span.end()
    found += _REQUIREMENT.findall(bare[at:])
    return tuple(dict.fromkeys(found))


def starts_field(line: str) -> bool:
    """Whether the line is a labelled one."""
    return _label(line) is not None


def is_stub(goal: str) -> bool:
    """R25: `[To be planned]`, `TBD` and the like, or nothing at all."""
    return not goal.strip() or _STUB.match(goal) is not None


def items(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """List items with what continues them; deeper items belong to the one above, other prose ends the list."""
    current: list[str] = []
    start = base = 0
    gap = False
    for line, text in lines:
        found = _ITEM.match(text)
        indent = len(text) - len(text.lstrip())
        if found and (not current or indent <= base + 1):
            if current:
                yield start, " ".join(current)
            start, base, current = line, indent if not current else min(base, indent), [found["text"].strip()]
        elif text.strip() and current:
            if gap and indent <= base:
                break
            current.append(text.strip())
        gap = not text.strip()
    if current:
        yield start, " ".join(current)


def _first(blocks: dict[str, _Block], names: Iterable[str]) -> _Block | None:
    return next((blocks[name] for name in names if name in blocks), None)


def _needs(blocks: dict[str, _Block]) -> Numbered | None:
    """The `Depends on` line; without one, a point of `**Context:**` that begins with these words."""
    if block := _first(blocks, _NEEDS):
        return block.line, block.text()
    for line, text in items(blocks["context"].lines) if "context" in blocks else ():
        if found := _DEPENDS.match(plain(text)):
            return line, found["on"]
    return None


def _criteria(blocks: dict[str, _Block]) -> tuple[Numbered, ...]:
    """The first kind of criteria the section has, in the order of how much they bind; `[To be defined]` is none."""
    for name in _CRITERIA:
        block = blocks.get(name)
        if block is None:
            continue
        listed = tuple(items(block.lines[1:])) or ((block.line, block.text()),)
        if binding := tuple(item for item in listed if not is_stub(item[1])):
            return binding
    return ()


def _blocks(section: Sequence[Numbered]) -> Iterator[_Block]:
    label, start, lines = "", 0, list[Numbered]()
    for line, text in section:
        found = _label(text)
        if found is None:
            lines.append((line, text))
            continue
        if label:
            yield _Block(label, start, tuple(lines))
        label, start, lines = found[0], line, [(line, found[1])]
    if label:
        yield _Block(label, start, tuple(lines))


def _label(text: str) -> tuple[str, str] | None:
    """`**Goal**: x`, `**Goal:** x`, `Goal: x`, `**Success Criteria** (what must be TRUE):`, `#### Success Criteria`."""
    if ":" not in text and "**" not in text and "#" not in text:
        return None
    if found := _BOLD_LABEL.match(text):
        inner, rest = found["label"].strip(), found["rest"]
        outside = _ASIDE.match(rest)
        after = rest[outside.end() :] if outside else rest
        if inner.endswith(":") or after.lstrip().startswith(":"):
            value = after.lstrip().removeprefix(":") if not inner.endswith(":") else rest
            return _ASIDE.sub("", inner.rstrip(":")).strip().lower(), value.strip()
        known = _ASIDE.sub("", inner).strip().lower()
        return (known, rest.strip()) if known in _KNOWN else None
    found = _HEADING_LABEL.match(text) or _PLAIN_LABEL.match(text)
    if found is None or found["label"].strip().lower() not in _KNOWN:
        return None
    return found["label"].strip().lower(), found["rest"].strip()


def _whole(block: _Block) -> str:
    """The block's text with its list items, which `**Covers:**` uses."""
    listed = [text for _, text in items(block.lines[1:])]
    return ", ".join([block.text(), *listed]) if listed else block.text()


def _between(low: str, high: str) -> list[str]:
    stem, _, first = low.rpartition("-")
    last = high.rpartition("-")[2]
    same_stem = not high.rpartition("-")[0] or high.rpartition("-")[0] == stem
    if not (same_stem and first.isdecimal() and last.isdecimal() and int(first) < int(last) < int(first) + 200):
        return [low, high] if "-" in high else [low]
    return [f"{stem}-{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
