"""Reading a stream: what is told is counted once, and nothing a program prints can break the reader."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.agents import call_log as account
from autopilot.agents.backend import Backend
from autopilot.agents.backends.acp import AcpReader
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.agents.call_log import Account, StreamReader
from autopilot.agents.outcomes import Ending, Meanings, outcome_of
from autopilot.agents.stream_events import (
    Failed,
    Finished,
    Noticed,
    Reopened,
    Returned,
    Said,
    Spent,
    StreamEvent,
    Used,
    Windowed,
)
from autopilot.domain.agent_call import Outcome
from autopilot.domain.evidence import Usage
from support.players import STREAMS

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KNOWN_KEYS = sorted(
    {key for stream in STREAMS.values() for event in stream for key in (*event, *map(str, event.values()))}
)


def after(*events: StreamEvent) -> Account:
    kept = Account()
    for event in events:
        kept.take(event)
    return kept


def test_parts_are_added_once_and_a_sum_replaces_them() -> None:
    part = Spent(input_tokens=5, output_tokens=1, part="m1")
    other = Spent(input_tokens=2, part="m2")

    assert after(part, part, other).spent == Usage(input_tokens=7, output_tokens=1)
    assert after(part, other, Spent(input_tokens=6, cost_usd=0.5)).spent == Usage(input_tokens=6, cost_usd=0.5)
    assert after().spent == Usage()


def test_pieces_of_a_message_are_joined_until_a_tool_is_called() -> None:
    said = after(Said(text="a", of="m"), Said(text="b", of="m"), Used(call="t", what="ls"), Said(text="c", of="m"))

    assert said.text == "c"
    assert after(Said(text="a", of="m"), Said(text="b", of="m")).text == "ab"


def test_only_commands_that_ran_and_came_back_count() -> None:
    used = [Used(call=name, what=name, command=name) for name in ("ran", "refused", "cut off")]

    assert after(*used, Returned(call="ran"), Returned(call="refused", ran=False)).commands == ("ran",)
    assert after(used[0], Returned(call="ran"), Returned(call="ran", ran=False)).commands == ()


def test_a_turn_that_is_tried_again_is_not_over() -> None:
    kept = after(Failed(text="500"), Finished(), Reopened(), Noticed(text="again"))

    assert (kept.over, kept.failure, kept.notice) == (False, None, "again")


def test_the_last_action_is_for_those_who_watch() -> None:
    assert after(Used(call="t", what="Bash pytest -q")).action == "Bash pytest -q"
    assert len(after(Used(call="t", what="x" * 999)).action) == account.SHOWN


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (Failed(text="", status=401), "auth"),
        (Failed(text="", status=403), "auth"),
        (Failed(text="", status=402), "usage_limited"),
        (Failed(text="", status=413), "context_exhausted"),
        (Failed(text="", status=429), "rate_limited"),
        (Failed(text="You have hit your limit", status=429), "usage_limited"),
        (Failed(text="quota exceeded", status=503), "overloaded"),
        (Failed(text="", status=529), "overloaded"),
        (Failed(text="read ECONNRESET"), "overloaded"),
        (Failed(text="Please run /login"), "auth"),
        (Failed(text="maximum context length is 200000 tokens", status=400), "context_exhausted"),
        (Failed(text="model not found", status=404), "crashed"),
        (Failed(text="", kind="own"), "limit_hit"),
        (Failed(text="something else"), "crashed"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_trouble_is_named_by_kind_then_status_then_words(failure: Failed, outcome: Outcome) -> None:
    kept = after(failure, Finished())

    assert outcome_of(kept, Ending(exit_code=0), Meanings(kinds={"own": "limit_hit"}), answered=True) == outcome


def test_a_rejected_window_makes_a_429_a_usage_limit_and_a_warning_does_not() -> None:
    ends = [
        outcome_of(
            after(Windowed(rejected=no), Failed(text="", status=429)), Ending(exit_code=1), Meanings(), answered=False
        )
        for no in (True, False)
    ]

    assert ends == ["usage_limited", "rate_limited"]


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        (Ending(exit_code=None), "timeout"),
        (Ending(exit_code=0), "crashed"),
        (Ending(exit_code=0, stderr="401 in a tool's output"), "crashed"),
        (Ending(exit_code=1, stderr="Error: not logged in"), "auth"),
        (Ending(exit_code=7), "limit_hit"),
        (Ending(exit_code=-11), "crashed"),
        (Ending(exit_code=-9, interruption="killed"), "cancelled"),
        (Ending(exit_code=7, interruption="killed"), "cancelled"),
        (Ending(exit_code=None, interruption="the sandbox did not start"), "cancelled"),
    ],
)
def test_a_program_that_told_no_result_is_judged_by_its_end(ending: Ending, outcome: Outcome) -> None:
    assert outcome_of(after(Said(text="{}")), ending, Meanings(exits={7: "limit_hit"}), answered=True) == outcome


def test_a_line_beyond_all_measure_is_skipped_and_reported() -> None:
    reader = StreamReader(BY_NAME["codex"].reader())
    for _ in range(account.LONGEST_LINE // 1_000_000 + 2):
        reader.feed(b"x" * 1_000_000)
    reader.feed(b'\n{"type":"thread.started","thread_id":"s"}\n')

    assert (reader.account.session, len(reader.issues)) == ("s", 1)
    assert "longer than" in reader.issues[0]


def test_a_last_line_without_its_end_is_read_and_a_banner_is_no_issue() -> None:
    reader = StreamReader(BY_NAME["codex"].reader())
    reader.feed(b'  welcome \xe2\x97\x8f\n\n{"type":"thread.started","thread_id":"s"}')
    reader.close()

    assert (reader.account.session, reader.issues) == ("s", [])


@pytest.mark.parametrize("reader", [*(b.reader for b in BY_NAME.values()), AcpReader], ids=[*BY_NAME, "acp"])
@given(
    events=st.lists(st.dictionaries(st.sampled_from(KNOWN_KEYS), ANY_JSON | st.sampled_from(KNOWN_KEYS)), max_size=4)
)
def test_events_of_any_shape_are_survived(reader: Callable[[], account.Parse], events: list[dict[str, object]]) -> None:
    stream = StreamReader(reader())
    stream.feed(b"\n".join(msgspec.json.encode(event) for event in events) + b"\n")

    assert stream.issues == []


@pytest.mark.parametrize("backend", BY_NAME.values(), ids=list(BY_NAME))
@settings(max_examples=20)
@given(data=st.data())
def test_a_stream_cut_anywhere_is_never_more_than_was_told(backend: Backend, data: st.DataObject) -> None:
    whole = b"\n".join(map(msgspec.json.encode, STREAMS[backend.name])) + b"\n"
    cut = data.draw(st.integers(0, whole.rstrip().rfind(b"\n")))
    stream = StreamReader(backend.reader())
    stream.feed(whole[:cut])

    assert set(stream.account.commands) <= {"ls"}
    assert not stream.account.over
