"""Reads ROADMAP.md into phases: joins headings, list entries and tables on milestone and number."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.phase import NEVER_RUN, Claim, EvidenceSource, Note, Phase, Roadmap
from autopilot.planning.plan.criteria import criterion
from autopilot.planning.roadmap import completion_evidence as evidence
from autopilot.planning.roadmap import depends_on as dependencies
from autopilot.planning.roadmap import fields, ids, markdown, milestones
from autopilot.planning.roadmap import group_mentions as grouping
from autopilot.planning.roadmap import ids as names
from autopilot.planning.roadmap import phase_status as status
from autopilot.planning.roadmap.collect import Found, collect
from autopilot.planning.roadmap.graph import aside_notes, dependency_notes
from autopilot.planning.roadmap.group_mentions import Group, Keyed
from autopilot.planning.roadmap.markdown import Document
from autopilot.planning.roadmap.mentions import Mention
from autopilot.planning.roadmap.milestones import Milestones
from autopilot.planning.roadmap.phase_type import work_kind
from autopilot.planning.roadmap.state_md import StatedPosition

_BACKLOG = "999"
"""GSD parks ideas as phases 999.x."""
_OPEN_BOX = re.compile(r"[ \t]*[-*+][ \t]+\[ ?\][ \t]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A phase as its mentions give it, before its dependencies are looked up among the others."""

    group: Group
    best: Mention
    fields: fields.Fields

    @property
    def id(self) -> str:
        return self.group.id

    @property
    def number(self) -> str:
        return self.group.number

    @property
    def mentions(self) -> tuple[Mention, ...]:
        return self.group.mentions

    @property
    def aside(self) -> bool:
        return any(mention.status in NEVER_RUN for mention in self.mentions)

    def first(self, kind: str) -> Mention | None:
        return next((mention for mention in self.mentions if mention.kind == kind), None)


def read(
    text: str | bytes,
    path: str,
    stated: StatedPosition | None = None,
    around: "Around | None" = None,
    recorded: evidence.Recorded = evidence.no_record,
) -> Roadmap:
    """
    Raises `RoadmapInvalid` when no phase is found: an empty roadmap is never a finished one.

    `stated` is what STATE.md says, which names the active milestone; `around` tells what other files say of phases,
    `recorded` what our own runs do.
    """
    document = markdown.read(text)
    found = collect(document)
    if not found.mentions:
        raise _no_phases(path, found, document)
    known = milestones.read(document)
    keyed = grouping.grouped(found.mentions, known, stated.milestone if stated else "")
    drafts = [_draft(group, found, document) for group in keyed.groups]
    phases = _superseded(_phases(drafts, keyed))
    notes = [Note(file=path, line=line, what=what) for line, what in (*document.oddities, *_unread(found))]
    notes += [note for draft in drafts for note in _draft_notes(draft, keyed, path)]
    notes += [*_empty_milestones(document, known, keyed, path), *dependency_notes(phases, path)]
    read_so_far = Roadmap(
        path=path,
        phases=phases,
        notes=tuple(notes),
        milestones=tuple(known.known.values()),
        active=keyed.active_label,
        claims={draft.id: tuple(_claims(draft, document, found, path)) for draft in drafts},
        twofold=frozenset(draft.id for draft in drafts if any(_twofold(draft))),
    )
    weighed = evidence.weighed(read_so_far, around(read_so_far) if around else {}, recorded)
    told = sorted([*weighed.notes, *aside_notes(weighed.phases, path)], key=lambda note: note.line)
    return replace(weighed, notes=tuple(told))


Around = Callable[[Roadmap], Mapping[str, Sequence[Claim]]]
"""What files next to the roadmap say of its phases, by phase id."""


def _draft(group: Group, found: Found, document: Document) -> _Draft:
    """The heading speaks first, then the list entry, then a table row."""
    best = next(
        (m for kind in ("heading", "entry", "row") for m in group.mentions if m.kind == kind), group.mentions[0]
    )
    body = found.bodies.get(best.line, range(0))
    section = [(line, document.lines[line - 1]) for line in body]
    if best.inline_fields:
        section.insert(0, (best.line, best.inline_fields))
    return _Draft(group=group, best=best, fields=fields.read(section))


def _phases(drafts: Sequence[_Draft], keyed: Keyed) -> tuple[Phase, ...]:
    """In the order of their numbers, the active milestone first (DESIGN 11.7): 3.6 comes after 3 and before 4."""
    places = {prefix: at for at, prefix in enumerate(dict.fromkeys(ids.prefix(draft.id) for draft in drafts))}

    def place(draft: _Draft) -> tuple[bool, int, ids.SortKey]:
        elsewhere = draft.id != draft.number
        return elsewhere, places[ids.prefix(draft.id)], ids.sort_key(draft.id)

    return tuple(_phase(draft, keyed) for draft in sorted(drafts, key=place))


