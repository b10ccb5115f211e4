"""`--complete` over every graph: the order phases run in, and who is skipped when some fail."""

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event, PhaseFinished, PhaseLanded, PhaseSkipped, PhaseStarted
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.settings import Modes
from autopilot.domain.verdict import Advance, Stop
from autopilot.engine.decide.next_move import End, Land, Skip, Spawn, dependents, next_phase
from autopilot.history.record import RunRecord
from autopilot.planning.roadmap.order import order
from autopilot.policy.batch_totals import batch_figures
from support.records import brief, phase, started


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Phase, ...]:
    """Up to seven phases without a circle, in an order of the roadmap's own."""
    names = [str(n) for n in range(1, draw(st.integers(1, 7)) + 1)]
    needs: Mapping[str, list[str]] = {
        name: draw(st.lists(st.sampled_from(names[:n]), unique=True)) if n else [] for n, name in enumerate(names)
    }
    return tuple(phase(name, *needs[name]) for name in draw(st.permutations(names)))


def played(phases: tuple[Phase, ...], failing: set[str]) -> RunRecord:
    """The run to its end, with these phases failing."""
    targets = [p.id for p in order(phases, Roadmap(path="ROADMAP.md", phases=phases))]
    events: list[Event] = [started(*phases, targets=targets, modes=Modes(complete=True))]
    while True:
        run = RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(events)))
        match next_phase(run):
            case Spawn(phase=begun, base=base):
                outcome = PhaseOutcome(
                    phase=begun.id, status="completed", reason="", commit=f"c{begun.id}", alignment_score=9.0
                )
                verdict = Stop(because="no") if begun.id in failing else Advance()
                events += [
                    PhaseStarted(brief=brief(phase=begun, base=base)),
                    PhaseFinished(cycle=0, outcome=outcome, verdict=verdict),
                ]
            case Skip(phase=name, reason=reason, blocking=blocking):
                events.append(PhaseSkipped(phase=name, reason=reason, blocking_phase=blocking))
            case Land(phase=name, commit=commit):
                events.append(PhaseLanded(phase=name, commit=commit, landed=True))
            case End():
                return run
            case move:
                raise AssertionError(move)


@given(phases=graphs())
def test_cmpl_01d_dependencies_come_first_and_ties_keep_the_order_of_the_roadmap(phases: tuple[Phase, ...]) -> None:
    found = [p.id for p in order(phases, Roadmap(path="ROADMAP.md", phases=phases))]
    place, known = {name: n for n, name in enumerate(found)}, {p.id: n for n, p in enumerate(phases)}

    assert sorted(found) == sorted(known)
    assert all(place[need] < place[p.id] for p in phases for need in p.depends_on)
    for first, second in pairwise(found):
        needs = next(p.depends_on for p in phases if p.id == second)
        assert known[first] < known[second] or first in needs


@given(phases=graphs(), data=st.data())
def test_cmpl_03b_exactly_what_needs_a_failed_phase_is_skipped(phases: tuple[Phase, ...], data: st.DataObject) -> None:
    """CMPL-03b, CMPL-03c, CMPL-03e: and everything else has run."""
    failing = set(data.draw(st.lists(st.sampled_from([p.id for p in phases]), unique=True)))
    run = played(phases, failing)
    skipped = {skip.phase: skip for skip in run.of(PhaseSkipped)}
    begun = {start.brief.phase.id for start in run.of(PhaseStarted)}

    lost = set[str]().union(*(dependents(name, phases) for name in failing & begun))
    assert skipped.keys() == lost
    assert begun == {p.id for p in phases} - lost
    assert all(skip.reason == f"blocked_by_phase_{skip.blocking_phase}" for skip in skipped.values())
    assert all(name in dependents(skip.blocking_phase or "", phases) for name, skip in skipped.items())


@given(phases=graphs(), data=st.data())
def test_cmpl_04b_every_phase_is_in_exactly_one_list(phases: tuple[Phase, ...], data: st.DataObject) -> None:
    """CMPL-04b..d."""
    failing = set(data.draw(st.lists(st.sampled_from([p.id for p in phases]), unique=True)))
    figures = batch_figures(played(phases, failing))

    assert sorted((*figures.succeeded, *figures.failed, *figures.skipped)) == sorted(p.id for p in phases)
    assert {name for blocked in figures.gaps.values() for name in blocked} == set(figures.skipped)
    assert figures.percentage == round(len(figures.succeeded) / len(phases) * 100, 1)
