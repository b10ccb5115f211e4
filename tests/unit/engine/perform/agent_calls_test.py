"""Questions to agents: nothing is asked twice, nothing is lost, and what is no answer is none."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.domain.agent_call import Call, Objection, Question, Reply
from autopilot.domain.answers import ResearchClaim, TaskOpinion, WorkClaim
from autopilot.domain.codemap import SHOWN_PATH, NoAtlas
from autopilot.domain.errors import AgentUnavailable, Interrupted, NoAnswer, UsageLimited
from autopilot.domain.events import AgentAnswered, AgentStarted, Entry
from autopilot.engine.perform.agent_calls import StepAgents, attempt
from autopilot.engine.perform.visibility import LEARNINGS
from autopilot.journal.diagnostic_files import FileDiagnostics
from support.engine import FINE, Engine, Told, make_engine
from support.records import DIR, RUN, Story, brief, task
from support.repos import git

RESEARCH = Question(role="research", prompt="Look.", answer=ResearchClaim)
REVIEW = Question(role="mini_verify", prompt="Check.", answer=TaskOpinion, task=task())
WORK = Question(role="execute", prompt="Do.", answer=WorkClaim, task=task())
PROSE = Reply(outcome="bad_output", text="It is all fine.")
MESSAGE = "feat(01): 01-01 - title"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return make_engine(tmp_path)


def answers(engine: Engine) -> list[AgentAnswered]:
    return [e.event for e in engine.record.entries if isinstance(e.event, AgentAnswered)]


def test_an_answer_is_on_record_before_it_is_used(engine: Engine) -> None:
    engine.begin("research")
    agent = Told((Reply(outcome="ok", answer='{"key_findings": ["a"]}'),), {f"{DIR}/RESEARCH.md": "found\n"})

    answered = engine.agents(agent).ask(RESEARCH)

    assert (answered.value.key_findings, answered.wrote) == (("a",), {f"{DIR}/RESEARCH.md": "found\n"})
    assert [type(e.event) for e in engine.record.entries[1:]] == [AgentStarted, AgentAnswered]
    assert agent.calls[0].id == f"{RUN}/1/research/1"
    assert not Path(agent.calls[0].folder).exists()


def test_an_answer_on_record_is_not_asked_for_again(engine: Engine) -> None:
    engine.begin("research")
    first = engine.agents(Told((FINE,), {f"{DIR}/RESEARCH.md": "found\n"})).ask(RESEARCH)
    agent = Told()

    again = engine.agents(agent, resumed=True).ask(RESEARCH)

    assert (again, agent.calls) == (first, [])


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (PROSE, "there was no JSON object in it"),
        (Reply(outcome="ok", answer='{"task_id": "x"}'), "missing required field `pass`"),
        (Reply(outcome="ok", answer='{"pass": "perhaps"}'), "pass"),
        (Reply(outcome="ok", answer="{torn"), "it is no valid JSON"),
    ],
    ids=["prose", "a field is missing", "wrong type", "torn"],
)
def test_an_answer_that_does_not_fit_is_repaired_once(engine: Engine, reply: Reply, problem: str) -> None:
    """RET-09: the agent itself is asked for its answer alone, and does not do the work again."""
    engine.begin("mini_verify")
    agent = Told((reply, Reply(outcome="ok", answer='{"pass": true}')))

    assert engine.agents(agent).ask(REVIEW).value.passed
    assert [call.id[-2:] for call in agent.calls] == ["/1", ".2"]
    assert agent.calls[1].prompt.startswith("Your last answer could not be used: ")
    assert problem in agent.calls[1].prompt
    assert agent.calls[1].prompt.endswith("Check.")


def test_after_one_repair_there_is_no_answer(engine: Engine) -> None:
    engine.begin("mini_verify")
    agent = Told((PROSE,))

    with pytest.raises(NoAnswer, match="bad_output"):
        engine.agents(agent).ask(REVIEW)

    assert len(agent.calls) == 2


def test_bud_02_an_answer_over_its_budget_is_cut_to_its_json_and_told(engine: Engine) -> None:
    engine.begin("mini_verify")
    wordy = Reply(outcome="ok", answer='{"pass": true}', text="talk\n" * 31 + '{"pass": true}', lines=400)

    assert engine.agents(Told((wordy,))).ask(REVIEW).value.passed
    (heard,) = answers(engine)
    assert (heard.answer, heard.text) == ('{"pass": true}', "")
    assert heard.issues == ("Agent mini_verify exceeded budget (400 > 30 lines). Truncating to JSON/SUMMARY only.",)


def test_bud_02_of_a_long_answer_without_json_the_last_lines_are_read(engine: Engine) -> None:
    engine.begin("mini_verify")
    prose = Reply(outcome="bad_output", text="\n".join(f"line {n}" for n in range(60)), lines=60)

    with pytest.raises(NoAnswer):
        engine.agents(Told((prose,))).ask(REVIEW)

    assert [heard.text.splitlines()[0] for heard in answers(engine)] == ["line 55", "line 55"]


def test_bud_02_what_a_breakdown_printed_is_no_answer_and_has_no_budget(engine: Engine) -> None:
    engine.begin("mini_verify")
    broken = Reply(outcome="crashed", text="frame\n" * 90 + "oh", lines=90)

    with pytest.raises(NoAnswer) as silence:
        engine.agents(Told((broken,))).ask(REVIEW)

    assert silence.value.detail == "frame\nframe\nframe\nframe\noh"
    assert (answers(engine)[0].text, answers(engine)[0].issues) == (broken.text, ())


@pytest.mark.parametrize(
    "said",
    ['{"context_exhausted": true}', '{"issues_detected": ["context_exhaustion: half of it is missing"]}'],
    ids=["as a field", "as an issue"],
)
def test_ctxe_01_work_its_agent_had_to_leave_off_is_kept_aside_and_is_no_answer(engine: Engine, said: str) -> None:
    engine.begin("execute")
    agent = Told((Reply(outcome="ok", answer=said),), {"half.txt": "half\n"})

    with pytest.raises(NoAnswer, match="context_exhausted"):
        engine.agents(agent).work(WORK, MESSAGE, engine.bench.base)

    assert len(agent.calls) == 1
    refs = git(engine.bench.root / ".autopilot/repo.git", "for-each-ref", "--format=%(refname)")
    assert "refs/autopilot/interrupted/" in refs


def capitals(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    shouted = answer["task_id"].isupper()
    return (Objection(reminder="Do not shout.", issue=f"shouted {answer['task_id']}"),) if shouted else ()


QUIETLY = replace(REVIEW, objections=capitals)
LOUD = Reply(outcome="ok", answer='{"pass": true, "task_id": "A"}')
QUIET = Reply(outcome="ok", answer='{"pass": true, "task_id": "a"}')


@pytest.mark.parametrize(
    ("replies", "calls", "issues"),
    [((QUIET,), 1, ()), ((LOUD, QUIET), 2, ()), ((LOUD, LOUD), 2, ("shouted A",))],
    ids=["nothing wrong", "mended", "wrong twice"],
)
def test_an_answer_with_something_wrong_is_asked_for_again_once_and_then_taken(
    engine: Engine, replies: tuple[Reply, ...], calls: int, issues: tuple[str, ...]
) -> None:
    engine.begin("mini_verify")
    agent = Told(replies)

    assert engine.agents(agent).ask(QUIETLY).issues == issues
    assert len(agent.calls) == calls
    assert [call.prompt.startswith("Do not shout.") for call in agent.calls] == [False, True][:calls]


@pytest.mark.parametrize(
    ("watched", "observed"), [((True,), ("ls",)), ((False,), None), ((True, False), None)], ids=str
)
def test_commands_count_as_observed_only_where_every_call_was_watched(
    engine: Engine, watched: tuple[bool, ...], observed: tuple[str, ...] | None
) -> None:
    engine.begin("mini_verify")
    first = LOUD if len(watched) > 1 else QUIET
    replies = [msgspec.structs.replace(first, commands=("ls",), observes=seen) for seen in watched]

    answered = engine.agents(Told(tuple(replies))).ask(QUIETLY)

    assert (answered.observed, answered.seconds) == (observed, float(len(watched)))


class Reader(Told):
    """Keeps what it finds of the learnings, or of another file."""

    found: str = "never asked"
    sought: str = LEARNINGS

    def call(self, call: Call, tell: Callable[[int], None]) -> Reply:
        path = Path(call.folder) / self.sought
        self.found = path.read_text(encoding="utf-8") if path.exists() else "none"
        return super().call(call, tell)


def test_lrng_02_an_executor_finds_the_learnings_in_its_folder_and_a_reviewer_does_not(engine: Engine) -> None:
    FileDiagnostics(engine.bench.root / ".autopilot").learn("### Phase 0 failure\n")
    worker, reviewer = Reader(writes={"letter.txt": "done\n"}), Reader((QUIET,))

    engine.begin("execute")
    worked = engine.agents(worker).work(WORK, MESSAGE, engine.bench.base)
    engine.agents(reviewer).ask(REVIEW)

    assert ("### Phase 0 failure" in worker.found, reviewer.found) == (True, "none")
    assert ([f.path for f in worked.change.files], worked.findings) == (["letter.txt"], ())


class MapReader(Reader):
    sought = SHOWN_PATH


class Papers(NoAtlas):
    """A map that says which commit it is of."""

    def paper(self, commit: str) -> str:
        return f"map of {commit}"


def test_rmap_05_an_executor_finds_the_map_of_its_commit_and_a_reviewer_does_not(engine: Engine) -> None:
    engine.brief = msgspec.structs.replace(engine.brief, repo_map_path=".autopilot/repo-map.json")
    worker, reviewer = MapReader(writes={"letter.txt": "done\n"}), MapReader((QUIET,))
    engine.begin("execute")

    def agents(agent: Told) -> StepAgents:
        hands = replace(engine.hands(agent), atlas=Papers())
        return StepAgents(hands, engine.streams, engine.record, stream=engine.stream, resumed=False)

    worked = agents(worker).work(WORK, MESSAGE, engine.bench.base)
    agents(reviewer).ask(REVIEW)

    assert (worker.found, reviewer.found) == (f"map of {engine.bench.base}", "none")
    assert ([f.path for f in worked.change.files], worked.findings) == (["letter.txt"], ())


def cut(stream: str, entry: Entry) -> None:
    """The process ends right behind the journal's entry of an answer."""
    if isinstance(entry.event, AgentAnswered):
        raise Interrupted


