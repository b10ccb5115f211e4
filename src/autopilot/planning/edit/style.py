"""How a roadmap writes its phases, so that a new one is written the way its neighbours are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from autopilot.planning.roadmap import ids
from autopilot.planning.roadmap import phase_status as status
from autopilot.planning.roadmap.markdown import cells, code_spans, plain

INSERTED = " *(INSERTED)*"
_TRUE = " (what must be TRUE)"

_SIGN = r"(?P<sign>[ \t]*(?:[:.)|\u00b7\uff1a\u2192]|[\u2014\u2013]|--?)[ \t]*)"
_PHASE = (
    rf"[^\w\n]{{0,12}}?(?P<bold>\*\*|__)?(?P<word>phase)(?P<gap>[ \t]+)(?P<id>{ids.PATTERN})(?P<close>\*\*|__)?{_SIGN}?"
)
_HEADING = re.compile(rf"(?P<hash> {{0,3}}#{{1,6}}[ \t]*){_PHASE}", re.IGNORECASE | re.ASCII)
_ENTRY = re.compile(
    rf"(?P<indent>[ \t]*)(?P<mark>[-*+]|\d{{1,4}}[.)])(?P<space>[ \t]+)(?:\[(?P<box>[^\]]?)\](?P<boxgap>[ \t]+))?"
    rf"{_PHASE}(?P<rest>.*)$",
    re.IGNORECASE | re.ASCII,
)
_DASH = re.compile(r" (--?|[\u2014\u2013]{1,3}) ")
_FIRST_CELL = re.compile(
    rf"\W{{0,6}}?(?P<word>phase\s+)?(?P<id>{ids.PATTERN})(?P<sign>[.:)]?\s*)(?P<name>.*)$", re.IGNORECASE
)
_LABEL = re.compile(
    r"(?P<lead>[ \t]*(?:[-*+][ \t]+)?)(?P<bold>\*\*|__|)(?P<name>[A-Za-z][A-Za-z ]{1,30}?)(?P<inner>[ \t]*\([^()]*\))?"
    r"(?P<close>:(?:\*\*|__)|(?:\*\*|__)(?P<outer>[ \t]*\([^()]*\))?:|:)(?P<rest>.*)$"
)
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,4}[.)])[ \t]+\S")
_RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPhase:
    """A phase to be written. `marker` follows its name; `depends_on` are ids as the roadmap's reader spells them."""

    id: str
    name: str
    goal: str
    depends_on: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    marker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """How the labelled lines of a section look."""

    lead: str = ""
    bold: str = "**"
    inside: bool = False
    end: str = ""
    apart: bool = False
    after_heading: bool = False
    item: str = "  "
    aside: str = _TRUE
    goal: str = "Goal"
    requirements: bool = False
    plans: bool = False

    def line(self, name: str, value: str, aside: str = "") -> str:
        mark = f"{aside}:{self.bold}" if self.inside else f"{self.bold}{aside}:"
        return f"{self.lead}{self.bold}{name}{mark}{f' {value}' if value else ''}{self.end}"


def is_rule(line: str) -> bool:
    return _RULE.match(line) is not None


def heading(raw: str, level: int, new: NewPhase, pad: str) -> str:
    """The heading of the new phase after the pattern of a neighbour's."""
    found = _HEADING.match(raw)
    if found is None or found["sign"] is None:
        return f"{'#' * level} Phase {padded(new.id, pad)}: {new.name}{new.marker}"
    bold, close = found["bold"] or "", found["close"] or ""
    lead = f"{found['hash']}{bold}{found['word']}{found['gap']}{padded(new.id, pad)}{close}{_spaced(found['sign'])}"
    return f"{lead}{new.name}{'' if close else bold}{new.marker}"


