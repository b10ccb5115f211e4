"""Targets for what agents' programs print: answers, events, complaints, and recordings of them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from autopilot.agents.answer_parsing import extract, last_object
from autopilot.agents.backend import Ask, Backend
from autopilot.agents.backends import acp
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.agents.call_log import StreamReader
from autopilot.agents.cli_agent import StreamTalk
from autopilot.agents.cli_agent import reply_of as told_reply
from autopilot.agents.exec_agent import reply_of as printed_reply
from autopilot.agents.json_fields import amount
from autopilot.agents.replay import played
from autopilot.agents.reset_times import FURTHEST, epoch_time, reset_time
from autopilot.agents.scripted import ScriptedAgent
from autopilot.agents.transcripts import path_of, recorded
from autopilot.domain import answers
from autopilot.domain.agent_call import Reply
from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.events import AgentAnswered
from autopilot.domain.people import Asked, idea_in, meant, picked
from autopilot.domain.process import Ran
from autopilot.domain.user_answers import read_lines, written
from autopilot.engine.perform import agent_calls as asking
from autopilot.journal import codec
from autopilot.text.numbers import number_in
from autopilot.text.redact import Redactor
from fuzz.places import scratch
from support.transcripts import question

Target = Callable[[bytes], None]
NOW = datetime(2026, 2, 9, 14, 30, tzinfo=UTC)
TYPES = tuple(kind for kind in vars(answers).values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct))
ACP = acp.backend(("agent",))
BACKENDS = {**BY_NAME, "acp": ACP}


def fuzz_exec_answers(data: bytes) -> None:
    """What is taken for the answer is one JSON object, stands in the text, and is found in it again."""
    text = data.decode(errors="replace")
    found = last_object(text)
    extract(text)
    if found is not None:
        assert found in text
        assert last_object(found) == found
        assert isinstance(json.loads(found, parse_int=str), dict)


def fuzz_exec_replies(data: bytes) -> None:
    """The first byte is the exit code; whatever was printed, the reply can be journalled and read again."""
    code, printed = (data[0] if data else 0), data[1:]
    out, _, err = printed.partition(b"\0\0")
    for exit_code in (code, None):
        _stored(printed_reply(Ran(exit_code=exit_code, stdout=out, stderr=err, seconds=1.0)))


def fuzz_typed_answers(data: bytes) -> None:
    """An answer of every role is a value of its type or is said to be none; a value can be stored."""
    text = data.decode(errors="replace")
    reply = Reply(outcome="ok", answer=last_object(text) or text)
    event = asking._answered(question(), reply, 1.0)
    for kind in TYPES:
        value, problem = asking._value(event, kind)
        assert (value is None) == bool(problem)
        if value is not None:
            msgspec.json.encode(value)
            asking._object(event, kind)


def fuzz_reset_times(data: bytes) -> None:
    """A time that is read is near, and in UTC."""
    text = data.decode(errors="replace")
    found = reset_time(text, NOW, UTC)
    assert found is None or (abs(found - NOW) <= FURTHEST and found.tzinfo is UTC)
    for word in text.split()[:5]:
        if (number := amount(number_in(word))) is not None:
            epoch_time(number)


def fuzz_recordings(data: bytes) -> None:
    """A recording that is whole is played; anything else is none."""
    path = path_of(scratch(), "r/1/plan/1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    entry = recorded(scratch(), "r/1/plan/1")
    if entry is not None:
        _stored(played(question(), entry))


def fuzz_scripts(data: bytes) -> None:
    path = scratch() / "script.toml"
    path.write_bytes(data)
    try:
        ScriptedAgent.from_file(path)
    except ConfigInvalid:
        return


def fuzz_typed_words(data: bytes) -> None:
    """What a person types: lines of answers are written back as they were read."""
    text = data.decode(errors="replace")
    asked = Asked(key="k", phase="1", text="?", options=("a", "b"))
    meant(asked, text)
    idea_in(text)
    assert all(1 <= n <= 3 for n in picked(text, 3))
    for line in read_lines(text.splitlines(), "1"):
        if "\n" not in line.text and "\r" not in line.text:
            assert len(list(read_lines([written(line)]))) == 1


def fuzz_secrets(data: bytes) -> None:
    """JSON stays JSON when secrets are taken out of it."""
    text = data.decode(errors="replace")
    redact = Redactor.of({"MY_TOKEN": "hush-hush-hush", "PATH": "/usr/bin"})
    redact(text)
    found = last_object(text)
    if found is not None and extract(found).answer is not None:
        assert last_object(redact(found)) is not None


def stream(backend: Backend) -> Target:
    """Events in pieces of any size: the same as in one, each of our replies a line of JSON, and a reply at the end."""

    def fuzz(data: bytes) -> None:
        replies = [_told(backend, data, piece) for piece in (len(data) or 1, data[0] % 13 + 1 if data else 1)]
        assert replies[0] == replies[1]
        _stored(replies[0])

    return fuzz


def _told(backend: Backend, data: bytes, piece: int) -> Reply:
    ask = Ask(program="agent", prompt="p", folder="/w")
    reader = StreamReader(backend.reader())
    talk = StreamTalk(reader, backend.dialogue(ask) if backend.dialogue else None)
    said = b"".join(talk.heard(data[start : start + piece]) for start in range(0, len(data), piece))
    assert all(msgspec.json.decode(line) is not None for line in said.splitlines())
    talk.farewell()
    ran = Ran(exit_code=data[0] % 3 if data else None, stdout=data, stderr=data[:200], seconds=1.0)
    return told_reply(question(), backend, reader, ran)


def _stored(reply: Reply) -> None:
    """As the journal would hold it, and the sums that are made of it."""
    event = asking._answered(question(), reply, 1.0)
    assert isinstance(codec.decode(codec.encode(event), len(codec.UPGRADES)), AgentAnswered)


TARGETS: dict[str, Target] = {
    "exec_answers": fuzz_exec_answers,
    "exec_replies": fuzz_exec_replies,
    "typed_answers": fuzz_typed_answers,
    "reset_times": fuzz_reset_times,
    "recordings": fuzz_recordings,
    "scripts": fuzz_scripts,
    "typed_words": fuzz_typed_words,
    "secrets": fuzz_secrets,
    **{f"stream_{name.replace(':', '_').replace('-', '_')}": stream(backend) for name, backend in BACKENDS.items()},
}
