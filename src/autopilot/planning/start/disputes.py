"""Settles whether phases are done on which the planning files disagree, before anything is spent on them."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from autopilot.domain.errors import EvidenceDisputed, RoadmapInvalid
from autopilot.domain.people import Answering, Asked, meant
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.request import RunRequest
from autopilot.domain.rework import redoes
from autopilot.planning.roadmap import completion_evidence as evidence
from autopilot.planning.roadmap import ids, selection

DONE, OPEN = "done: do not run it", "open: run it"

Pick = Callable[[Roadmap], Sequence[Phase]]
"""The phases that a request means in a roadmap."""


def settled(
    request: RunRequest, roadmap: Roadmap, recorded: AbstractSet[str], pick: Pick, person: Answering
) -> Roadmap:
    """
    The roadmap without disputes on what would run: by `--evidence`, else by what a person answers.

    `recorded` are the phases of which our own runs know how they ended. Raises `EvidenceDisputed` where nobody answers.
    """
    if request.evidence is not None:
        roadmap = evidence.settled(roadmap, request.evidence)
    while left := relevant(request, roadmap, recorded, pick):
        if twofold := [phase for phase in left if phase.id in roadmap.twofold]:
            raise written_twice(twofold, roadmap)
        answers = dict(_answers(left, roadmap, person)) if person.there else {}
        if not answers:
            raise conflict(left, roadmap, request.wish)
        roadmap = evidence.decided(roadmap, answers)
    return roadmap


def relevant(request: RunRequest, roadmap: Roadmap, recorded: AbstractSet[str], pick: Pick) -> list[Phase]:
    """The disputed phases that would run or that others wait for. A phase named on its own is meant to run."""
    if redoes(request.modes):
        return []
    wanted = {phase.id for phase in pick(roadmap)}
    needed = _needed(wanted, roadmap)
    named = selection.spelled_out(request)
    return [
        phase
        for phase in roadmap.phases
        if phase.status == "disputed"
        and phase.id in wanted | needed
        and phase.id not in recorded
        and (phase.id not in named or phase.id in roadmap.twofold)
    ]


def conflict(phases: Sequence[Phase], roadmap: Roadmap, wish: str) -> EvidenceDisputed:
    lines = [f"  {claim.told}" for phase in phases for claim in roadmap.claims.get(phase.id, ())]
    which = ", ".join(phase.id for phase in phases)
    return EvidenceDisputed(
        f"The planning files disagree on whether phase {which} is done.",
        why="Running finished work again costs money, and skipping open work would call it done.\n" + "\n".join(lines),
        do=f"Correct these lines, or say what counts: autopilot {wish} --evidence box (or table, summaries).",
    )


def written_twice(phases: Sequence[Phase], roadmap: Roadmap) -> RoadmapInvalid:
    which = [phase.id for phase in phases]
    told = [
        note for note in roadmap.notes if note.severity == "error" and any(f"phase {i} " in note.what for i in which)
    ]
    return RoadmapInvalid(
        f"Phase {', '.join(which)} is in {roadmap.path} twice, with different contents.",
        why="Autopilot cannot tell which one you mean. " + "; ".join(f"{n.file}:{n.line}: {n.what}" for n in told),
        do="Give one of them another number, or put each below the heading of its milestone.",
    )


def _answers(phases: Sequence[Phase], roadmap: Roadmap, person: Answering) -> Iterator[tuple[str, bool]]:
    for phase in phases:
        lines = "\n".join(f"  {claim.told}" for claim in roadmap.claims.get(phase.id, ()))
        text = f"Is phase {phase.id} ({phase.name}) done? The planning files disagree:\n{lines}"
        asked = Asked(key=f"evidence-{phase.id}", phase=phase.id, text=text, options=(DONE, OPEN))
        said = meant(asked, person.ask(asked) or "").strip().lower()
        if said and said[0] in "do":
            yield phase.id, said[0] == "d"


def _needed(wanted: AbstractSet[str], roadmap: Roadmap) -> set[str]:
    """What the wanted phases wait for, directly or through others."""
    needs = {phase.id: phase.depends_on for phase in roadmap.phases}
    found, ahead = set[str](), [ids.normalise(phase_id) for phase_id in wanted]
    while ahead:
        new = [need for need in needs.get(ahead.pop(), ()) if need not in found]
        found.update(new)
        ahead += new
    return found