def entry(raw: str, new: NewPhase, pad: str, description: str | None) -> str:
    """The list entry of the new phase; its description follows the neighbour's kind of dash."""
    found = _ENTRY.match(raw)
    if found is None:
        return f"- [ ] **Phase {padded(new.id, pad)}: {new.name}**{new.marker} - {description or new.goal}"
    mark = re.sub(r"\d+", lambda digits: str(int(digits[0]) + 1), found["mark"])
    box = f"[ ]{found['boxgap']}" if found["box"] is not None else ""
    bold, close = found["bold"] or "", found["close"] or ""
    dash = _DASH.search(found["rest"])
    told = f" {dash[1] if dash else '-'} {description}" if description else ""
    title = f"{bold}{found['word']}{found['gap']}{padded(new.id, pad)}{close}{_spaced(found['sign'] or '')}{new.name}"
    return f"{found['indent']}{mark}{found['space']}{box}{title}{'' if close else bold}{new.marker}{told}"


def row(raw: str, header: str, new: NewPhase, pad: str) -> str:
    """The table row of the new phase, with the columns and the padding of the neighbour's."""
    before, own, after = _raw_cells(raw)
    names = [plain(name).lower() for name in cells(header)]
    named = _named(own[0]) if own else True
    heads = _raw_cells(header)[1]
    filler = "\u2014" if any(cell.strip() == "\u2014" for cell in own) else "-"
    values = [_first(own[0], new, pad)]
    for at, cell in enumerate(own[1:], start=1):
        column = names[at] if at < len(names) else ""
        value = _value(column, cell.strip(), new, named=named)
        named = named or value == new.name
        values.append(value if value is not None else filler)
    aligned = [at < len(heads) and len(heads[at]) == len(cell) for at, cell in enumerate(own)]
    texts = [value.replace("|", "\\|") for value in values]
    fitted = [_fit(cell, text, wide=wide) for cell, text, wide in zip(own, texts, aligned, strict=True)]
    return "|".join([*before, *fitted, *after])


def labels(section: Sequence[str]) -> Labels:
    """The style of the labels in a neighbour's section; GSD's own where it has none."""
    found = [(at, seen) for at, line in enumerate(section) if (seen := _LABEL.match(line))]
    goal = next(((at, f) for at, f in found if f["name"].lower() in {"goal", "objective"}), None)
    if goal is None:
        return Labels()
    at, style = goal
    after = [line.strip() for line in section[at + 1 : at + 3]]
    wanted = next((n for n, f in found if f["name"].lower() == "success criteria"), None)
    aside = _aside(section[wanted]) if wanted is not None else _TRUE
    item = next((i["indent"] for line in section[(wanted or 0) + 1 :] if (i := _ITEM.match(line))), "  ")
    known = {f["name"].lower() for _, f in found}
    return Labels(
        lead=style["lead"],
        bold=style["bold"],
        inside=style["close"].startswith(":") and bool(style["bold"]),
        end="  " if style["rest"].endswith("  ") else "",
        apart=len(after) > 1 and not after[0] and _LABEL.match(after[1]) is not None,
        after_heading=bool(section) and not section[0].strip(),
        item=item if wanted is not None else "  ",
        aside=aside,
        goal=style["name"],
        requirements="requirements" in known,
        plans="plans" in known,
    )


def fields(style: Labels, new: NewPhase, pad: str) -> list[str]:
    """The labelled lines of a section."""
    groups = [[style.line(style.goal, new.goal)], [style.line("Depends on", needed(new, pad))]]
    if style.requirements:
        groups.append([style.line("Requirements", "TBD")])
    if new.criteria:
        listed = [f"{style.item}{number}. {text}" for number, text in enumerate(new.criteria, start=1)]
        groups.append([style.line("Success Criteria", "", style.aside).rstrip(), *listed])
    if style.plans:
        groups.append([style.line("Plans", "TBD")])
    lines = groups[0]
    for group in groups[1:]:
        lines = [*lines, *([""] if style.apart else []), *group]
    return [*([""] if style.after_heading else []), *lines]


def nested(indent: str, new: NewPhase, pad: str) -> list[str]:
    """What a roadmap that has no sections says of a phase below its list entry."""
    inner = f"{indent}  "
    style = Labels(lead=f"{inner}- ", item=f"{inner}  ")
    lines = [style.line("Goal", new.goal)] if new.marker else []
    if new.depends_on:
        lines.append(style.line("Depends on", needed(new, pad)))
    if new.criteria:
        lines.append(style.line("Success Criteria", "", style.aside))
        lines += [f"{style.item}{number}. {text}" for number, text in enumerate(new.criteria, start=1)]
    return lines