def _phase(draft: _Draft, keyed: Keyed) -> Phase:
    entry = draft.first("entry")
    description = entry.description if entry else ""
    return Phase(
        id=draft.id,
        name=next((m.name for m in (draft.best, *draft.mentions) if m.name), f"Phase {draft.number}"),
        goal=draft.fields.goal or description,
        status="deferred" if draft.number.split(".")[0] == _BACKLOG else "not_started",
        depends_on=tuple(need for need in _wanted(draft, keyed) if need != draft.id),
        requirements=draft.fields.requirements,
        criteria=tuple(
            criterion(text, f"SC-{number}", "roadmap", line)
            for number, (line, text) in enumerate(draft.fields.criteria, start=1)
        ),
        description=description,
        line=draft.best.line,
        kind=work_kind(draft.fields.kind),
        milestone=draft.group.milestone,
        successor=keyed.find(next((m.successor for m in draft.mentions if m.successor), ""), draft.group),
    )


def _wanted(draft: _Draft, keyed: Keyed) -> tuple[str, ...]:
    row = draft.first("row")
    needs = draft.fields.needs if draft.fields.needs is not None else (row.needs if row else None)
    return keyed.resolve(dependencies.needs(needs or ""), draft.group)


def _superseded(phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """What depends on a superseded phase depends on its successor."""
    instead = {phase.id: phase.successor for phase in phases if phase.successor}

    def followed(need: str) -> str:
        seen = {need}
        while (after := instead.get(need)) and after not in seen:
            seen.add(need := after)
        return need

    return tuple(
        replace(
            phase, depends_on=tuple(dict.fromkeys(n for need in phase.depends_on if (n := followed(need)) != phase.id))
        )
        for phase in phases
    )


def _claims(draft: _Draft, document: Document, found: Found, path: str) -> Iterator[Claim]:
    """Every place that says how far the phase is."""
    for mention in draft.mentions:
        source = _source(mention)
        if mention.status and source:
            yield Claim(source=source, status=mention.status, file=path, line=mention.line, says=mention.words[:80])
    said, line = draft.fields.status, draft.fields.status_line
    if said is not None and (means := status.of_words(said)):
        yield Claim(source="Status line", status=means, file=path, line=line, says=said[:80])
    bodies = [found.bodies[m.line] for m in draft.mentions if m.line in found.bodies]
    section = [(line, document.lines[line - 1]) for line in sorted({line for body in bodies for line in body})]
    yield from filter(
        None, (evidence.of_count(draft.fields.plans, draft.fields.plans_line, path), evidence.of_ticks(section, path))
    )


def _source(mention: Mention) -> EvidenceSource | None:
    match mention.kind:
        case "heading":
            return "heading"
        case "row":
            return "table"
        case "entry":
            return "check-box" if mention.boxed else "list entry"


def _draft_notes(draft: _Draft, keyed: Keyed, path: str) -> Iterator[Note]:
    yield from (Note(file=path, line=line, what=what, severity="error") for line, what in _twofold(draft))
    line = draft.fields.needs_line or draft.best.line
    wanted = dependencies.needs(draft.fields.needs or "")
    if not wanted.understood:
        what = f"phase {draft.id}: cannot tell which phase it depends on: {(draft.fields.needs or '')[:80]!r}"
        yield Note(file=path, line=line, what=what)
    if draft.id in keyed.resolve(wanted, draft.group):
        yield Note(file=path, line=line, what=f"phase {draft.id} depends on itself: ignored")
    if draft.best.kind == "heading" and fields.is_stub(draft.fields.goal) and not draft.aside:
        yield Note(file=path, line=draft.best.line, what=f"phase {draft.id} has no goal yet")


def _twofold(draft: _Draft) -> Iterator[tuple[int, str]]:
    """The same phase with two names or two states: never taken as done, since one of them may be another phase."""
    strong = [mention for mention in draft.mentions if not mention.weak]
    for kind in ("heading", "entry", "row"):
        first, *others = [mention for mention in strong if mention.kind == kind] or [draft.best]
        for again in others:
            if (again.status == "completed") != (first.status == "completed") and again.status and first.status:
                yield (
                    again.line,
                    (
                        f"phase {draft.id} has two states: {first.words[:40]!r} in line {first.line}, "
                        f"{again.words[:40]!r} in line {again.line}"
                    ),
                )
            elif kind == "heading" and names.alike(again.name, first.name):
                yield (
                    again.line,
                    f"phase {draft.id} is written again ({again.name!r}); line {first.line} has it already",
                )
    for mention in strong:
        if not names.alike(mention.name, draft.best.name):
            yield (
                mention.line,
                (
                    f"phase {draft.id} has two names: {draft.best.name!r} in line {draft.best.line}, "
                    f"{mention.name!r} in line {mention.line}"
                ),
            )


def _empty_milestones(document: Document, known: Milestones, keyed: Keyed, path: str) -> Iterator[Note]:
    """A milestone that has open check-boxes but no phase that can be read."""
    held = {group.key for group in keyed.groups}
    for section in known.sections:
        boxes = (n for n in range(section.start, section.stop) if _OPEN_BOX.match(document.lines[n - 1]))
        if section.key not in held and not known.shipped(section.key) and (line := next(boxes, 0)):
            label = known.known[section.key].label
            what = f"milestone {label} has check-boxes but no phase: write each as `- [ ] **Phase 1: Name**`"
            yield Note(file=path, line=line, what=what)


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
