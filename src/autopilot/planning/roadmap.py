"""ROADMAP.md to phases: headings, list entries and tables joined on the phase id, oddities told as notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.phase import Note, Phase, PhaseStatus, Roadmap
from autopilot.planning import dependencies, fields, markdown, status
from autopilot.planning.collect import Found, collect
from autopilot.planning.criteria import criterion
from autopilot.planning.dependencies import Known
from autopilot.planning.graph import dependency_notes
from autopilot.planning.kinds import work_kind
from autopilot.planning.markdown import Document
from autopilot.planning.mentions import Mention

_BACKLOG = "999"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A phase as its mentions give it, before its dependencies are looked up among the others."""

    id: str
    best: Mention
    mentions: tuple[Mention, ...]
    fields: fields.Fields

    def first(self, kind: str) -> Mention | None:
        return next((mention for mention in self.mentions if mention.kind == kind), None)


def read(text: str | bytes, path: str) -> Roadmap:
    """Raises `RoadmapInvalid` when no phase is found: an empty roadmap is never a finished one."""
    document = markdown.read(text)
    found = collect(document)
    groups: dict[str, list[Mention]] = {}
    for mention in found.mentions:
        groups.setdefault(mention.id, []).append(mention)
    if not groups:
        raise _no_phases(path, found, document)
    drafts = [_draft(group, found, document) for group in groups.values()]
    known = Known(tuple(groups))
    phases = tuple(_phase(draft, known) for draft in drafts)
    oddities = [*document.oddities, *_unread(found), *(note for draft in drafts for note in _draft_notes(draft, known))]
    notes = [Note(file=path, line=line, what=what) for line, what in oddities]
    notes += dependency_notes(phases, path)
    return Roadmap(path=path, phases=phases, notes=tuple(sorted(notes, key=lambda note: note.line)))


def _draft(group: Sequence[Mention], found: Found, document: Document) -> _Draft:
    """The heading speaks first, then the list entry, then a table row."""
    best = next((m for kind in ("heading", "entry", "row") for m in group if m.kind == kind), group[0])
    body = found.bodies.get(best.line, range(0))
    section = [(line, document.lines[line - 1]) for line in body]
    if best.inline_fields:
        section.insert(0, (best.line, best.inline_fields))
    return _Draft(id=best.id, best=best, mentions=tuple(group), fields=fields.read(section))


def _phase(draft: _Draft, known: Known) -> Phase:
    entry, row = draft.first("entry"), draft.first("row")
    needs = draft.fields.needs if draft.fields.needs is not None else (row.needs if row else None)
    wanted = dependencies.needs(needs or "").resolve(known, draft.id)
    description = entry.description if entry else ""
    return Phase(
        id=draft.id,
        name=next((m.name for m in (draft.best, *draft.mentions) if m.name), f"Phase {draft.id}"),
        goal=draft.fields.goal or description,
        status=_status(draft),
        depends_on=tuple(need for need in wanted if need != draft.id),
        requirements=draft.fields.requirements,
        criteria=tuple(
            criterion(text, f"SC-{number}", "roadmap", line)
            for number, (line, text) in enumerate(draft.fields.criteria, start=1)
        ),
        description=description,
        line=draft.best.line,
        kind=work_kind(draft.fields.kind),
    )


def _status(draft: _Draft) -> PhaseStatus:
    """The check-box decides whether it is completed; what else is said may only make an open one more precise."""
    said = dict(_said(draft))
    box = said.get("check-box")
    others = [means for source, means in said.items() if source != "check-box"]
    if box is None:
        return others[0] if others else ("deferred" if _is_backlog(draft) else "not_started")
    if box == "not_started":
        return next((means for means in others if means in {"in_progress", "deferred"}), _open(draft))
    return box


def _open(draft: _Draft) -> PhaseStatus:
    return "deferred" if _is_backlog(draft) else "not_started"


def _is_backlog(draft: _Draft) -> bool:
    """GSD parks ideas as phases 999.x."""
    return draft.id.split(".")[0] == _BACKLOG


def _said(draft: _Draft) -> Iterator[tuple[str, PhaseStatus]]:
    """Every word on the phase's status, the one that counts most first."""
    entry, row, title = draft.first("entry"), draft.first("row"), draft.first("heading")
    if entry and entry.boxed and entry.status:
        yield "check-box", entry.status
    if draft.fields.status is not None and (means := status.of_words(draft.fields.status)):
        yield "Status line", means
    if title and title.status:
        yield "heading", title.status
    if entry and not entry.boxed and entry.status:
        yield "list entry", entry.status
    if row and row.status:
        yield "table", row.status


def _draft_notes(draft: _Draft, known: Known) -> Iterator[tuple[int, str]]:
    yield from _disagreement(draft)
    yield from _duplicates(draft)
    line = draft.fields.needs_line or draft.best.line
    wanted = dependencies.needs(draft.fields.needs or "")
    if not wanted.understood:
        yield line, f"phase {draft.id}: cannot tell which phase it depends on: {(draft.fields.needs or '')[:80]!r}"
    if draft.id in wanted.resolve(known, draft.id):
        yield line, f"phase {draft.id} depends on itself: ignored"
    if draft.best.kind == "heading" and fields.is_stub(draft.fields.goal):
        yield draft.best.line, f"phase {draft.id} has no goal yet"


def _disagreement(draft: _Draft) -> Iterator[tuple[int, str]]:
    said = list(_said(draft))
    done = {means == "completed" for _, means in said}
    if len(done) > 1:
        words = ", ".join(f"{source} says {means.replace('_', ' ')}" for source, means in said)
        counted = _status(draft).replace("_", " ")
        yield draft.best.line, f"phase {draft.id}: {words}; it counts as {counted}"


def _duplicates(draft: _Draft) -> Iterator[tuple[int, str]]:
    for kind in ("heading", "entry"):
        same_kind = [m for m in draft.mentions if m.kind == kind and not m.weak]
        for again in same_kind[1:]:
            first = same_kind[0]
            if kind == "heading" or again.name != first.name:
                yield again.line, f"phase {draft.id} is written again ({again.name!r}); line {first.line} counts"


def _unread(found: Found) -> Iterator[tuple[int, str]]:
    for line, text in found.unread:
        yield line, f"this looks like a phase, but it cannot be read as one: {text[:80]!r}"


def _no_phases(path: str, found: Found, document: Document) -> RoadmapInvalid:
    why = "Without phases there is nothing to run, and an empty roadmap must not look like a finished one."
    hints = [*_unread(found), *document.oddities]
    if hints:
        why += " " + "; ".join(f"{path}:{line}: {what}" for line, what in hints[:3])
    return RoadmapInvalid(
        f"{path} has no phases.",
        why=why,
        do="Write each phase as a heading `### Phase 1: Name` with a line `**Goal**: ...` below it.",
    )
