"""What the next session is: from the roadmap, the last session's word, and what was learned."""

import platform
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.app.loop import one_session as sessioning
from autopilot.app.loop import session_log
from autopilot.cli.parser import parse
from autopilot.cli.verbs import loop_options
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.request import PhaseEnd, RunRequest
from autopilot.domain.rework import Standing
from autopilot.domain.settings import Modes
from autopilot.journal.earlier_runs import Ledger
from autopilot.sessions import flags, learnings, signals
from autopilot.sessions.backlog import Backlog, work_for
from autopilot.sessions.files import next_session as state_fields
from autopilot.sessions.files import session_record
from autopilot.sessions.flags import LoopFlags
from autopilot.sessions.learnings import Learning
from autopilot.sessions.machine import measure as probes
from autopilot.sessions.machine.resources import Snapshot
from autopilot.sessions.selector import LONGEST_RATIONALE, MODES, Signals, select
from autopilot.sessions.session import Books, SessionEnd, SessionStart, Status, session_id
from autopilot.sessions.signals import Sources
from support.history import ENDED, STARTED, good_history, past_session

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BASE = RunRequest(folder="/x")
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["--max-sessions="], LoopFlags(), id="empty is the default"),
        pytest.param(["--confidence-threshold= "], LoopFlags(), id="blank is the default"),
        pytest.param(["--max-sessions=9", "--max-sessions="], LoopFlags(), id="the last counts, empty too"),
        pytest.param(["--max-sessions=0x10"], LoopFlags(max_sessions=16), id="hexadecimal"),
        pytest.param(["--max-hours=1e1"], LoopFlags(max_hours=10), id="exponent"),
        pytest.param(["--max-hours=+4."], LoopFlags(max_hours=4), id="plus and a bare point"),
        pytest.param(["--max-hours=inf"], LoopFlags(), id="infinite"),
        pytest.param(["--max-hours=1e999"], LoopFlags(), id="too large to be a number"),
        pytest.param(["--max-tokens=2e9"], LoopFlags(max_tokens=10_000_000), id="tokens clamp"),
        pytest.param(["--Max-Sessions=3"], LoopFlags(), id="letters matter"),
        pytest.param(["--dry-run=true"], LoopFlags(), id="a dry run takes no value"),
    ],
)
def test_flags_are_read_with_care(words: list[str], expected: LoopFlags) -> None:
    assert flags.parse(words) == expected


@given(st.lists(st.one_of(junk, st.from_regex(r"--(max-sessions|max-hours|confidence-threshold)=.{0,6}"))))
def test_flags_are_always_within_their_bounds(words: list[Any]) -> None:
    read = flags.parse(words)

    assert 1 <= read.max_sessions <= 50
    assert 0.5 <= read.max_hours <= 24
    assert 0 <= read.confidence_threshold <= 1


anything = st.fixed_dictionaries(
    {},
    optional={
        "recommended_mode": st.one_of(st.sampled_from(MODES), junk),
        "priorities": st.lists(junk, max_size=9).map(tuple),
        "carryover_ratio": st.floats(0, 1),
        "completion_rate": st.floats(0, 1),
        "sessions": st.lists(st.one_of(junk, st.just(past_session("a"))), max_size=6).map(tuple),
        "learnings": st.lists(junk, max_size=4).map(tuple),
        "locked": st.booleans(),
        "tier": st.sampled_from(["fast", "standard", "deep", "huge", None]),
        "text": st.text(max_size=20),
    },
)


@given(anything)
def test_the_selector_always_answers_within_its_bounds(said: dict[str, Any]) -> None:
    found = select(Signals(**said))

    assert found.mode in MODES
    assert 0 <= found.confidence <= 0.9
    assert len(found.alternatives) <= 3
    assert len(found.rationale) <= LONGEST_RATIONALE
    assert found.mode not in {other.mode for other in found.alternatives}


def test_a_perfect_history_reaches_the_default_threshold(tmp_path: Path) -> None:
    good_history(tmp_path, NOW.isoformat())
    books = Books(tmp_path / ".autopilot")
    sources = Sources(sessions=books.sessions.path.read_text(), learnings=books.learnings.newest("type", "subject"))

    found = signals.choose(signals.gathered(sources, NOW), Backlog(ready=("1", "2")))

    assert (found.mode, found.confidence) == ("feature", 0.85)


LEFT_OVER, POOR = Signals(carryover_ratio=0.4), Signals(completion_rate=0.2)