def test_a_repair_that_a_crash_prevented_is_all_that_is_asked_afterwards(engine: Engine) -> None:
    engine.begin("mini_verify")
    engine.listeners = (cut,)
    with pytest.raises(Interrupted):
        engine.agents(Told((PROSE,))).ask(REVIEW)
    engine.listeners = ()
    agent = Told((Reply(outcome="ok", answer='{"pass": true}'),))

    assert engine.agents(agent, resumed=True).ask(REVIEW).value.passed
    assert [call.id[-2:] for call in agent.calls] == [".2"]


@pytest.mark.parametrize("outcome", ["timeout", "crashed", "limit_hit", "context_exhausted"])
def test_a_breakdown_is_no_answer_and_is_not_repaired(engine: Engine, outcome: str) -> None:
    engine.begin("mini_verify")
    agent = Told((msgspec.convert({"outcome": outcome, "answer": '{"pass": true}'}, Reply),))

    with pytest.raises(NoAnswer, match=outcome):
        engine.agents(agent).ask(REVIEW)

    assert len(agent.calls) == 1


@pytest.mark.parametrize(
    ("outcome", "error", "code"), [("usage_limited", UsageLimited, 22), ("auth", AgentUnavailable, 3)]
)
def test_an_agent_that_is_not_to_be_had_is_asked_again_later(
    engine: Engine, outcome: str, error: type[UsageLimited | AgentUnavailable], code: int
) -> None:
    engine.begin("mini_verify")
    away = Told((msgspec.convert({"outcome": outcome, "resets_at": "noon"}, Reply),))
    with pytest.raises(error) as stopped:
        engine.agents(away).ask(REVIEW)
    assert (stopped.value.exit_code, bool(stopped.value.do)) == (code, True)

    engine.go_on()
    agent = Told((Reply(outcome="ok", answer='{"pass": true}'),))
    assert engine.agents(agent, resumed=True).ask(REVIEW).value.passed
    assert agent.calls[0].attempt == 1


