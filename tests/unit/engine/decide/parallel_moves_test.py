"""What may happen now in a run with several phases open: a few cases, and whole runs played with any luck."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.attempt import Brief, PassEvidence, PhaseOutcome, SplitDetails, SubPhase
from autopilot.domain.events import (
    Entry,
    Event,
    MergeRefused,
    PhaseFinished,
    PhaseLanded,
    PhaseMerged,
    PhaseSkipped,
    PhaseStarted,
    RunEvent,
)
from autopilot.domain.phase import Phase
from autopilot.domain.settings import Modes
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.engine.decide.next_move import Continue, End, Land, Merge, Skip, Spawn
from autopilot.engine.decide.parallel_moves import Moves, next_moves
from autopilot.engine.decide.split_moves import Gather
from autopilot.history.record import RunRecord
from support.records import BASE, brief, phase, started

LOOSE = (phase("1"), phase("2"), phase("3"))
FAILED = Stop(because="no")
UNKNOWN: dict[str, None] = {}


def run_of(phases: Iterable[Phase], *events: Event, jobs: int = 3, **modes: Any) -> RunRecord:
    told = (started(*phases, modes=Modes(jobs=jobs, **modes)), *events)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(told)))


def opened(name: str, base: str = BASE, **more: Any) -> PhaseStarted:
    return PhaseStarted(brief=brief(phase=phase(name), base=base, **more))


def ended(name: str, verdict: Verdict, *files: str, **more: Any) -> PhaseFinished:
    status = {Advance: "completed", Retry: "completed", Stop: "failed", AskHuman: "needs_human_verification"}
    fields: dict[str, Any] = {"status": status[type(verdict)], "reason": "why", "commit": f"work{name}", **more}
    evidence = PassEvidence(files_checked=files)
    return PhaseFinished(cycle=0, outcome=PhaseOutcome(phase=name, evidence=evidence, **fields), verdict=verdict)


def joined(name: str, onto: str = BASE) -> PhaseMerged:
    return PhaseMerged(phase=name, base=BASE, onto=onto, commit=f"line{name}")


def landed(name: str) -> PhaseLanded:
    return PhaseLanded(phase=name, commit=f"landed{name}", landed=True)


def details(name: str, **after: tuple[str, ...]) -> SplitDetails:
    parts = tuple(SubPhase(sub_phase_id=f"{name}{x}", name=x, scope=x, after=after.get(x, ())) for x in "ab")
    return SplitDetails(reason="big", recommended_sub_phases=parts, total_sub_phases=2)


def split(name: str, **after: tuple[str, ...]) -> PhaseFinished:
    asked = {"status": "split_request", "commit": BASE, "split_details": details(name, **after)}
    return ended(name, Retry(step="split", because="big"), **asked)


def moves(*events: Event, phases: Iterable[Phase] = LOOSE, **more: Any) -> Moves:
    return next_moves(run_of(phases, *events, **more), {}, cores=2)


def spawned(found: Moves) -> list[str]:
    return [move.phase.id for move in found if isinstance(move, Spawn)]


@pytest.mark.parametrize(
    ("end", "then"),
    [
        (ended("1", Advance()), Merge("1", BASE, BASE, "work1")),
        (ended("1", AskHuman(question="?")), Merge("1", BASE, BASE, "work1")),
        (ended("1", FAILED), Skip("2", "blocked_by_phase_1", "1")),
    ],
    ids=["completed", "needs a person", "failed"],
)
def test_loop_01_what_a_pass_came_to_decides_what_is_next(end: PhaseFinished, then: object) -> None:
    assert then in moves(opened("1"), end, phases=(phase("1"), phase("2", "1")))


def test_loop_01_a_phase_that_asks_to_be_split_is_split() -> None:
    (move,) = moves(opened("1"), split("1"), phases=LOOSE[:1], jobs=1)

    assert isinstance(move, Spawn)
    assert (move.phase.id, move.base, move.parent, move.slot) == ("1a", BASE, "1", 1)


def test_loop_02_a_phase_that_waits_for_a_person_is_in_the_line_and_nothing_behind_it_is_landed() -> None:
    waits = (opened("1"), ended("1", AskHuman(question="?")), joined("1"))
    behind = (opened("2", "line1"), ended("2", Advance()), joined("2", "line1"))

    found = moves(*waits, *behind, phases=LOOSE[:2])

    assert [type(move) for move in found] == [End]


def test_the_phase_most_others_wait_for_begins_first() -> None:
    chain = (phase("1"), phase("2"), phase("3", "2"), phase("4", "3"))

    assert spawned(moves(phases=chain, jobs=2)) == ["2"]


@pytest.mark.parametrize(
    ("named", "merges"),
    [(frozenset({"a.txt"}), False), (frozenset({"b.txt"}), True), (None, False)],
    ids=["the same file", "other files", "no plan yet"],
)
def test_a_phase_waits_for_an_earlier_one_that_may_change_its_files(
    named: frozenset[str] | None, *, merges: bool
) -> None:
    run = run_of(LOOSE, opened("1"), opened("2"), ended("2", Advance(), "a.txt"))

    found = next_moves(run, {"1": named}, cores=1)

    assert any(isinstance(move, Merge) for move in found) == merges


def test_a_phase_sent_back_begins_before_others_and_nothing_is_merged_before_it() -> None:
    refused = MergeRefused(phase="2", base=BASE, onto="line1", because="conflict")
    first = (opened("1"), opened("2"), opened("3"), ended("1", Advance()), joined("1"), landed("1"))

    found = moves(*first, ended("2", Advance()), refused, ended("3", Advance()))

    assert found == (Spawn(LOOSE[1], 0, "landed1", 1),)


def test_amb_11_the_parts_begin_together_unless_one_needs_another() -> None:
    loose = moves(opened("1"), split("1"), opened("1a", parent="1", slot=1), phases=LOOSE[:1], jobs=1)
    bound = moves(opened("1"), split("1", b=("1a",)), opened("1a", parent="1", slot=1), phases=LOOSE[:1], jobs=1)

    assert (spawned(loose), spawned(bound)) == (["1b"], [])


def test_with_sequential_the_parts_run_one_after_the_other() -> None:
    begun = (opened("1"), split("1"), opened("1a", parent="1", slot=1))

    assert spawned(moves(*begun, phases=LOOSE[:1], jobs=1, sequential=True)) == []


def test_amb_11_parts_are_merged_in_the_order_of_their_letters() -> None:
    begun = (opened("1"), split("1"), opened("1a", parent="1", slot=1), opened("1b", parent="1", slot=2))
    late = moves(*begun, ended("1b", Advance()), phases=LOOSE[:1], jobs=1)
    both = moves(*begun, ended("1b", Advance()), ended("1a", Advance()), phases=LOOSE[:1], jobs=1)

    assert [type(move) for move in late] == [Continue]
    assert both == (Merge("1a", BASE, BASE, "work1a"),)


def test_parts_that_have_all_ended_are_gathered() -> None:
    begun = (opened("1"), split("1"), opened("1a", parent="1", slot=1), opened("1b", parent="1", slot=2))
    over = (ended("1a", Advance()), ended("1b", FAILED), joined("1a"))

    assert moves(*begun, *over, phases=LOOSE[:1], jobs=1) == (Gather("1"),)


class Luck:
    """Plays a run to its end: each pass, merge and split comes out as hypothesis likes."""

    def __init__(self, data: st.DataObject, phases: tuple[Phase, ...], jobs: int) -> None:
        self.data, self.jobs = data, jobs
        self.run = run_of(phases, jobs=jobs)
        self.commits = 0

    def play(self) -> End:
        for _ in range(300):
            found = next_moves(self.run, self.named(), cores=2)
            at_once = [move for move in found if not isinstance(move, Continue | Merge | Gather | Land)]
            move = at_once[0] if at_once else self.data.draw(st.sampled_from(found))
            if isinstance(move, End):
                return move
            self.check(move)
            self.tell(self.event(move))
        raise AssertionError("no end in sight")

    def named(self) -> dict[str, frozenset[str] | None]:
        choices = st.sampled_from([None, frozenset[str](), frozenset({"a.txt"})])
        return {b.phase.id: self.data.draw(choices) for b in self.run.open_passes}

    def tell(self, event: RunEvent) -> None:
        entry = Entry(number=len(self.run.entries), at="", event=event)
        self.run = RunRecord(entries=(*self.run.entries, entry))

    def check(self, move: object) -> None:
        if isinstance(move, Spawn):
            slots = [b.slot for b in self.run.open_passes]
            assert len(slots) < self.jobs
            assert move.slot not in slots
            needs = [n for n in move.phase.depends_on if n in self.run.start.targets]
            assert all(self.run.merged(need) for need in needs)
        if isinstance(move, Skip):
            assert not any(b.phase.id == move.phase for b in self.run.open_passes)

    def event(self, move: object) -> RunEvent:
        match move:
            case Spawn(phase=target, base=base, slot=slot, parent=parent, cycle=cycle):
                number = sum(s.brief.phase.id == target.id for s in self.run.of(PhaseStarted))
                made = brief(phase=target, base=base, slot=slot, parent=parent, number=number, cycle=cycle)
                return PhaseStarted(brief=made)
            case Continue(brief=open_pass):
                return self.finished(open_pass)
            case Gather(phase=name):
                verdicts: list[Verdict] = [Advance(), FAILED]
                return ended(name, self.data.draw(st.sampled_from(verdicts)))
            case Merge() as merge:
                return self.merged(merge)
            case Land(phase=name, commit=commit):
                return PhaseLanded(phase=name, commit=commit, landed=True)
            case Skip(phase=name, reason=reason, blocking=blocking):
                return PhaseSkipped(phase=name, reason=reason, blocking_phase=blocking)
        raise AssertionError(move)

    def merged(self, move: Merge) -> PhaseMerged | MergeRefused:
        if move.base != move.onto and self.data.draw(st.booleans()):
            return MergeRefused(phase=move.phase, base=move.base, onto=move.onto, because="conflict")
        self.commits += 1
        return PhaseMerged(phase=move.phase, base=move.base, onto=move.onto, commit=f"c{self.commits}")

    def finished(self, open_pass: Brief) -> PhaseFinished:
        name = open_pass.phase.id
        if not open_pass.parent and not open_pass.number and self.data.draw(st.booleans()):
            return split(name)
        verdicts: list[Verdict] = [Advance(), Advance(), FAILED]
        return ended(name, self.data.draw(st.sampled_from(verdicts)), "a.txt")


@st.composite
def roadmaps(draw: st.DrawFn) -> tuple[Phase, ...]:
    count = draw(st.integers(1, 5))
    names = [str(n) for n in range(1, count + 1)]
    needs = [draw(st.lists(st.sampled_from(names[:n]), unique=True)) if n else [] for n in range(count)]
    return tuple(phase(name, *need) for name, need in zip(names, needs, strict=True))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), phases=roadmaps(), jobs=st.integers(2, 4))
def test_any_run_comes_to_an_end_with_every_phase_dealt_with(
    data: st.DataObject, phases: tuple[Phase, ...], jobs: int
) -> None:
    luck = Luck(data, phases, jobs)

    end = luck.play()

    run = luck.run
    lost = [p.id for p in phases if run.skipped(p.id) or isinstance(run.standing(p.id)[-1].verdict, Stop)]
    assert (end.exit_code == 10) == bool(lost)
    assert not run.open_passes
    assert all(bool(run.merged(p.id)) == bool(run.landed(p.id)) == (p.id not in lost) for p in phases)
    sent_back = [refused.phase for refused in run.of(MergeRefused) if refused.phase in run.start.targets]
    assert len(sent_back) == len(set(sent_back))
