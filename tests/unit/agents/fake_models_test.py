"""The fake model service keeps to the formats of the services it stands for, and fails as it is told to."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from support.fake_models.script import Script, Tool, Turn, script_of
from support.fake_models.server import FakeModels
from support.waiting import PATIENCE_S

WRITE = Tool(name="write", input={"path": "a.txt"})
TURN = Turn(text="Hello there.", tools=(WRITE,), input_tokens=7, output_tokens=3, cached_tokens=2)
PATHS = ["/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent"]
STREAMS = [*PATHS[:3], "/v1beta/models/m:streamGenerateContent?alt=sse"]


def post(models: FakeModels, path: str, **body: Any) -> bytes:
    request = urllib.request.Request(f"{models.url}{path}", json.dumps({"tools": [1], **body}).encode())
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        read = answer.read()
        assert isinstance(read, bytes)
        return read


@pytest.mark.parametrize("path", PATHS)
def test_a_whole_answer_has_text_call_and_usage(path: str) -> None:
    with FakeModels(Script(turn=(TURN,))) as models:
        text = json.dumps(json.loads(post(models, path)))

    assert "Hello there." in text
    assert '\\"a.txt\\"' in text or '"a.txt"' in text
    assert all(f": {number}" in text for number in (7, 3, 2))


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_is_the_same_answer_in_events(path: str) -> None:
    with FakeModels(Script(turn=(TURN,))) as models:
        events = post(models, path, stream=True).decode().split("\n\n")
        data = [event.partition("data: ")[2] for event in events if event.strip()]

    whole = "".join(line for line in data if line != "[DONE]")
    assert len(data) > 1
    assert all(json.loads(line) for line in data if line != "[DONE]")
    assert all(part in whole for part in ("Hello", "there.", "a.tx"))


@pytest.mark.parametrize("path", PATHS)
def test_an_error_comes_with_its_headers_and_then_the_next_turn(path: str) -> None:
    limited = Turn(status=429, message="slow down", headers={"retry-after": "7"})
    with FakeModels(Script(turn=(limited, TURN))) as models:
        with pytest.raises(urllib.error.HTTPError) as raised:
            post(models, path)
        again = post(models, path)

    assert (raised.value.code, raised.value.headers["retry-after"]) == (429, "7")
    assert b"slow down" in raised.value.read()
    assert b"Hello there." in again


def cut_off(models: FakeModels) -> None:
    post(models, "/v1/messages")


def half(models: FakeModels) -> None:
    assert b"message_stop" not in post(models, "/v1/messages", stream=True)


def spoilt(models: FakeModels) -> None:
    assert b"\xff\xfe" in post(models, "/v1/messages", stream=True)


@pytest.mark.parametrize(
    ("turn", "check", "error"),
    [
        (Turn(hang=0.1), cut_off, http.client.RemoteDisconnected),
        (Turn(text="x" * 50, disconnect=True), half, None),
        (Turn(text="x" * 50, garbage=True), spoilt, None),
    ],
    ids=["hangs before the headers", "drops the line", "sends garbage"],
)
def test_it_fails_as_written(turn: Turn, check: Callable[[FakeModels], None], error: type[Exception] | None) -> None:
    with FakeModels(Script(turn=(turn,))) as models:
        if error is None:
            check(models)
        else:
            with pytest.raises(error):
                check(models)


def test_requests_without_tools_use_up_no_turn() -> None:
    with FakeModels(script_of('[[turn]]\ntext = "first"\ntimes = 2')) as models:
        aside = post(models, "/v1/messages", tools=[])
        answers = [post(models, "/v1/messages") for _ in range(3)]

    assert b"first" not in aside
    assert [b"first" in answer for answer in answers] == [True, True, False]
    assert len(models.main_requests) == 3


def test_it_listens_on_this_machine_alone() -> None:
    with FakeModels(Script()) as models:
        assert models.url.startswith("http://127.0.0.1:")
