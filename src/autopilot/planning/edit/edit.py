"""Put a phase into a roadmap or take one out, and leave every other byte of it as it is."""

from collections.abc import Iterator, Sequence

from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.planning.edit import style
from autopilot.planning.edit.lines import Change
from autopilot.planning.edit.places import Link, Survey
from autopilot.planning.edit.style import NewPhase
from autopilot.planning.roadmap import ids
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.roadmap.markdown import plain
from autopilot.planning.roadmap.mentions import Kind, Mention


def add(content: bytes, path: str, new: NewPhase) -> bytes:
    """The roadmap with the phase behind its last one. Raises `RoadmapInvalid` where the result would read wrong."""
    before = roadmap.read(content, path)
    family = _family(before, last_number(before))
    survey = Survey(content)
    changes = [*_written(survey, family, new, _shown(survey, family)), *_ordered(survey, family, new, at_end=True)]
    return _checked(survey, survey.text.changed(changes), before, new)


def insert(content: bytes, path: str, new: NewPhase) -> bytes:
    """The roadmap with the phase behind the last phase of the same whole number."""
    before = roadmap.read(content, path)
    family = _family(before, whole_number(new.id))
    survey = Survey(content)
    kinds = [kind for kind in _KINDS if _anchor(survey, family, kind)]
    changes = [*_written(survey, family, new, kinds), *_ordered(survey, family, new, at_end=False)]
    return _checked(survey, survey.text.changed(changes), before, new)


def remove(content: bytes, path: str, phase_id: str) -> bytes:
    """The roadmap without the phase: list entry, section, table rows, place in the order. Nothing is renumbered."""
    before = roadmap.read(content, path)
    survey = Survey(content)
    _refuse_repeated(survey, path, phase_id)
    changes = [*_taken_out(survey, phase_id), *_unordered(survey, phase_id)]
    after = survey.text.changed(changes)
    if len(before.phases) > 1:
        _compare([p for p in before.phases if p.id != phase_id], roadmap.read(after, path), phase_id)
    return after


def last_number(phases: Roadmap) -> str:
    """The highest whole number in use, with its prefix where all have one. Parked phases (999.x) do not count."""
    plain = [p.id for p in phases.phases if not ids.prefix(p.id) and whole_number(p.id) != _PARKED]
    prefixed = [p.id for p in phases.phases if ids.prefix(p.id) == ids.prefix(phases.phases[-1].id)]
    return whole_number(max(plain or prefixed, key=ids.sort_key))


def whole_number(phase_id: str) -> str:
    """`2` of `2.13.1` and of `2A`, `CK-1` of `CK-01.2`."""
    return ids.normalise(phase_id).partition(".")[0].rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


_PARKED = "999"
_LEVEL = 3
_KINDS: tuple[Kind, ...] = ("heading", "entry", "row")


def _family(phases: Roadmap, number: str) -> list[str]:
    """The phases of one whole number, the last first."""
    same = [phase.id for phase in phases.phases if whole_number(phase.id) == number]
    return sorted(same, key=ids.sort_key, reverse=True)


def _anchor(survey: Survey, family: Sequence[str], kind: Kind) -> Mention | None:
    """The neighbour to follow: the last phase of the family that stands in such a place."""
    for phase_id in family:
        if found := survey.of(phase_id, kind):
            return found[-1] if kind == "row" else found[0]
    return None


def _shown(survey: Survey, family: Sequence[str]) -> list[Kind]:
    """Where the neighbours stand; lists and tables of shipped work are left alone when there is another place."""
    anchors = {kind: anchor for kind in _KINDS if (anchor := _anchor(survey, family, kind))}
    kept = [kind for kind, at in anchors.items() if kind == "heading" or not survey.folded(at.line)]
    return kept or list(anchors)


def _written(survey: Survey, family: Sequence[str], new: NewPhase, kinds: Sequence[Kind]) -> Iterator[Change]:
    for kind in kinds:
        anchor = _anchor(survey, family, kind)
        assert anchor is not None
        pad = style.raw_id(survey.raw(anchor))
        if kind == "heading":
            yield _section(survey, anchor, new, pad)
        elif kind == "entry":
            yield _entry(survey, anchor, new, pad, alone="heading" not in kinds)
        else:
            line = style.row(survey.raw(anchor), survey.header(anchor), new, pad)
            yield Change(line=anchor.line + 1, lines=(line,))
            if len(kinds) == 1 and not anchor.weak:
                yield _own_section(survey, anchor, new, pad)


def _section(survey: Survey, anchor: Mention, new: NewPhase, pad: str) -> Change:
    near = survey.section(anchor)
    shape = style.labels(survey.lines[near.start : near.stop - 1])
    block = [
        style.heading(survey.raw(anchor), near.level, new, pad),
        *style.fields(shape, new, pad),
    ]
    place, tail = near.stop, near.tail
    if not new.marker and survey.folded(anchor.line):
        place = survey.next_heading(anchor.line, near.level)
        tail = survey.tail(near.stop, place)
    return _block(survey, place, block, tail)


def _own_section(survey: Survey, row: Mention, new: NewPhase, pad: str) -> Change:
    """A section for a phase whose neighbours stand in a table only: a row has no room for a goal."""
    place = survey.next_heading(row.line, _LEVEL)
    place = survey.footer(row.line, place) or place
    block = [style.heading("", _LEVEL, new, pad), *style.fields(style.Labels(), new, pad)]
    return _block(survey, place, block, survey.tail(row.line + 1, place))


