"""The picture of a run: right after every entry, whichever way the entries come."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Entry,
    Event,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunResumed,
    RunStopped,
    VerdictGiven,
)
from autopilot.domain.evidence import Usage
from autopilot.domain.people import HumanWord
from autopilot.domain.settings import RunCaps
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.history.digest import CallDigest, spent_by
from autopilot.history.record import RunRecord
from autopilot.history.timeline import histories
from autopilot.state.picture import Picture
from autopilot.state.picture_run import after, agent_name, picture_of
from autopilot.text.times import short
from autopilot.views.terminal.cells import Span, cut, width_of
from autopilot.views.terminal.frame import frame, text_of
from autopilot.views.terminal.screen import Screen
from autopilot.views.terminal.time_left import pass_left, run_left, run_seconds
from support.recordings import Told, feast
from unit.views.samples import RUN, SPEC, brief, outcome, run_started

WHOLE = len(feast())
somewhere = st.integers(min_value=0, max_value=WHOLE)


class Tape:
    """Entries a minute apart."""

    def __init__(self) -> None:
        self.minute, self.picture = 0, Picture()

    def tell(self, *events: Event, stream: str = RUN) -> Picture:
        for number, event in enumerate(events):
            entry = Entry(number=number, at=f"2026-02-09T14:{self.minute:02}:00.000Z", event=event)
            self.picture, self.minute = after(self.picture, stream, entry), self.minute + 1
        return self.picture


def lines(picture: Picture, now: str = "") -> str:
    return text_of(frame(picture, Screen(width=100, height=40, now=now or picture.last)))


@given(somewhere, somewhere, st.integers(0, 260), st.integers(-1, 90))
def test_any_part_of_a_run_gives_a_frame_that_fits(first: int, last: int, width: int, height: int) -> None:
    picture = picture_of(feast()[first:last])
    shown = frame(picture, Screen(width=width, height=height, now=picture.last or "2026-02-09T14:00:00.000Z"))

    assert len(shown) <= max(0, height)
    assert all(sum(cell_len(span.text) for span in line) <= width for line in shown)


@given(somewhere)
def test_a_picture_taken_up_later_is_the_one_drawn_at_once(cut: int) -> None:
    picture = picture_of(feast()[:cut])
    stored = msgspec.json.decode(msgspec.json.encode(picture), type=Picture)
    for stream, entry in feast()[cut:]:
        stored = after(stored, stream, entry)

    assert stored == picture_of(feast())


@given(st.integers(min_value=1, max_value=WHOLE))
def test_the_picture_says_what_the_record_says(cut: int) -> None:
    """The engine's own reading of the same entries: which passes are open, how phases stand, what was spent."""
    told = feast()[:cut]
    run = RunRecord(entries=tuple(entry for stream, entry in told if "/" not in stream))
    answers = [e.event for _, e in told if isinstance(e.event, AgentAnswered)]
    bill, picture = spent_by(CallDigest(role=a.role, usage=a.usage) for a in answers), picture_of(told)
    phases = {p.phase for p in picture.passes.values()}

    assert {row.id: row.state for row in picture.targets} == {p: h.status for p, h in histories(run).items()}
    assert picture.over or phases - {"completion"} == {b.phase.id for b in run.open_passes}
    assert (picture.used.tokens, round(picture.used.usd or 0, 6)) == (bill.tokens, bill.usd or 0)
    assert picture.calls.keys() == _unanswered(told)


scored = st.one_of(st.none(), st.sampled_from([7.0, 8.5, 9.2, 9.6]))
ends = st.builds(
    lambda score, status, verdict, rollback: PhaseFinished(
        cycle=0,
        outcome=msgspec.structs.replace(outcome(status, score), rollback=rollback),
        verdict=verdict,
    ),
    scored,
    st.sampled_from(["completed", "failed"]),
    st.sampled_from([Advance(), Retry(step="execute", because="again"), Stop(because="no")]),
    st.booleans(),
)


@given(st.lists(ends.filter(lambda end: end.outcome.alignment_score is not None), min_size=1, max_size=6))
def test_the_score_shown_is_that_of_the_pass_that_counts(told: list[PhaseFinished]) -> None:
    """AMB-37: whichever passes a phase had, a worse one takes nothing away from it."""
    tape = Tape()
    tape.tell(run_started())
    events = [event for end in told for event in (PhaseStarted(brief=brief()), end)]
    picture = tape.tell(*events)
    entries = (run_started(), *events)
    run = RunRecord(
        entries=tuple(Entry(number=n, at="2026-02-09T14:00:00.000Z", event=e) for n, e in enumerate(entries))
    )
    found = histories(run)["2"].counted

    assert found is not None
    assert picture.phases["2"].score == found[1].outcome.alignment_score