@pytest.mark.parametrize(
    ("backlog", "known", "mode"),
    [
        pytest.param(Backlog(ready=("1",)), Signals(), "feature", id="phases to do"),
        pytest.param(Backlog(weak=("1",)), Signals(recommended_mode="feature"), "deep", id="only weak phases"),
        pytest.param(Backlog(gaps=("1",)), Signals(), "housekeeping", id="only gaps"),
        pytest.param(Backlog(ready=("1",), weak=("2",)), LEFT_OVER, "deep", id="much was left over"),
        pytest.param(Backlog(ready=("1",)), LEFT_OVER, "feature", id="left over, but nothing to go deep into"),
        pytest.param(Backlog(ready=("1",)), POOR, None, id="a mode for people"),
        pytest.param(Backlog(), Signals(), None, id="nothing left"),
    ],
)
def test_the_mode_is_one_there_is_work_for(backlog: Backlog, known: Signals, mode: str | None) -> None:
    found = signals.choose(known, backlog)

    assert found.mode == mode
    assert found.exhausted == (backlog == Backlog())


@pytest.mark.parametrize(
    ("mode", "backlog", "request_"),
    [
        pytest.param(
            "feature", Backlog(ready=("1", "2", "3", "4")), {"phases": "1,2,3"}, id="feature runs the next ready phases"
        ),
        pytest.param("deep", Backlog(failed=("2",), weak=("1",)), {"phases": "2"}, id="deep tries failed ones again"),
        pytest.param("deep", Backlog(weak=("1", "3")), {"modes": Modes(quality="1,3")}, id="deep raises weak ones"),
        pytest.param("housekeeping", Backlog(gaps=("2",)), {"modes": Modes(gaps="2")}, id="housekeeping closes gaps"),
    ],
)
def test_each_mode_is_a_run_of_its_own_kind(mode: Any, backlog: Backlog, request_: dict[str, Any]) -> None:
    assert work_for(mode, backlog, BASE).request == msgspec.structs.replace(BASE, **request_)


@pytest.mark.parametrize(("cap", "phases", "jobs"), [(None, 3, 8), (4, 3, 4), (2, 2, 2), (0, 1, 1)])
def test_the_machine_bounds_phases_and_jobs(cap: int | None, phases: int, jobs: int) -> None:
    base = msgspec.structs.replace(BASE, modes=Modes(jobs=8))
    work = work_for("feature", Backlog(ready=("1", "2", "3", "4")), base, cap)

    assert (len(work.phases), work.request.modes.jobs) == (phases, jobs)


def phase(name: str, *needs: str) -> Phase:
    return Phase(id=name, name=name, depends_on=needs)


def test_what_waits_behind_a_failure_or_a_person_is_not_ready() -> None:
    roadmap = Roadmap(path="r", phases=(*map(phase, "12345"), phase("6", "2"), phase("7", "3"), phase("8", "5")))
    standings = {
        "1": Standing(status="completed", score=8.2),
        "2": Standing(status="failed"),
        "3": Standing(status="needs_human_verification"),
        "4": Standing(status="completed", score=9.6),
    }
    verdicts = {name: end.status == "completed" for name, end in standings.items()}

    found = sessioning.backlog_of(roadmap, Ledger(standings=standings, verdicts=verdicts))

    assert found == Backlog(ready=("5", "8"), failed=("2",), weak=("1",))


@pytest.mark.parametrize(
    ("status", "score", "code", "mode", "expected"),
    [
        ("completed", 9.1, 0, "feature", "done"),
        ("completed", 8.0, 0, "deep", "partial"),
        ("failed", None, 10, "feature", "failed"),
        ("in_progress", None, 21, "feature", "spiral"),
        ("not_started", None, 21, "feature", "partial"),
        ("needs_human_verification", None, 11, "feature", "partial"),
    ],
)
def test_a_phase_is_told_as_its_run_left_it(
    status: str, score: float | None, code: int, mode: Any, expected: str
) -> None:
    assert session_log.status_of(PhaseEnd(status=status, score=score), code, mode) == expected


@pytest.mark.parametrize(
    ("modes", "standings", "expected"),
    [
        (Modes(), [], "feature"),
        (Modes(), ["failed", "failed"], "deep"),
        (Modes(), ["failed", "not_started"], "feature"),
        (Modes(quality="1"), ["completed"], "deep"),
        (Modes(force=""), ["completed"], "deep"),
        (Modes(gaps=""), ["completed"], "housekeeping"),
    ],
)
def test_a_run_by_hand_is_a_session_of_its_kind(modes: Modes, standings: list[str], expected: str) -> None:
    assert session_log.mode_of(modes, standings) == expected