def _block(survey: Survey, place: int, block: Sequence[str], tail: Sequence[str]) -> Change:
    """The lines of a section; at the end of a file without a blank line there one comes first."""
    lead = [""] if not tail and place == survey.text.stop else []
    # A rule right below text would be read as part of it.
    gap = [""] if tail and tail[0].strip() else []
    return Change(line=place, lines=(*lead, *block, *gap, *tail))


def _entry(survey: Survey, anchor: Mention, new: NewPhase, pad: str, *, alone: bool) -> Change:
    raw = survey.raw(anchor)
    told = new.goal if anchor.description or alone else None
    lines = [style.entry(raw, new, pad, told)]
    if alone:
        lines += style.nested(style.indent_of(raw), new, pad)
    if survey.spread(anchor):
        lines.insert(0, "")
    return Change(line=survey.item(anchor).stop, lines=tuple(lines))


def _ordered(survey: Survey, family: Sequence[str], new: NewPhase, *, at_end: bool) -> Iterator[Change]:
    """The line of the order of execution: behind the last dependency, or behind the last of the family."""
    links = list(survey.links())
    if any(link.id == new.id for link in links):
        return
    near = next((link for one in family for link in links if link.id == one), None)
    if near is None:
        return
    same = [link for link in links if link.line == near.line]
    wanted = [link for link in same if link.id in new.depends_on]
    link = (wanted[-1] if wanted else same[-1]) if at_end else near
    line = survey.lines[link.line - 1]
    grown = f"{line[: link.end]}{link.arrow}{style.padded(new.id, link.raw)}{line[link.end :]}"
    yield Change(line=link.line, drop=1, lines=(grown,))


def _unordered(survey: Survey, phase_id: str) -> Iterator[Change]:
    by_line: dict[int, list[Link]] = {}
    for link in survey.links():
        if link.id == phase_id:
            by_line.setdefault(link.line, []).append(link)
    for at, links in by_line.items():
        line = survey.lines[at - 1]
        for link in reversed(links):
            start, end = (link.start - len(link.before), link.end) if link.before else (link.start, link.end)
            line = line[:start] + line[end + (0 if link.before else len(link.behind)) :]
        yield Change(line=at, drop=1, lines=(line,))


def _taken_out(survey: Survey, phase_id: str) -> Iterator[Change]:
    for title in survey.of(phase_id, "heading"):
        section = survey.section(title)
        start = section.start
        at_end = section.stop == survey.text.stop and not section.tail
        if at_end and start > 1 and not survey.lines[start - 2].strip():
            start -= 1
        yield Change(line=start, drop=section.stop - start)
    for entry in survey.of(phase_id, "entry"):
        item = survey.item(entry)
        start = item.start - (1 if survey.loose(entry) else 0)
        yield Change(line=start, drop=item.stop - start)
    for row in survey.of(phase_id, "row"):
        yield Change(line=row.line, drop=1)


def _refuse_repeated(survey: Survey, path: str, phase_id: str) -> None:
    titles = survey.of(phase_id, "heading")
    names = {entry.name for entry in survey.of(phase_id, "entry")}
    if len(titles) > 1 or len(names) > 1:
        lines = ", ".join(str(m.line) for m in survey.found.mentions if m.id == phase_id)
        raise RoadmapInvalid(
            f"Phase {phase_id} is written more than once in {path} (lines {lines}).",
            why="Which of them to remove cannot be told, and removing all could lose a phase you meant to keep.",
            do="Give them numbers of their own, or remove the one you mean by hand.",
        )


def _checked(survey: Survey, after: bytes, before: Roadmap, new: NewPhase) -> bytes:
    """Reads back as meant, changes no other phase, and can be taken out again to the byte."""
    read = roadmap.read(after, before.path)
    written = next((phase for phase in read.phases if phase.id == new.id), None)
    if written is None or not _as_meant(written, new):
        raise _unsafe(before.path, f"phase {new.id} would not be read back as {new.name!r}")
    _compare(before.phases, read, new.id)
    # An order that names the number already loses it with the phase.
    foretold = any(link.id == new.id for link in survey.links())
    if not foretold and remove(after, before.path, new.id) != survey.text.changed(()):
        raise _unsafe(before.path, f"phase {new.id} could not be taken out again cleanly")
    return after


def _as_meant(written: Phase, new: NewPhase) -> bool:
    """A table without room for more holds the name alone."""
    if (written.name, written.status) != (new.name, "not_started"):
        return False
    told = (written.goal, written.depends_on, tuple(c.text for c in written.criteria))
    return not written.goal or told == (plain(new.goal), new.depends_on, new.criteria)


def _compare(wanted: Sequence[Phase], read: Roadmap, edited: str) -> None:
    """Every other phase reads as it did. One that needs a range or all before it may gain or lose the edited one."""
    others = {phase.id: _essence(phase, edited) for phase in read.phases if phase.id != edited}
    for phase in wanted:
        if others.pop(phase.id, None) != _essence(phase, edited):
            raise _unsafe(read.path, f"phase {phase.id} would read differently")
    if others:
        raise _unsafe(read.path, f"phase {next(iter(others))} would appear")


def _essence(phase: Phase, edited: str) -> tuple[object, ...]:
    needs = frozenset(phase.depends_on) - {edited}
    criteria = tuple((c.text, c.command) for c in phase.criteria)
    return (phase.id, phase.name, phase.goal, phase.status, needs, phase.requirements, criteria, phase.description)


def _unsafe(path: str, what: str) -> RoadmapInvalid:
    return RoadmapInvalid(
        f"{path} cannot be edited safely: {what}.",
        why="The file is written in a way that Autopilot reads but cannot extend. Nothing was changed.",
        do="Make the change by hand, then look at it with: autopilot phases check",
    )