def needed(new: NewPhase, pad: str) -> str:
    return ", ".join(f"Phase {padded(need, pad)}" for need in new.depends_on) or "Nothing"


def raw_id(raw: str) -> str:
    """The id as a heading, list entry or first table cell spells it, zeros and all."""
    found = _HEADING.match(raw) or _ENTRY.match(raw)
    if found is None and "|" in raw:
        own = _raw_cells(raw)[1]
        found = _FIRST_CELL.match(own[0].strip()) if own else None
    return found["id"] if found else ""


def indent_of(raw: str) -> str:
    return raw[: len(raw) - len(raw.lstrip(" \t"))]


def padded(phase_id: str, like: str) -> str:
    """The id with leading zeros where `like` has them: `5` after `04` is `05`, `4.2` after `04.01` is `04.02`."""
    segments = phase_id.split(".")
    shown = like.split(".")
    widths = [len(part) if part.startswith("0") and len(part) > 1 else 0 for part in shown]
    if widths[:1] == [0] and "-" in shown[0]:
        widths[0] = len(shown[0]) if shown[0].rpartition("-")[2].startswith("0") else 0
    return ".".join(_zeros(part, widths[at] if at < len(widths) else 0) for at, part in enumerate(segments))


def _aside(line: str) -> str:
    """`(what must be TRUE)` where the label has it."""
    found = _LABEL.match(line)
    return (found["inner"] or found["outer"] or "") if found else ""


def _zeros(segment: str, width: int) -> str:
    prefix, dash, number = segment.rpartition("-")
    return f"{prefix}{dash}{number.zfill(max(0, width - len(prefix + dash)))}"


def _spaced(sign: str) -> str:
    return sign if sign.endswith((" ", "\t")) else f"{sign} "


def _raw_cells(raw: str) -> tuple[list[str], list[str], list[str]]:
    """What stands before the first pipe, the cells with their spaces, and what stands behind the last pipe."""
    masked = raw.replace("\\|", "\0\0")
    for start, end in code_spans(masked):
        masked = masked[:start] + masked[start:end].replace("|", "\0") + masked[end:]
    places = [at for at, sign in enumerate(masked) if sign == "|"]
    edges = [-1, *places, len(raw)]
    parts = [raw[low + 1 : high] for low, high in pairwise(edges)]
    first = 1 if not parts[0].strip() else 0
    last = len(parts) - 1 if len(parts) > first + 1 and not parts[-1].strip() else len(parts)
    return parts[:first], parts[first:last], parts[last:]


def _named(cell: str) -> bool:
    found = _FIRST_CELL.match(plain(cell))
    return bool(found and found["name"].strip())


def _first(cell: str, new: NewPhase, pad: str) -> str:
    found = _FIRST_CELL.match(plain(cell))
    if found is None:
        return padded(new.id, pad)
    name = f"{found['sign'] or ' '}{new.name}" if found["name"].strip() else found["sign"].strip()
    return f"{found['word'] or ''}{padded(new.id, pad)}{name}"


def _value(column: str, like: str, new: NewPhase, *, named: bool) -> str | None:
    """What a column says of a phase not yet begun; None where nothing is known."""
    if column in {"status", "state", "done"}:
        return like if status.of_words(plain(like)) == "not_started" and like.strip("-\u2014 ") else "Not started"
    if column in {"depends on", "dependencies", "depends", "blocked by", "needs"}:
        return needed(new, "") if new.depends_on else None
    if column.startswith("plan"):
        return "0/TBD" if "/" in like else None
    if column == "milestone":
        return like
    if column in {"goal", "description"} and named:
        return new.goal
    is_name = column in {"name", "phase name", "title", "phase", "description", "goal"}
    return new.name if is_name and not named else None


def _fit(cell: str, value: str, *, wide: bool) -> str:
    """The value with the neighbour's space on both sides, and as wide where the table's columns are aligned."""
    left = cell[: len(cell) - len(cell.lstrip())] if cell.strip() else " "
    right = " " if not cell or cell[-1:].isspace() else ""
    return f"{left}{value}{right}".ljust(len(cell) if wide and right else 0)
