"""What a phase is given to start with: paths and summaries, counted and looked up, never believed."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autopilot.domain.attempt import Brief
from autopilot.domain.events import Entry, Event, PhaseStarted
from autopilot.domain.phase import Phase
from autopilot.domain.verdict import Retry
from autopilot.engine.decide.next_move import Spawn
from autopilot.engine.decide.resume import verified_already
from autopilot.engine.run.briefs import brief_for
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.planning.plan.folders import folder_of
from autopilot.state.build_state import state_of
from autopilot.steps import plan as planning
from autopilot.steps import research
from support.engine import Told, make_engine
from support.project import plan_text
from support.records import DIR, Story, brief, passed, phase, plan, started, task
from support.repos import write
from support.workspaces import open_workspace

EARLIER = ".planning/phases/00-paper"
STALE = "---\nphase: 1\nverified: 2026-01-01T10:00:00Z\nstatus: passed\n---\n"
SECRET = "content of another phase"


DAY = "2026-01-01"


def run_of(*events: Event, research: bool = True) -> RunRecord:
    folders = {"0": EARLIER, "1": DIR, "2": ".planning/phases/02-two"}
    first = started(phase("0"), phase("1"), phase("2"), targets=("1", "2"), completed=("0",), folders=folders,
                    research=research)  # fmt: skip
    told = (first, *events)
    return RunRecord(entries=tuple(Entry(number=n, at="2026-01-01T12:00:00Z", event=e) for n, e in enumerate(told)))


def spawned(folder: Path, run: RunRecord, files: dict[str, str] | None = None, name: str = "1") -> Brief:
    """The brief of a first pass in a repository with these planning files."""
    engine = make_engine(folder)
    write(engine.bench.root, {f"{EARLIER}/SUMMARY.md": SECRET, **(files or {})})
    engine.bench = open_workspace(engine.bench.root, "run-2")
    engine.bench.workspace.snapshot_planning()
    return brief_for(Spawn(phase(name), 0, "tip"), run, (), engine.hands(Told()))


def test_spwn_01_a_pass_is_given_all_it_starts_from(tmp_path: Path) -> None:
    """PRE-05, MTRC-02e: a plan that is there, and what it will cost."""
    made = spawned(tmp_path, run_of(), {f"{DIR}/PLAN.md": plan_text("1", [("letter1.txt", "done")])})

    assert (made.phase.id, made.phase.goal, made.phase.type, made.base) == ("1", "Write the letter.", "mixed", "tip")
    assert (made.feedback, made.cycle, made.pass_threshold, made.skip_research) == ((), 0, 9.0, False)
    assert (made.plan is not None, made.task_types) == (True, "1 auto tasks, 0 checkpoint:human-verify tasks")
    assert (made.estimated_tokens, made.rejected, made.enhanced) == (78_000, 0, False)


def test_pre_05_without_a_plan_there_is_none_and_no_tasks(tmp_path: Path) -> None:
    """PRE-04."""
    made = spawned(tmp_path, run_of())

    assert (made.plan, made.task_types) == (None, "0 auto tasks, 0 checkpoint:human-verify tasks")
    assert made.estimated_tokens == 240_000


def test_spwn_04_finished_phases_are_given_as_paths_and_never_as_content(tmp_path: Path) -> None:
    made = spawned(tmp_path, run_of(passed("1")), name="2")

    assert made.completed_dirs == (EARLIER, DIR)
    assert SECRET not in msgspec.json.encode(made).decode()


def test_spwn_01_of_many_finished_phases_the_newest_are_named_and_the_others_counted(tmp_path: Path) -> None:
    many = [str(n) for n in range(1, 32)]
    first = started(*map(phase, many), completed=tuple(many[:-1]), folders={n: f"p/{n}" for n in many})
    made = spawned(tmp_path, RunRecord(entries=(Entry(number=0, at=f"{DAY}T12:00:00Z", event=first),)), name="31")

    assert made.completed_dirs == tuple(f"p/{n}" for n in range(11, 31))
    assert made.completed_more == 10


@pytest.mark.parametrize("wanted", [True, False])
def test_spwn_03_the_config_switches_research_off(tmp_path: Path, wanted: bool) -> None:
    assert spawned(tmp_path, run_of(research=wanted)).skip_research is not wanted


@pytest.mark.parametrize(
    ("files", "prior", "stale"),
    [
        ({}, False, False),
        ({f"{DIR}/EXECUTION-LOG.md": "done\n"}, True, False),
        ({f"{DIR}/VERIFICATION.md": STALE}, False, True),
        ({f"{DIR}/VERIFICATION.md": "\n" * 5 + STALE}, False, False),
    ],
    ids=["nothing", "PRE-03 a log", "PRE-02 a verification", "a time below the first five lines"],
)
def test_papers_of_an_earlier_run_are_told_of(tmp_path: Path, files: dict[str, str], prior: bool, stale: bool) -> None:
    made = spawned(tmp_path, run_of(), files)

    assert (made.prior_execution, made.stale_verification) == (prior, stale)


def test_pre_01_what_passed_in_this_run_is_left_out_when_it_goes_on() -> None:
    assert list(verified_already(run_of(passed("1")))) == ["Phase 1 already verified in this run -- skipping."]
    assert list(verified_already(run_of())) == []


def test_a_remediation_is_given_what_was_rejected_before_it(tmp_path: Path) -> None:
    """AMB-34."""
    doubted = Story().planned().executed().verified(Retry(step="verify", because="x", rejects="VRFY-03b")).record
    hands = make_engine(tmp_path).hands(Told())
    briefs = [brief_for(Spawn(phase("1"), cycle, "tip"), run_of(), (doubted,), hands) for cycle in (0, 1)]

    assert [made.rejected for made in briefs] == [0, 1]


def test_intg_05b_the_phase_behind_five_uniform_scores_is_looked_at_harder(tmp_path: Path) -> None:
    hands = make_engine(tmp_path).hands(Told())
    runs = [run_of(*(passed(str(n), 9.4) for n in range(count))) for count in (4, 5)]

    assert [brief_for(Spawn(phase("2"), 0, "tip"), run, (), hands).enhanced for run in runs] == [False, True]


@pytest.mark.parametrize("prompt", [research.prompt, planning.prompt], ids=["research", "plan"])
def test_spwn_01_who_prepares_the_phase_is_told_what_is_around_it(prompt: Callable[[PhaseRecord], str]) -> None:
    """PRE-03, PRE-04, MTRC-02e."""
    given = brief(
        completed_dirs=(EARLIER,), prior_execution=True, estimated_tokens=78_000,
        plan=plan(task(), task("01-02", type="checkpoint:human-verify")),
    )  # fmt: skip
    told = prompt(PhaseRecord(start=started(), brief=given))

    assert "No specific requirements mapped. Derive from phase goal and roadmap." in told
    assert all(words in told for words in (EARLIER, "prior_execution_exists: true", "78000 tokens"))
    assert "1 auto tasks, 1 checkpoint:human-verify tasks" in told


def test_mtrc_02e_the_estimate_is_in_the_phase_s_state() -> None:
    made = brief(estimated_tokens=96_000, plan=plan())
    story = Story(made).planned()
    state = state_of(run_of(PhaseStarted(brief=made)), {"1": (story.record,)})

    assert state["phases"]["1"]["estimated_tokens"] == 96_000


def test_mtrc_02e_what_was_announced_is_what_is_kept_though_the_plan_came_later() -> None:
    """MTRC-02e: the plan of the pass costs less than what was announced for a phase without one."""
    made = brief(estimated_tokens=240_000)
    state = state_of(run_of(PhaseStarted(brief=made)), {"1": (Story(made).planned().record,)})

    assert state["phases"]["1"]["estimated_tokens"] == 240_000


@pytest.mark.parametrize(
    ("name", "folders", "wanted"),
    [
        ("1", ("10-late", "11-later", "01-early"), "01-early"),
        ("1", ("10-late", "21-last"), "01-letter-1"),
        ("2.1", ("02.10-far", "02-two", "02.1-near"), "02.1-near"),
    ],
    ids=["never a longer number", "a new one", "decimals by segment"],
)
def test_spwn_05_a_folder_is_found_by_the_number_it_means(name: str, folders: tuple[str, ...], wanted: str) -> None:
    """AMB-14."""
    assert folder_of(Phase(id=name, name=f"Letter {name}"), folders) == wanted
