"""Weighs what the planning files say on whether a phase is done: agreement decides, a conflict is a dispute."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from autopilot.domain.phase import (
    Claim,
    Evidence,
    EvidenceSource,
    Note,
    Phase,
    PhaseStatus,
    Roadmap,
    Severity,
    number_of,
)
from autopilot.planning.plan import folders, front_matter
from autopilot.planning.roadmap import ids as names
from autopilot.planning.roadmap import markdown
from autopilot.planning.roadmap.state_md import StatedPosition

Recorded = Callable[[Phase], bool | None]
"""Whether our own runs completed the phase; None where they know nothing of it."""

_OF_THE_PHASE: frozenset[EvidenceSource] = frozenset({"check-box", "table", "Status line", "heading", "list entry"})
_OF_PLANS: frozenset[EvidenceSource] = frozenset({"plan count", "plan ticks", "summaries"})
_CHOSEN: dict[Evidence, EvidenceSource] = {"box": "check-box", "table": "table", "summaries": "summaries"}
_OPEN: tuple[PhaseStatus, ...] = ("deferred", "in_progress")
_ENOUGH = 2
_TICKED = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<box>.?)\][ \t]+(?P<text>\S.*)$")
_PLAN = re.compile(r"[*_`\[]{0,4}(?:plan\s+)?\d[\w.]*-\w|\S*(?:PLAN|SUMMARY)\.md", re.IGNORECASE)
_NO_PLAN = re.compile(r"\bTBD\b|\bsuperseded\b|\bcancell?ed\b", re.IGNORECASE)
_COUNT = re.compile(r"\b(?P<done>\d{1,4}) ?/ ?(?P<all>\d{1,4})\b(?: plans?)? (?:complete|executed|done)", re.IGNORECASE)


def of_ticks(section: Sequence[tuple[int, str]], path: str) -> Claim | None:
    """What the check-boxes of a phase's plans say. `- [ ] TBD` is a placeholder and not a plan."""
    found = [(line, match) for line, text in section if (match := _TICKED.match(text))]
    plans = [(line, m["box"]) for line, m in found if _PLAN.match(m["text"]) and not _NO_PLAN.search(m["text"])]
    if not plans:
        return None
    ticked = sum(box.lower() in {"x", "\u2713", "\u2714", "\u2705"} for _, box in plans)
    return _share("plan ticks", (ticked, len(plans)), f"{path}:{plans[0][0]}", f"{ticked} of {len(plans)} plans ticked")


def of_count(text: str, line: int, path: str) -> Claim | None:
    """What a line such as `**Plans:** 4/4 plans complete` says."""
    found = _COUNT.search(text)
    if found is None or int(found["all"]) == 0:
        return None
    return _share("plan count", (int(found["done"]), int(found["all"])), f"{path}:{line}", found[0])


def of_folder(place: str, held: Sequence[str], phase: Phase, read: Callable[[str], bytes | None]) -> Iterator[Claim]:
    """
    What the files in the phase's folder say: a summary per plan, and the verification.

    A pass in a report that Autopilot wrote says nothing of the phase: the judge and the rater come after it.
    """
    plans = folders.plan_files(held, number_of(phase))
    if summaries := [plan.summary for plan in plans if plan.done]:
        says = f"{len(summaries)} of {len(plans)} plans have a SUMMARY.md"
        yield _share("summaries", (len(summaries), len(plans)), f"{place}/{summaries[0]}:1", says)
    if name := folders.own_file(held, number_of(phase), "VERIFICATION.md"):
        matter, _ = front_matter.read(markdown.decode(read(f"{place}/{name}") or b"").split("\n"))
        said = next(iter(matter.get("status", ())), "").lower()
        ours = f"{name.removesuffix('.md')}.json" in held
        if said in {"gaps_found", "failed"} or (said == "passed" and not ours):
            status: PhaseStatus = "completed" if said == "passed" else "in_progress"
            yield Claim(source="verification", status=status, file=f"{place}/{name}", line=1, says=f"status: {said}")


def of_state(roadmap: Roadmap, stated: StatedPosition, path: str) -> dict[str, Claim]:
    """The phases that STATE.md calls done. That it calls one open says nothing: it lags behind the roadmap."""
    current = [phase for phase in roadmap.phases if phase.milestone in {"", roadmap.active}]
    found: dict[str, Claim] = {}
    if stated.all_done and stated.total == len(current):
        says = f"{stated.total} of {stated.total} phases completed"
        found = {phase.id: _stated(path, stated.progress_line, says) for phase in current}
    for done in stated.done:
        phase = next((phase for phase in current if phase.id == done.id), None)
        if phase and names.alike(done.name, phase.name):
            found[phase.id] = _stated(path, done.line, done.says)
    return found


def no_record(_: Phase) -> None:
    """Implements `Recorded` where nothing has run yet."""