def test_work_becomes_one_commit_that_names_its_step(engine: Engine) -> None:
    engine.begin("execute")

    worked = engine.agents(Told((FINE,), {"letter.txt": "done\n"})).work(WORK, MESSAGE, engine.bench.base)

    body = git(engine.bench.root / ".autopilot/repo.git", "log", "-1", "--format=%B", worked.change.commit)
    assert [f.path for f in worked.change.files] == ["letter.txt"]
    assert body == f"{MESSAGE}\n\nAutopilot-Run: {RUN}\nAutopilot-Step: {RUN}/1/execute/1"


def test_planning_files_a_worker_touched_are_left_out_and_told(engine: Engine) -> None:
    engine.begin("execute")
    agent = Told((FINE,), {"letter.txt": "done\n", f"{DIR}/PLAN.md": "mine\n", ".planning/ROADMAP.md": "mine\n"})

    worked = engine.agents(agent).work(WORK, MESSAGE, engine.bench.base)

    assert [f.path for f in worked.change.files] == ["letter.txt"]
    assert [f.where for f in worked.findings] == [".planning/ROADMAP.md", f"{DIR}/PLAN.md"]
    assert answers(engine)[0].wrote == {}


def test_a_commit_made_before_a_crash_is_found_and_nothing_is_asked(engine: Engine) -> None:
    engine.begin("execute")
    first = engine.agents(Told((FINE,), {"letter.txt": "done\n"})).work(WORK, MESSAGE, engine.bench.base)
    agent = Told((FINE,), {"letter.txt": "something else\n"})

    again = engine.agents(agent, resumed=True).work(WORK, MESSAGE, engine.bench.base)

    assert (again.change, agent.calls) == (first.change, [])