@given(st.lists(st.text(max_size=9), max_size=5), st.integers(0, 30))
def test_a_line_that_is_cut_fits_and_says_so(texts: list[str], width: int) -> None:
    line = [Span(text) for text in texts]
    shown = cut(line, width, "…")

    assert width_of(shown) <= width
    assert width_of(line) <= width or not width or shown[-1].text.endswith("…")


def _unanswered(told: tuple[Told, ...]) -> set[str]:
    begun = {e.event.call for _, e in told if isinstance(e.event, AgentStarted)}
    return begun - {e.event.call for _, e in told if isinstance(e.event, AgentAnswered)}


def test_time_in_which_the_run_lay_still_does_not_count() -> None:
    tape = Tape()
    tape.tell(run_started(), PhaseStarted(brief=brief()), RunStopped(exit_code=130, reason="interrupted"))
    tape.minute = 50
    picture = tape.tell(RunResumed(pid=1, spec=SPEC))

    assert run_seconds(picture, "2026-02-09T14:51:00.000Z") == 3 * 60
    assert "PHASE 2 Farewell" in lines(picture)
    assert " 2m 00s" in next(
        line for line in lines(picture, "2026-02-09T14:51:00.000Z").splitlines() if "PHASE" in line
    )


def test_a_run_that_was_stopped_says_why_and_going_on_clears_it() -> None:
    tape = Tape()
    stopped = tape.tell(run_started(), RunStopped(exit_code=20, reason="usd_per_run reached", brake="usd_per_run"))
    resumed = tape.tell(RunResumed(pid=1, spec=SPEC, caps=RunCaps(usd=500.0)))

    assert "usd_per_run reached" in lines(stopped)
    assert (resumed.state, resumed.reason, resumed.limits.usd_per_run) == ("running", "", 500.0)


def test_a_phase_that_gets_another_chance_waits_again() -> None:
    tape = Tape()
    tape.tell(run_started(), PhaseStarted(brief=brief()))
    failed = PhaseFinished(cycle=0, outcome=outcome("failed", None, reason="tests fail"), verdict=Stop(because="x"))
    before = tape.tell(failed, PhaseSkipped(phase="3", reason="blocked_by_phase_2", blocking_phase="2"))
    now = tape.tell(RunResumed(pid=1, spec=SPEC, retry=("2", "3")))

    assert [before.phases[n].state for n in "23"] == ["failed", "blocked"]
    assert "behind phase 2" in lines(before)
    assert [now.phases[n].state for n in "23"] == ["not_started", "not_started"]


def test_what_waits_for_a_person_and_what_did_not_land_is_told() -> None:
    tape = Tape()
    tape.tell(run_started(), PhaseStarted(brief=brief()))
    held = outcome("needs_human_verification", 9.0)
    tape.tell(PhaseFinished(cycle=0, outcome=held, verdict=AskHuman(question="does it look right?")))
    shown = lines(tape.tell(PhaseLanded(phase="1", commit="c", landed=False, note="letter.txt is dirty")))

    assert "waiting: phase 2: does it look right?" in shown
    assert "needs a person" in shown
    assert "Phase 1 is not on your branch: letter.txt is dirty" in shown


@pytest.mark.parametrize(
    ("now", "told"),
    [("14:20:00", "waiting, 40m 00s left: plan: usage limit"), ("15:00:01", "waiting, due: plan: usage limit")],
    ids=["counts down", "is due"],
)
def test_a_usage_limit_is_a_wait_with_a_countdown(now: str, told: str) -> None:
    tape = Tape()
    tape.tell(run_started(), PhaseStarted(brief=brief()))
    limited = tape.tell(_limited("2026-02-09T15:00:00Z"), stream=f"{RUN}/2")
    again = tape.tell(AgentStarted(call="c", role="plan", pid=1, birth="b"), stream=f"{RUN}/2")

    assert told in lines(limited, f"2026-02-09T{now}.000Z")
    assert again.waits == ()


@pytest.mark.parametrize("moment", ["", "soon", "2026-02-09", "\x1b[31m", "2026-02-09T15:00:00+02:00"])
def test_a_time_that_cannot_be_read_is_waited_for_without_countdown(moment: str) -> None:
    picture = Tape().tell(_limited(moment), stream=f"{RUN}/2")

    assert [wait.until for wait in picture.waits] == [""]
    assert "waiting: plan: usage limit\n" in lines(picture)


