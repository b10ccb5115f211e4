"""What a call costs is told by its agent, or looked up, or unknown; never zero for want of knowing."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.wrappers import PricedAgent
from autopilot.domain.agent_call import Call, PhaseRef, Reply
from autopilot.domain.evidence import Usage
from autopilot.planning.start.prices import cost_of

CALL = Call(
    id="r/1/plan/1", role="plan", prompt="p", answer_schema={}, phase=PhaseRef(id="1", name="n", type="ui", dir="d")
)
TOKENS = Usage(input_tokens=100_000, output_tokens=1_000)


@dataclass(frozen=True, slots=True)
class Says:
    reply: Reply

    def call(self, _call: Call, _tell: Callable[[int], None]) -> Reply:
        return self.reply


def asked(usage: Usage, *, model: str | None = "m", price: float | None = 0.25) -> Usage:
    reply = Reply(outcome="ok", usage=usage, model=model)
    return PricedAgent(Says(reply), lambda _model, _usage: price).call(CALL, lambda _pid: None).usage


def test_dollars_that_an_agent_tells_are_taken_as_told() -> None:
    told = Usage(input_tokens=1, output_tokens=1, cost_usd=3.5)
    assert asked(told) == told


def test_dollars_it_does_not_tell_come_from_the_list_and_say_so() -> None:
    known = asked(TOKENS)
    assert (known.cost_usd, known.by_list) == (0.25, True)


@pytest.mark.parametrize(("model", "price"), [(None, 0.25), ("m", None)], ids=["no-model", "no-price"])
def test_what_is_not_known_stays_unknown(model: str | None, price: float | None) -> None:
    assert asked(TOKENS, model=model, price=price) == TOKENS


def test_the_list_knows_models_by_the_names_programs_give_them() -> None:
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
    assert cost_of("claude-sonnet-4-5-20250929", TOKENS) == pytest.approx(0.315)
    assert cost_of("no-such-model", TOKENS) is None


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**6))
def test_cached_tokens_never_make_a_call_dearer(read: int, cached: int, written: int) -> None:
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
    usage = Usage(input_tokens=read, output_tokens=written, cached_tokens=cached)
    plain = Usage(input_tokens=read, output_tokens=written)
    assert (cost_of("gpt-5.1-codex", usage) or 0) <= (cost_of("gpt-5.1-codex", plain) or 0)


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
def test_without_tokens_the_list_is_not_even_opened(usage: Usage) -> None:
    assert cost_of("gpt-5.1-codex", usage, lambda: pytest.fail("it was opened")) is None


def test_without_a_list_nothing_is_known() -> None:
    assert cost_of("gpt-5.1-codex", TOKENS, lambda: None) is None
