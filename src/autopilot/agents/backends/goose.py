"""goose: `goose run --output-format stream-json`. It leaves with 0 on every error and says so among the messages."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from autopilot.agents.backend import KEY_HOSTS, Ask, Backend, Capabilities, Reach, SignIn, WrittenFile, told
from autopilot.agents.json_fields import at, count, record, records, text
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Failed, Finished, Returned, Said, Spent, StreamEvent, Used

# How its own messages begin; those of the model carry a note of which model it was.
OWN_TROUBLE = ("Ran into this error", "Network error", "I've reached the maximum number of actions", "Context length")
TURNS_UP = "turns"
SHELLS = frozenset({"shell", "developer__shell"})
# Which service it asks, and where that is; all else in the user's file is servers to start and habits.
_PROVIDER = re.compile(
    r"^(?:GOOSE_(?:PROVIDER|MODEL)|OPENAI_(?:HOST|BASE_PATH|BASE_URL)|ANTHROPIC_HOST):[ \t]*[^\s&*!|>{\[].*$",
    re.MULTILINE,
)


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "run", "-i", "-", "--output-format", "stream-json", "--with-builtin", "developer"]
    words += ["--model", ask.model] if ask.model else []
    words += ["--max-turns", str(ask.turns)] if ask.turns else []
    words += ["-r", "-n", ask.thread] if ask.thread else ["-n", ask.thread_name]
    return tuple(words)


def provider(_environment: Mapping[str, str], own: str) -> str:
    return "".join(f"{line}\n" for line in _PROVIDER.findall(own))


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    match event.get("type"):
        case "message":
            yield from message(record(event.get("message")))
        case "complete":
            yield Spent(input_tokens=count(event.get("input_tokens")), output_tokens=count(event.get("output_tokens")))
            yield Finished()


def message(told_of: dict[str, Any]) -> Iterator[StreamEvent]:
    by_model = at(told_of, "metadata", "inference") is not None
    for block in records(told_of.get("content")):
        match block.get("type"):
            case "error":
                yield Failed(text=text(block.get("message")), kind=text(block.get("kind")))
            case "text" if told_of.get("role") == "assistant":
                said = text(block.get("text"))
                if not by_model and said.startswith(OWN_TROUBLE):
                    yield Failed(text=said, kind=TURNS_UP if said.startswith(OWN_TROUBLE[2]) else "")
                else:
                    yield Said(text=said, of=text(told_of.get("id")))
            case "toolRequest":
                name = text(at(block, "toolCall", "value", "name"))
                given = record(at(block, "toolCall", "value", "arguments"))
                command = text(given.get("command")) if name in SHELLS else None
                yield Used(call=text(block.get("id")), what=told(name, given), command=command or None)
            case "toolResponse":
                yield Returned(call=text(block.get("id")), ran=ran(record(block.get("toolResult"))))


def ran(result: dict[str, Any]) -> bool:
    """A tool that was refused answers with an error, a command that failed with its exit code."""
    failed = at(result, "value", "isError") and at(result, "value", "structuredContent", "exit_code") is None
    return result.get("status") == "success" and not failed


BACKEND = Backend(
    name="goose",
    vendor="goose",
    tested="1.50",
    own_prompt=5_000,
    program="goose",
    sign_in=SignIn(variables=("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), files=(".config/goose/config.yaml",)),
    capabilities=Capabilities(resume=True, usage=True, turn_cap=True, observes=True),
    argv=argv,
    reader=lambda: parse,
    meanings=Meanings(
        kinds={
            TURNS_UP: "limit_hit",
            "authentication": "auth",
            "contextLengthExceeded": "context_exhausted",
            "creditsExhausted": "usage_limited",
            "rateLimit": "rate_limited",
        }
    ),
    env={"GOOSE_MODE": "auto", "GOOSE_DISABLE_KEYRING": "1"},
    variables=(
        "GOOSE_PROVIDER",
        "GOOSE_MODEL",
        "GOOSE_DISABLE_KEYRING",
        "OPENAI_HOST",
        "OPENAI_BASE_PATH",
        "OPENAI_BASE_URL",
        "ANTHROPIC_HOST",
        "GOOGLE_API_KEY",
        "OPENROUTER_API_KEY",
    ),
    folder=".config/goose",
    credentials=(".config/goose/secrets.yaml",),
    settings=(WrittenFile(".config/goose/config.yaml", provider),),
    counts="thread",
    names_threads=True,
    reach=Reach(
        keys=KEY_HOSTS,
        bases={
            "OPENAI_HOST": "api.openai.com",
            "OPENAI_BASE_URL": "api.openai.com",
            "ANTHROPIC_HOST": "api.anthropic.com",
        },
    ),
)