def weighed(roadmap: Roadmap, more: Mapping[str, Sequence[Claim]], recorded: Recorded = no_record) -> Roadmap:
    """
    The roadmap with further claims, and each phase's status by all of them.

    Where they contradict each other, our own record decides: runs write summaries and leave the user's boxes alone.
    """
    claims = {phase.id: (*roadmap.claims.get(phase.id, ()), *more.get(phase.id, ())) for phase in roadmap.phases}
    shipped = {one.label for one in roadmap.milestones if one.shipped}
    phases, notes = list[Phase](), list[Note]()
    for phase in roadmap.phases:
        held = claims[phase.id]
        status = status_of(held, phase.status, shipped=phase.milestone in shipped)
        if phase.id in roadmap.twofold:
            status = "disputed"
        elif note := _conflict(phase, held, status, roadmap.path):
            ended = recorded(phase)
            if ended is None:
                notes.append(note)
            elif status == "disputed":
                status = "completed" if ended else "not_started"
        phases.append(replace(phase, status=status))
    return replace(roadmap, phases=tuple(phases), claims=claims, notes=(*roadmap.notes, *notes))


def status_of(claims: Sequence[Claim], otherwise: PhaseStatus, *, shipped: bool) -> PhaseStatus:
    """
    Every source that speaks has to agree; a phase that only STATE.md calls done is not done. A verification alone says
    nothing: reviewers after it may have refused the work.

    Box and table, or two others that speak of the phase itself, outweigh what its plans say; one of them outweighs
    plans of which none is ticked. In a milestone that has shipped, one source that calls the phase done is enough.
    """
    aside = next((claim.status for claim in claims if claim.status in {"superseded", "cancelled"}), None)
    if aside:
        return aside
    done = [claim for claim in claims if claim.done]
    if {claim.source for claim in done} == {"verification"}:
        done = []
    against = [claim for claim in claims if not claim.done and not _outweighed(claim, done)]
    if done and not against:
        return "disputed" if all(claim.source == "STATE.md" for claim in done) else "completed"
    if done:
        return "completed" if shipped and any(claim.source != "STATE.md" for claim in done) else "disputed"
    open_as = {claim.status for claim in claims}
    return next((status for status in _OPEN if status in open_as), otherwise)


def settled(roadmap: Roadmap, choice: Evidence) -> Roadmap:
    """The roadmap with every dispute decided by one source. A phase that it does not call done is open."""
    source = _CHOSEN[choice]
    return decided(
        roadmap,
        {
            phase.id: any(claim.done and claim.source == source for claim in roadmap.claims.get(phase.id, ()))
            for phase in disputed(roadmap)
        },
    )


def decided(roadmap: Roadmap, done: Mapping[str, bool]) -> Roadmap:
    """The roadmap with the named phases done or open."""
    return replace(
        roadmap,
        phases=tuple(
            replace(phase, status="completed" if done[phase.id] else "not_started") if phase.id in done else phase
            for phase in roadmap.phases
        ),
    )


def disputed(roadmap: Roadmap) -> tuple[Phase, ...]:
    """The phases that a person or `--evidence` can settle. One that is written twice has to be corrected."""
    return tuple(p for p in roadmap.phases if p.status == "disputed" and p.id not in roadmap.twofold)


def _outweighed(claim: Claim, done: Sequence[Claim]) -> bool:
    if claim.source not in _OF_PLANS:
        return False
    speaking = {one.source for one in done if one.source in _OF_THE_PHASE}
    none_kept = claim.source == "plan ticks" and claim.status == "not_started"
    return len(speaking) >= (1 if none_kept else _ENOUGH)


def _conflict(phase: Phase, claims: Sequence[Claim], status: PhaseStatus, path: str) -> Note | None:
    if len({claim.done for claim in claims}) < _ENOUGH and status != "disputed":
        return None
    words = ", ".join(_said(claim, path) for claim in claims)
    counts = "a run stops and asks" if status == "disputed" else f"it counts as {status.replace('_', ' ')}"
    severity: Severity = "error" if status == "disputed" else "warning"
    return Note(file=path, line=phase.line, what=f"phase {phase.id}: {words}; {counts}", severity=severity)


def _said(claim: Claim, path: str) -> str:
    place = f"line {claim.line}" if claim.file == path else f"{claim.file}:{claim.line}"
    spoken = f"{claim.source} says {claim.status.replace('_', ' ')}"
    return f"{spoken if claim.source in _OF_THE_PHASE else claim.says} ({place})"


def _share(source: EvidenceSource, counted: tuple[int, int], place: str, says: str) -> Claim:
    done, total = counted
    status: PhaseStatus = "completed" if done >= total else ("in_progress" if done else "not_started")
    file, _, line = place.rpartition(":")
    return Claim(source=source, status=status, file=file, line=int(line), says=says)


def _stated(path: str, line: int, says: str) -> Claim:
    return Claim(source="STATE.md", status="completed", file=path, line=line, says=says)