@pytest.mark.parametrize("said", ["5", "FEATURE", "true", "[feature]", "sprint"])
def test_a_mode_that_is_none_is_refused_and_the_roadmap_decides(said: str) -> None:
    sources = Sources(state=f"---\nrecommended-mode: {said}\n---\n")
    known = signals.gathered(sources, NOW)

    assert known.recommended_mode is None
    assert signals.choose(known, Backlog(gaps=("1",))).mode == "housekeeping"
    (remark,) = signals.remarks(sources, "sessions.jsonl")
    assert "STATE.md: recommended-mode is" in remark


def test_lines_that_are_no_sessions_are_refused_and_named() -> None:
    good = msgspec.json.encode(past_session("a")).decode()
    bad = msgspec.json.encode(past_session("b", schema_version="2")).decode()
    sources = Sources(sessions=f"{good}\n{bad}\n")

    assert [session["session_id"] for session in signals.gathered(sources, NOW).sessions] == ["a"]
    (remark,) = signals.remarks(sources, "sessions.jsonl")
    assert remark.startswith("sessions.jsonl, line 2: schema_version must be a non-negative integer, got: '2'.")


def test_a_named_mode_needs_no_confidence_but_needs_work() -> None:
    backlog = Backlog(failed=("2",))

    assert (signals.wished("deep", backlog).mode, signals.wished("deep", backlog).confidence) == ("deep", 1.0)
    assert signals.wished("feature", backlog).exhausted


def test_the_advice_names_what_is_missing_and_what_to_type() -> None:
    fresh = signals.choose(Signals(), Backlog(ready=("1",))).advice
    poor = signals.choose(Signals(completion_rate=0.2, sessions=(past_session("a"),) * 3), Backlog(failed=("1",)))

    assert "after 3 sessions" in fresh
    assert "This project has 0" in fresh
    assert "`autopilot loop --mode feature`" in fresh
    assert poor.mode is None
    assert "`autopilot status`" in poor.advice
    assert "`autopilot loop --mode deep`" in poor.advice


def test_what_recurs_is_surer_and_what_contradicts_it_less_sure() -> None:
    yes, no = (learnings.accuracy("feature", chosen, "s", NOW) for chosen in ("feature", "deep"))
    assert isinstance(yes, Learning)
    assert isinstance(no, Learning)
    (again,) = learnings.added([yes], yes)
    less, new = learnings.added([again], no)

    assert (again.confidence, less.confidence, new.confidence) == (0.65, 0.45, 0.5)
    assert less.subject == yes.subject


def test_a_session_that_fell_short_casts_doubt_on_its_size() -> None:
    good = learnings.sizing(past_session("a"), NOW)
    assert good is not None
    poor = past_session("b", effectiveness={"planned_issues": 3, "completion_rate": 0.3})

    assert learnings.sizing(poor, NOW) is None
    assert [doubt.confidence for doubt in learnings.doubted([good], poor)] == [0.3]


def test_learnings_fade_and_expire() -> None:
    def entry(name: str, confidence: float, days: int) -> dict[str, Any]:
        created = NOW - timedelta(days=days)
        return {
            "subject": name,
            "confidence": confidence,
            "created_at": created.isoformat(),
            "expires_at": "2027-01-01",
        }

    gone = {"subject": "gone", "confidence": 0.9, "expires_at": "2026-02-01T00:00:00Z"}
    kept = learnings.effective([entry("old", 0.9, 25), entry("faded", 0.5, 29), entry("new", 0.6, 1), gone, 7], NOW)

    assert [one["subject"] for one in kept] == ["new", "old"]


def test_what_people_said_of_phases_speaks_for_a_mode() -> None:
    text = (
        "### Human Verdict: Phase 3 -- PASS (confidence calibration)\n"
        "### Human Verdict: Phase 4 -- ISSUES_FOUND (confidence calibration)\n"
    )

    assert [one["subject"].split(":")[0] for one in learnings.calibrations(text)] == ["feature", "deep"]


def test_the_word_for_the_next_session_survives_writing_and_reading() -> None:
    up = state_fields.next_up(0.8, 0.4, ["2.10", "3"])
    fields = state_fields.read(state_fields.written(up, 0.8, 0.4))

    assert fields is not None
    assert (fields.mode, fields.priorities) == ("deep", ("2.10", 3))
    assert (fields.completion_rate, fields.carryover_ratio) == (0.8, 0.4)


