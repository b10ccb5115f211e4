"""The real Claude Code, driven by its adapter against a model service of this machine."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.backends import claude
from autopilot.domain.agent_call import Reply
from autopilot.domain.settings import SandboxChoice
from support.fake_models.script import Script, Tool, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.set_ups import SET_UPS
from support.transcripts import question

pytestmark = [pytest.mark.real, pytest.mark.slow]
SCHEMA = {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]}
ANSWER = SET_UPS["claude"].answer
SAID = Turn(text='All done. {"done": true}', input_tokens=2000, output_tokens=77, cached_tokens=500)


def ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: FakeModels, tier: SandboxChoice = "none", **changes: Any
) -> Reply:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    at_home(monkeypatch, tmp_path / "home", **SET_UPS["claude"].furnish(tmp_path / "home", models.url))
    call = msgspec.structs.replace(question(folder=str(work)), answer_schema=SCHEMA, **changes)
    return agent(claude.BACKEND, tmp_path, tier).call(call, lambda _: None)


def writes(folder: Path) -> tuple[Turn, ...]:
    made = Tool(name="Write", input={"file_path": str(folder / "work/made.txt"), "content": "made\n"})
    ran = Tool(name="Bash", input={"command": "cat made.txt > copy.txt", "description": "copy"})
    return Turn(text="I write.", tools=(made,)), Turn(tools=(ran,))


def test_tools_run_and_the_answer_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels(Script(turn=(*writes(tmp_path), ANSWER), rest=SAID)) as models:
        reply = ask(tmp_path, monkeypatch, models)

    assert (reply.outcome, reply.answer) == ("ok", '{"done": true}')
    assert (tmp_path / "work/copy.txt").read_text() == "made\n"
    assert (reply.commands, reply.observes) == (("cat made.txt > copy.txt",), True)
    assert reply.usage.output_tokens in {150, 227}
    assert reply.usage.cost_usd


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_it_works_in_our_sandbox(tier: SandboxChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels(Script(turn=(*writes(tmp_path), ANSWER), rest=SAID)) as models:
        reply = ask(tmp_path, monkeypatch, models, tier)

    assert (reply.outcome, reply.commands) == ("ok", ("cat made.txt > copy.txt",))
    assert (tmp_path / "work/copy.txt").read_text() == "made\n"


def test_a_reviewer_runs_commands_and_changes_no_file_by_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/made.txt").write_text("before\n")
    with FakeModels(Script(turn=(*writes(tmp_path), ANSWER), rest=SAID)) as models:
        reply = ask(tmp_path, monkeypatch, models, role="verify")

    assert reply.outcome == "ok"
    assert (tmp_path / "work/made.txt").read_text() == "before\n"
    assert reply.commands == ("cat made.txt > copy.txt",)


def test_a_reader_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels(Script(turn=(*writes(tmp_path), ANSWER), rest=SAID)) as models:
        reply = ask(tmp_path, monkeypatch, models, role="plan_check")

    assert (reply.outcome, reply.commands) == ("ok", ())
    assert list((tmp_path / "work").iterdir()) == []


def test_a_rater_answers_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels(Script(rest=Turn(text='{"alignment_score": 9.0}'))) as models:
        reply = ask(tmp_path, monkeypatch, models, role="rate")

    assert reply.answer == '{"alignment_score": 9.0}'


def test_a_conversation_goes_on_and_is_paid_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels(Script(rest=Turn(text='{"done": true}'))) as models:
        first = ask(tmp_path, monkeypatch, models, role="rate")
        second = ask(tmp_path, monkeypatch, models, role="rate", thread=first.thread)

    assert (first.usage.output_tokens, second.usage.output_tokens) == (50, 50)
    assert first.thread is not None
    assert second.thread is not None
    assert (first.thread.id, second.thread.usage.output_tokens) == (second.thread.id, 100)


@pytest.mark.parametrize(
    ("turns", "outcome", "changes"),
    [
        ((Turn(status=429, message="slow down", times=9),), "rate_limited", {}),
        ((Turn(status=500, times=2), SAID), "overloaded", {}),
        ((Turn(status=401, message="bad key", times=9),), "auth", {}),
        (
            (Turn(status=400, message="prompt is too long: 300000 tokens > 200000 maximum", times=9),),
            "context_exhausted",
            {},
        ),
        ((Turn(status=400, message="Your credit balance is too low", times=9),), "usage_limited", {}),
        ((Turn(tools=(Tool(name="Bash", input={"command": "true"}),), times=9),), "limit_hit", {"turns": 1}),
        ((Turn(hang=60.0),), "timeout", {"seconds": 6}),
        ((Turn(text="x" * 80, stall=60.0),), "timeout", {"seconds": 6}),
    ],
    ids=["429", "500 burst", "401", "too long", "no credit", "turn cap", "hang", "stall"],
)
def test_trouble_has_its_name(
    turns: tuple[Turn, ...], outcome: str, changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = time.monotonic()
    with FakeModels(Script(turn=turns, rest=SAID)) as models:
        reply = ask(tmp_path, monkeypatch, models, **{"role": "rate", "seconds": 40, **changes})

    assert (reply.outcome, reply.answer) == (outcome, None)
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    "turn", [Turn(text="x" * 80, disconnect=True), Turn(text="x" * 80, garbage=True)], ids=["disconnect", "garbage"]
)
def test_what_the_program_mends_by_itself_is_no_trouble(
    turn: Turn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeModels(Script(turn=(turn,), rest=SAID)) as models:
        reply = ask(tmp_path, monkeypatch, models, role="rate", seconds=40)

    assert (reply.outcome, reply.answer) == ("ok", '{"done": true}')