def cut_off_after_the_answer(engine: Engine) -> None:
    engine.begin("execute")
    engine.listeners = (cut,)
    with pytest.raises(Interrupted):
        engine.agents(Told((FINE,), {"letter.txt": "done\n"})).work(WORK, MESSAGE, engine.bench.base)
    engine.listeners = ()


def test_work_answered_before_a_crash_is_committed_as_it_lies(engine: Engine) -> None:
    cut_off_after_the_answer(engine)
    agent = Told()

    worked = engine.agents(agent, resumed=True).work(WORK, MESSAGE, engine.bench.base)

    assert ([f.path for f in worked.change.files], agent.calls) == (["letter.txt"], [])


def test_after_a_reboot_half_written_work_is_kept_aside_and_done_again(engine: Engine) -> None:
    cut_off_after_the_answer(engine)
    engine.boot = "another boot"
    agent = Told((FINE,), {"other.txt": "again\n"})

    worked = engine.agents(agent, resumed=True).work(WORK, MESSAGE, engine.bench.base)

    assert [f.path for f in worked.change.files] == ["other.txt"]
    refs = git(engine.bench.root / ".autopilot/repo.git", "for-each-ref", "--format=%(refname)")
    assert "refs/autopilot/interrupted/" in refs


def test_the_newest_answer_to_a_call_counts() -> None:
    record = Story().begin("execute").answer("c", text="old").answer("c", text="new").record

    answer = record.answered("c")
    assert answer is not None
    assert answer.text == "new"


def test_reviewers_are_asked_of_the_reviewing_agent(engine: Engine) -> None:
    """VRFY-06v, DBG-01."""
    worker, other = Told(), Told()
    hands = engine.hands(worker, other)

    assert hands.agent_for("execute") is hands.agent_for("debug") is hands.agent_for("plan") is worker
    assert hands.agent_for("verify") is hands.agent_for("rate") is hands.agent_for("plan_check") is other


def test_attempts_are_counted_per_role_and_task_without_repairs() -> None:
    told = (
        Story()
        .answer("r/1/execute/1", role="execute", task="01-01")
        .answer("r/1/execute/1.2", role="execute", task="01-01")
    )
    told.answer("r/1/execute/2", role="execute", task="01-02").answer("r/1/fix/1", role="debug", task="01-01")

    assert attempt(told.record, "execute", "01-01", "r/1/execute/3") == 2
    assert attempt(told.record, "execute", "01-01", "r/1/execute/1.2") == 1
    assert attempt(told.record, "debug", "01-01", "r/1/fix/2") == 2
    assert attempt(told.record, "verify", None, "r/1/verify/1") == 1


def test_attempts_go_on_over_the_passes_of_a_phase() -> None:
    record = Story(brief(earlier={"verify@": 2, "execute@01-01": 1})).record

    assert attempt(record, "verify", None, "r/1/verify/3") == 3
    assert attempt(record, "execute", "01-01", "x") == 2


def test_what_no_commit_can_hold_is_a_finding_also_after_a_crash(engine: Engine) -> None:
    engine.begin("execute")
    agent = Linking((FINE,), {"a.txt": "work\n"})
    worked = engine.agents(agent).work(WORK, MESSAGE, engine.bench.base)

    again = engine.agents(Told(), resumed=True).work(WORK, MESSAGE, engine.bench.base)

    assert [(f.rule, f.where, f.severity) for f in worked.findings] == [("not-committed", ".gitmodules", "blocker")]
    assert again.findings == worked.findings


class Linking(Told):
    """Leaves a link that git refuses to take."""

    def call(self, call: Call, started: Callable[[int], None]) -> Reply:
        Path(call.folder, ".gitmodules").symlink_to("a.txt")
        return super().call(call, started)