def test_memory_is_read_from_the_kernel() -> None:
    meminfo = "MemTotal: 16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\nSwapTotal: 2097152 kB\nSwapFree: 1048576 kB\n"
    pressure = "some avg10=12.50 avg60=1.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    texts = {"/proc/meminfo": meminfo, "/proc/pressure/memory": pressure}

    found = probes.probe("Linux", lambda path: texts[path], lambda _: "")

    assert found == Snapshot(ram_free_gb=8, swap_gb=1, memory_pressure_pct_free=87.5)
    assert probes.probe("Linux", lambda _: "", lambda _: "") == Snapshot()


def test_a_mac_is_asked_with_its_own_tools() -> None:
    printed = {
        "sysctl": "vm.swapusage: total = 4096.00M  used = 2048.00M  free = 2048.00M",
        "vm_stat": "Mach Virtual Memory Statistics: (page size of 4096 bytes)\nPages free: 524288.\n",
        "memory_pressure": "System-wide memory free percentage: 42%",
    }

    found = probes.probe("Darwin", lambda _: "", lambda argv: printed[argv[0]])

    assert found == Snapshot(ram_free_gb=2, swap_gb=2, memory_pressure_pct_free=42)
    assert probes.probe("Plan9", lambda _: "", lambda _: "") == Snapshot()


def test_this_machine_answers() -> None:
    found = probes.probe(
        platform.system(), lambda path: Path(path).read_text() if Path(path).exists() else "", lambda _: ""
    )

    assert platform.system() != "Linux" or (found.ram_free_gb or 0) > 0


def session_of(tmp_path: Path, statuses: dict[str, Status], **more: Any) -> tuple[dict[str, Any], Books]:
    books = Books(tmp_path / ".autopilot")
    end = SessionEnd(phases=statuses, files_changed=2, output_tokens=70, run="run-1", **more)
    start = SessionStart(session_id="s1", mode="feature", started_at=STARTED, run_id="loop-1", recommended="feature")
    return books.close(start, end, ENDED), books


def test_a_session_is_written_down_with_its_loop_and_leaves_word(tmp_path: Path) -> None:
    record, books = session_of(tmp_path, {"1": "done", "2": "done", "3": "partial"})

    assert books.sessions.read() == (msgspec.json.decode(msgspec.json.encode(record)),)
    assert session_record.problem_in(record) is None
    assert (record["autopilot_run_id"], record["schema_version"], record["usage"]) == (
        "loop-1",
        2,
        {"output_tokens": 70},
    )
    assert record["effectiveness"]["completion_rate"] == pytest.approx(2 / 3)
    assert "recommended-mode: deep" in books.state.read_text()
    assert [one.type for one in books.known()] == [learnings.ACCURACY]


def test_a_session_is_one_wave_in_clones(tmp_path: Path) -> None:
    record, _ = session_of(tmp_path, {"1": "done", "2": "failed", "3": "spiral", "4": "partial"})

    assert record["agent_summary"] == {"complete": 1, "partial": 1, "failed": 1, "spiral": 1}
    assert (record["total_waves"], record["total_agents"], record["effectiveness"]["carryover"]) == (1, 4, 3)
    assert [(wave["wave"], wave["isolation"], wave["failed"]) for wave in record["waves"]] == [(1, "clone", 1)]


def test_an_abandoned_session_teaches_nothing(tmp_path: Path) -> None:
    record, books = session_of(tmp_path, {"1": "partial"}, abandoned=True)

    assert record["status"] == "abandoned"
    assert session_record.recent(list(books.sessions.read()), 3) == ()
    assert (books.known(), books.state.exists()) == ((), False)


def test_sessions_of_one_minute_have_names_of_their_own() -> None:
    assert session_id("main", NOW, ()) == "main-2026-03-01-1200"
    assert session_id("main", NOW, ("main-2026-03-01-1200",)) == "main-2026-03-01-1200-2"


def test_the_verb_takes_numbers_as_they_are_written_and_agents_as_run_does() -> None:
    options = parse("loop", ["--max-sessions", "3", "--max-hours=", "--jobs=4", "--dryRun"])

    assert loop_options.words_of(options) == ["--max-sessions=3", "--max-hours=", "--dry-run"]
    assert (options.jobs, options.agent) == (4, "auto")
    with pytest.raises(UsageInvalid, match="Unknown option"):
        parse("loop", ["--quality"])
