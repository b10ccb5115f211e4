"""A call that outlived the process which made it: it is taken up where it works, and forgotten once it is answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from autopilot.domain.agent_call import Call, Question, Reply
from autopilot.domain.answers import TaskOpinion, WorkClaim
from autopilot.domain.errors import UsageLimited
from autopilot.engine.perform.agent_calls import StepAgents, heard_calls
from support.engine import FINE, Engine, Told, make_engine
from support.records import RUN, task
from support.repos import git, write

REVIEW = Question(role="mini_verify", prompt="Check.", answer=TaskOpinion, task=task())
WORK = Question(role="execute", prompt="Do.", answer=WorkClaim, task=task())
MESSAGE = "feat(01): 01-01 - title"
PASSED = Reply(outcome="ok", answer='{"pass": true}')


@dataclass
class Held:
    """Holds calls by their ids, each with its question and its folder; remembers what was released."""

    calls: dict[str, tuple[str, str]]
    released: list[str] = field(default_factory=list)

    def place(self, call: str, asked: str) -> str | None:
        question, folder = self.calls.get(call, ("", ""))
        return folder if folder and question == asked else None

    def release(self, call: str) -> None:
        self.calls.pop(call, None)
        self.released.append(call)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return make_engine(tmp_path)


def resumed(engine: Engine, agent: Told, held: Held) -> StepAgents:
    hands = replace(engine.hands(agent), keeping=held)
    return StepAgents(hands, engine.streams, engine.record, stream=engine.stream, resumed=True)


def left_checkout(engine: Engine, files: Mapping[str, str] = MappingProxyType({})) -> str:
    """A checkout as a killed process leaves it: nobody owns it any more."""
    with engine.bench.workspace.checkout(engine.bench.base, files) as folder:
        kept = Path(folder).with_name("left")
        for suffix in ("", ".json"):
            Path(f"{folder}{suffix}").rename(f"{kept}{suffix}")
    return str(kept)


def test_a_question_is_taken_up_in_its_checkout_which_is_gone_afterwards(engine: Engine) -> None:
    engine.begin("mini_verify")
    call, folder = f"{RUN}/1/mini_verify/1", left_checkout(engine)
    agent, held = Told((PASSED,)), Held({call: ("Check.", folder)})

    assert resumed(engine, agent, held).ask(REVIEW).value.passed
    assert [asked.folder for asked in agent.calls] == [folder]
    assert held.released == [call]
    assert not list(Path(folder).parent.iterdir())


def test_another_question_under_the_same_name_gets_a_checkout_of_its_own(engine: Engine) -> None:
    engine.begin("mini_verify")
    folder = left_checkout(engine)
    agent, held = Told((PASSED,)), Held({f"{RUN}/1/mini_verify/1": ("Look.", folder)})

    assert resumed(engine, agent, held).ask(REVIEW).value.passed
    assert agent.calls[0].folder != folder


def test_only_the_repair_of_an_answer_is_taken_up_where_that_is_held(engine: Engine) -> None:
    engine.begin("mini_verify")
    prompts: list[str] = []

    class Dying(Told):
        def call(self, call: Call, tell: Callable[[int], None]) -> Reply:
            prompts.append(call.prompt)
            if len(prompts) > 1:
                raise KeyboardInterrupt
            return super().call(call, tell)

    with pytest.raises(KeyboardInterrupt):
        engine.agents(Dying((Reply(outcome="bad_output", text="prose"),))).ask(REVIEW)
    folder, again = left_checkout(engine), f"{RUN}/1/mini_verify/1.2"
    agent, held = Told((PASSED,)), Held({again: (prompts[1], folder)})

    assert resumed(engine, agent, held).ask(REVIEW).value.passed
    assert [(asked.id, asked.folder) for asked in agent.calls] == [(again, folder)]


def test_work_that_is_still_being_done_is_left_in_its_clone_and_committed_once(engine: Engine) -> None:
    engine.begin("execute")
    folder = engine.bench.workspace.clone(engine.bench.base, {})
    write(Path(folder), {"half.txt": "half\n"})
    held = Held({f"{RUN}/1/execute/1": ("Do.", folder)})

    worked = resumed(engine, Told((FINE,), {"letter.txt": "done\n"}), held).work(WORK, MESSAGE, engine.bench.base)

    assert sorted(file.path for file in worked.change.files) == ["half.txt", "letter.txt"]
    assert held.released == [f"{RUN}/1/execute/1"]


LAID = {".planning/repo-map.json": '{"generated_at": "by the process before"}', ".planning/LEARNINGS.md": "Less.\n"}


@pytest.mark.parametrize("changed", [(), tuple(LAID)], ids=["left alone", "changed"])
def test_only_what_the_agent_changed_since_its_clone_was_laid_out_counts(
    engine: Engine, changed: tuple[str, ...]
) -> None:
    """The map has its date and learnings grow: what a later process would lay there says nothing about the agent."""
    engine.begin("execute")
    folder = engine.bench.workspace.clone(engine.bench.base, LAID)
    held = Held({f"{RUN}/1/execute/1": ("Do.", folder)})
    agent = Told((FINE,), {"letter.txt": "done\n", **dict.fromkeys(changed, "mine\n")})

    worked = resumed(engine, agent, held).work(WORK, MESSAGE, engine.bench.base)

    assert [finding.where for finding in worked.findings] == sorted(changed)


def test_the_same_holds_in_a_checkout(engine: Engine) -> None:
    engine.begin("mini_verify")
    call, folder = f"{RUN}/1/mini_verify/1", left_checkout(engine, LAID)

    resumed(engine, Told((PASSED,)), Held({call: ("Check.", folder)})).ask(REVIEW)

    answer = engine.record.answered(call)
    assert answer is not None
    assert answer.touched == ()


def test_work_nobody_holds_is_ended_before_it_is_kept_aside(engine: Engine) -> None:
    engine.begin("execute")
    folder = engine.bench.workspace.clone(engine.bench.base, {})
    write(Path(folder), {"half.txt": "half\n"})
    held = Held({f"{RUN}/1/execute/1": ("Something else.", folder)})

    worked = resumed(engine, Told((FINE,), {"letter.txt": "done\n"}), held).work(WORK, MESSAGE, engine.bench.base)

    assert [file.path for file in worked.change.files] == ["letter.txt"]
    assert held.released[0] == f"{RUN}/1/execute/1"
    refs = git(engine.bench.root / ".autopilot/repo.git", "for-each-ref", "--format=%(refname)")
    assert "refs/autopilot/interrupted/" in refs


def test_how_long_a_call_took_counts_from_its_beginning(engine: Engine) -> None:
    engine.begin("mini_verify")
    agent = Told((Reply(outcome="ok", answer='{"pass": true}', seconds=500.0),))

    assert engine.agents(agent).ask(REVIEW).seconds == 500.0


def test_only_what_has_its_answer_on_record_is_heard(engine: Engine) -> None:
    """An agent that is not to be had has answered nothing: the same call is made again later."""
    engine.begin("mini_verify")
    with pytest.raises(UsageLimited):
        engine.agents(Told((Reply(outcome="usage_limited"),))).ask(REVIEW)
    assert heard_calls(engine.journal, RUN) == frozenset()

    engine.go_on()
    engine.agents(Told((PASSED,)), resumed=True).ask(REVIEW)
    assert heard_calls(engine.journal, RUN) == {f"{RUN}/1/mini_verify/1"}