def _limited(resets_at: str) -> AgentAnswered:
    return AgentAnswered(
        call="c", role="plan", outcome="usage_limited", answer=None, text="", usage=Usage(), commands=(), seconds=1.0,
        resets_at=resets_at,
    )  # fmt: skip


@pytest.mark.parametrize(("word", "state"), [("pass", "completed"), ("issues_found", "failed")])
def test_a_persons_word_ends_the_wait(word: HumanWord, state: str) -> None:
    tape = Tape()
    tape.tell(run_started(), PhaseStarted(brief=brief()))
    held = outcome("needs_human_verification", 9.0)
    tape.tell(PhaseFinished(cycle=0, outcome=held, verdict=AskHuman(question="does it look right?")))
    said = VerdictGiven(id="1", phase="2", verdict=word, issues=() if word == "pass" else ("crooked",))
    picture = tape.tell(said)

    assert (picture.waits, picture.phases["2"].state) == ((), state)
    assert ("failed: crooked" in lines(picture)) is (word != "pass")


def test_what_was_asked_before_a_run_is_no_part_of_it() -> None:
    started = Tape().tell(run_started())

    assert after(started, "asking/1/1", Entry(number=0, at=started.last, event=_limited(""))) == started


def test_what_is_left_is_unknown_until_a_phase_has_shown_it() -> None:
    early, late = picture_of(feast()[:60]), picture_of(feast()[:145])

    assert [pass_left(p, early, early.last) for p in early.passes.values()] == [None, None]
    assert run_left(early, early.last) is None
    assert [pass_left(p, late, late.last) is None for p in late.passes.values()] == [False, False]


def test_what_is_left_shrinks_with_the_clock_and_is_near_what_it_took() -> None:
    """Phase 4 of the recorded run: at its start, a minute later, and how long it really took."""
    picture = picture_of(feast()[:128])
    (mine,) = (p for p in picture.passes.values() if p.phase == "4")
    first = pass_left(mine, picture, picture.last)
    later = pass_left(mine, picture, "2026-02-09T14:39:05.000Z")
    took = picture_of(feast()).phases["4"].seconds

    assert first is not None
    assert later is not None
    assert later < first
    assert abs(first - took) < took / 3


def test_an_agent_is_named_without_its_folders() -> None:
    assert agent_name("exec:python3 /home/ada/bin/agent.py --fast") == "exec:python3 agent.py --fast"
    assert agent_name("exec:./run.sh --script=/home/ada/x.toml") == "exec:run.sh --script=x.toml"
    assert agent_name("exec:agent --url http://127.0.0.1:1/v1") == "exec:agent --url http://127.0.0.1:1/v1"
    assert agent_name("exec:sh -c 'cat /etc/a | b'") == "exec:sh -c 'cat /etc/a | b'"
    assert agent_name("exec:'/home/ada/my agents/a.py' x") == "exec:a.py x"
    assert agent_name("exec:a 'b") == "exec:a 'b"
    assert agent_name("claude") == "claude"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0s"), (59.9, "59s"), (187, "3m 07s"), (7500, "2h 05m"), (97200, "1d 03h")]
)
def test_durations_are_short(seconds: float, told: str) -> None:
    assert short(seconds) == told


def test_a_part_of_a_phase_stands_behind_it_and_wide_letters_keep_the_columns() -> None:
    tape = Tape()
    tape.tell(run_started())
    for part, name in (("2.1", "漢字の部"), ("2.2", "Second part")):
        phase = msgspec.structs.replace(brief().phase, id=part, name=name)
        tape.tell(PhaseStarted(brief=msgspec.structs.replace(brief(), phase=phase, parent="2")))
    rows = [line for line in lines(tape.picture).splitlines() if line.startswith(" ") and "progress" in line]

    assert list(tape.picture.phases) == ["1", "2", "2.1", "2.2", "3"]
    assert [row.id for row in tape.picture.targets] == ["1", "2", "3"]
    assert len({cell_len(row) for row in rows}) == 1


def test_of_a_long_roadmap_the_phases_at_work_are_shown() -> None:
    phases = tuple(msgspec.structs.replace(run_started().phases[1], id=str(n), name=f"Part {n}") for n in range(1, 301))
    tape = Tape()
    tape.tell(msgspec.structs.replace(run_started(), phases=phases, targets=tuple(p.id for p in phases)))
    picture = tape.tell(PhaseStarted(brief=msgspec.structs.replace(brief(), phase=phases[149])))
    shown = text_of(frame(picture, Screen(width=80, height=23, now=picture.last)))

    assert "▶ 150 Part 150" in shown
    assert "more above" in shown
    assert "PHASE 150 Part 150" in shown
