"""How each program is called, and what is known about it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.backend import Ask, Backend
from autopilot.agents.backends import acp, codex
from autopilot.agents.backends.catalogue import BY_NAME, PREFERRED
from autopilot.agents.cli_agent import ask_of, environment
from autopilot.domain.agent_call import REVIEWERS, ROLES, Access, Role, Thread, access_of
from support.transcripts import question

EVERY = [pytest.param(backend, id=name) for name, backend in BY_NAME.items()]
SCHEMA = {"type": "object", "properties": {"pass": {"type": "boolean"}}, "required": ["pass"]}


def words(backend: Backend, **changes: Any) -> tuple[str, ...]:
    return backend.argv(Ask(**{"program": "/bin/x", "prompt": "p", "folder": "/w", "thread_name": "n", **changes}))


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("claude", {"model": "opus"}, ("--model", "opus")),
        ("claude", {"turns": 4}, ("--max-turns", "4")),
        ("claude", {"usd": 1.5}, ("--max-budget-usd", "1.5")),
        ("claude", {"thread": "t"}, ("--resume", "t")),
        ("claude", {"answer_schema": SCHEMA}, ("--json-schema", json.dumps(SCHEMA))),
        ("claude", {"access": "read"}, ("--tools", "Read,Grep,Glob")),
        ("claude", {"access": "run"}, ("--disallowedTools", "Edit,Write,NotebookEdit")),
        ("codex", {"model": "gpt-5.5"}, ("-m", "gpt-5.5")),
        ("codex", {"thread": "t"}, ("t", "-")),
        ("codex", {"effort": "low"}, ("-c", 'model_reasoning_effort="low"')),
        ("codex", {"access": "read"}, ("-c", 'sandbox_mode="read-only"')),
        ("codex", {"access": "write"}, ("-c", 'sandbox_mode="workspace-write"')),
        ("codex", {"access": "read", "confined": True}, ("-c", 'sandbox_mode="danger-full-access"')),
        ("gemini", {"access": "read"}, ("--approval-mode", "plan")),
        ("gemini", {"access": "write", "model": "m"}, ("--approval-mode", "yolo", "-m", "m")),
        ("gemini", {"thread": "t"}, ("--resume", "t")),
        ("qwen", {"turns": 4}, ("--max-session-turns", "4")),
        ("qwen", {"answer_schema": SCHEMA}, ("--json-schema", json.dumps(SCHEMA))),
        ("opencode", {"thread": "t"}, ("-s", "t")),
        ("opencode", {"access": "read"}, ("--agent", "plan")),
        ("goose", {"thread": "t"}, ("-r", "-n", "t")),
        ("goose", {}, ("-n", "n")),
        ("goose", {"turns": 4}, ("--max-turns", "4")),
        ("copilot", {"access": "run"}, ("--deny-tool", "write")),
        ("copilot", {"thread": "t"}, ("--resume", "t")),
        ("pi", {"access": "read"}, ("--tools", "read,grep,find,ls")),
        ("pi", {"thread": "t"}, ("--session", "t")),
    ],
)
def test_a_wish_becomes_the_programs_own_words(name: str, changes: dict[str, Any], expected: tuple[str, ...]) -> None:
    said = words(BY_NAME[name], **changes)

    assert any(said[at : at + len(expected)] == expected for at in range(len(said)))


@pytest.mark.parametrize("backend", EVERY)
def test_what_a_program_cannot_do_is_not_asked_of_it(backend: Backend) -> None:
    call = msgspec.structs.replace(question(thread=Thread(id="t")), turns=4, usd=2.0, answer_schema=SCHEMA)
    ask, able = ask_of(call, backend, "/bin/x", confined=False), backend.capabilities

    assert (ask.turns, ask.usd) == (4 if able.turn_cap else None, 2.0 if able.budget_cap else None)
    assert (ask.thread == "t") == able.resume
    assert (ask.answer_schema is None) == (able.answer_schema == "none")
    assert (json.dumps(SCHEMA) in ask.prompt) == (ask.answer_schema is None)


@pytest.mark.parametrize("backend", EVERY)
def test_a_raters_numbers_are_never_rewritten(backend: Backend) -> None:
    call = msgspec.structs.replace(question(role="rate"), answer_schema=SCHEMA)
    ask = ask_of(call, backend, "/bin/x", confined=False)

    assert ask.answer_schema is None or backend.capabilities.exact


@pytest.mark.parametrize(
    "backend", [case for case in EVERY if isinstance(case.values[0], Backend) and case.values[0].capabilities.read_only]
)
def test_a_program_with_a_read_only_mode_is_called_otherwise_for_readers(backend: Backend) -> None:
    ask = {access: Ask(program="x", prompt="p", folder="/w", access=access) for access in ("read", "write")}
    if backend.dialogue:
        begun = {key: backend.dialogue(value).answer({"id": 1, "result": {}}) for key, value in ask.items()}
        assert begun["read"] != begun["write"]
    else:
        assert backend.argv(ask["read"]) != backend.argv(ask["write"])


@pytest.mark.parametrize("backend", EVERY)
def test_the_account_of_a_program_is_told_whole(backend: Backend) -> None:
    """What may come back has fields that say whose it is, and a place where it is renewed."""
    assert bool(backend.identity) == bool(backend.token_hosts)
    assert not backend.token_hosts or backend.credentials
    assert {*backend.sign_in.files} <= {*backend.credentials, *(file.path for file in backend.settings)}
    assert not {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", backend.folder_variable} & {*backend.variables}


def test_the_users_word_goes_before_a_default() -> None:
    env = environment({"CLAUDE_CODE_MAX_RETRIES": "9", "PATH": "/bin", "OTHER_KEY": "k"}, BY_NAME["claude"])

    assert (env["CLAUDE_CODE_MAX_RETRIES"], env["PATH"], "OTHER_KEY" in env) == ("9", "/bin", False)
    assert environment({}, BY_NAME["claude"])["CLAUDE_CODE_MAX_RETRIES"] == "3"


def test_they_are_looked_for_in_the_order_of_the_design() -> None:
    names = [backend.name for backend in PREFERRED]

    assert names == ["claude", "codex", "gemini", "opencode", "goose", "qwen", "copilot", "pi"]


@pytest.mark.parametrize("role", ROLES)
def test_no_reviewer_may_write(role: Role) -> None:
    assert (access_of(role) == "write") == (role in {"research", "plan", "execute", "debug", "fix"})
    assert role not in REVIEWERS or access_of(role) in {"read", "run"}


@pytest.mark.parametrize(
    ("whole", "command"),
    [
        ("/bin/bash -lc 'pytest -q'", "pytest -q"),
        ("sh -c ls", "ls"),
        ("git status --short", "git status --short"),
        ("bash -lc 'unfinished", "bash -lc 'unfinished"),
    ],
)
def test_the_shell_around_a_command_is_left_out(whole: str, command: str) -> None:
    assert codex.shell_command(whole) == command


def test_a_schema_for_codex_lies_in_a_file_of_the_call(tmp_path: Path) -> None:
    said = words(codex.BACKEND, answer_schema=SCHEMA, thread="t")

    assert said[:3] == ("sh", "-c", codex.WITH_SCHEMA)
    assert (json.loads(said[4]), said[5], said[-1]) == (SCHEMA, "/bin/x", "t")


OPTIONS = [{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}]


@pytest.mark.parametrize(
    ("access", "kind", "chosen"),
    [
        ("write", "edit", "y"),
        ("write", "execute", "y"),
        ("run", "execute", "y"),
        ("run", "edit", "n"),
        ("run", "delete", "n"),
        ("read", "read", "y"),
        ("read", "execute", "n"),
        ("read", "", "n"),
    ],
)
def test_leave_is_given_as_far_as_the_role_goes(access: Access, kind: str, chosen: str) -> None:
    dialogue = acp.AcpDialogue(Ask(program="x", prompt="p", folder="/w", access=access))
    params = {"toolCall": {"kind": kind}, "options": OPTIONS}
    answer = json.loads(dialogue.answer({"id": 7, "method": "session/request_permission", "params": params}))

    assert (answer["id"], answer["result"]["outcome"]["optionId"]) == (7, chosen)


def test_what_nobody_here_can_do_is_declined() -> None:
    ask = Ask(program="x", prompt="p", folder="/w")
    talk = acp.AcpDialogue(ask)
    server = BY_NAME["codex:app-server"].dialogue
    assert server is not None

    assert json.loads(talk.answer({"id": 1, "method": "fs/read_text_file"}))["error"]["code"] == -32601
    approval = {"id": 5, "method": "item/commandExecution/requestApproval"}
    assert json.loads(server(ask).answer(approval)) == {"id": 5, "result": {"decision": "decline"}}
    assert json.loads(server(ask).answer({"id": 6, "method": "account/ask"}))["error"]["code"] == -32601


def test_the_history_of_a_session_gone_on_with_is_not_its_answer() -> None:
    reads = acp.AcpReader()
    old = {
        "method": "session/update",
        "params": {"update": {"sessionUpdate": "agent_message_chunk", "content": {"text": "old"}}},
    }

    assert list(reads(old)) == []
    assert list(reads({"id": 1, "result": {}})) == []
    assert len(list(reads(old))) == 1
