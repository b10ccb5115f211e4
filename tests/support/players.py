"""Programs that play a coding agent's part: they print its events, or hold its side of a conversation."""

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SAID = 'Done. {"ok": true}'
# What each program prints for one call: it runs `ls`, spends 7 and 3 tokens and answers.
STREAMS: dict[str, list[Json]] = {
    "claude": [
        {"type": "system", "subtype": "init", "session_id": "s1", "model": "m1"},
        {"type": "assistant", "message": {"id": "a", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": SAID, "session_id": "s1", "total_cost_usd": 0.5, "usage": {"input_tokens": 7, "output_tokens": 3}},
    ],
    "codex": [
        {"type": "thread.started", "thread_id": "s1"},
        {"type": "item.completed", "item": {"id": "t", "type": "command_execution", "command": "/bin/bash -lc ls", "exit_code": 0, "status": "completed"}},
        {"type": "item.completed", "item": {"id": "u", "type": "agent_message", "text": SAID}},
        {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 3}},
    ],
    "gemini": [
        {"type": "init", "session_id": "s1", "model": "m1"},
        {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t", "parameters": {"command": "ls"}},
        {"type": "tool_result", "tool_id": "t", "status": "success", "output": "x"},
        {"type": "message", "role": "assistant", "content": "Done. ", "delta": True},
        {"type": "message", "role": "assistant", "content": '{"ok": true}', "delta": True},
        {"type": "result", "status": "success", "stats": {"input_tokens": 7, "output_tokens": 3}},
    ],
    "opencode": [
        {"type": "step_start", "sessionID": "s1", "part": {}},
        {"type": "tool_use", "part": {"tool": "bash", "callID": "t", "state": {"status": "completed", "input": {"command": "ls"}}}},
        {"type": "text", "part": {"text": SAID}},
        {"type": "step_finish", "part": {"id": "p", "reason": "stop", "tokens": {"input": 7, "output": 3}, "cost": 0.5}},
    ],
    "goose": [
        {"type": "message", "message": {"id": "a", "role": "assistant", "metadata": {"inference": {}}, "content": [{"type": "toolRequest", "id": "t", "toolCall": {"value": {"name": "shell", "arguments": {"command": "ls"}}}}]}},
        {"type": "message", "message": {"id": "b", "role": "user", "content": [{"type": "toolResponse", "id": "t", "toolResult": {"status": "success", "value": {}}}]}},
        {"type": "message", "message": {"id": "c", "role": "assistant", "metadata": {"inference": {}}, "content": [{"type": "text", "text": SAID}]}},
        {"type": "complete", "input_tokens": 7, "output_tokens": 3},
    ],
    "qwen": [
        {"type": "system", "subtype": "init", "session_id": "s1", "model": "m1"},
        {"type": "assistant", "message": {"id": "a", "content": [{"type": "tool_use", "id": "t", "name": "run_shell_command", "input": {"command": "ls"}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": SAID, "usage": {"input_tokens": 7, "output_tokens": 3}},
    ],
    "copilot": [
        {"type": "tool.execution_start", "data": {"toolCallId": "t", "toolName": "bash", "arguments": {"command": "ls"}}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "t", "success": True}},
        {"type": "assistant.message", "data": {"content": SAID}},
        {"type": "result", "sessionId": "s1", "exitCode": 0},
    ],
    "pi": [
        {"type": "session", "id": "s1"},
        {"type": "tool_execution_start", "toolCallId": "t", "toolName": "bash", "args": {"command": "ls"}},
        {"type": "tool_execution_end", "toolCallId": "t", "isError": False},
        {"type": "message_end", "message": {"role": "assistant", "responseId": "r", "content": [{"type": "text", "text": SAID}], "usage": {"input": 7, "output": 3, "cost": {"total": 0.5}}}},
        {"type": "agent_end", "messages": [{"role": "assistant", "stopReason": "stop"}]},
    ],
    "codex:app-server": [
        {"method": "item/started", "params": {"item": {"type": "commandExecution", "id": "t", "command": "ls"}}},
        {"method": "item/completed", "params": {"item": {"type": "commandExecution", "id": "t", "command": "ls", "exitCode": 0, "status": "completed"}}},
        {"method": "item/completed", "params": {"item": {"type": "agentMessage", "id": "u", "text": SAID}}},
        {"method": "thread/tokenUsage/updated", "params": {"tokenUsage": {"total": {"inputTokens": 7, "outputTokens": 3}}}},
        {"method": "turn/completed", "params": {"turn": {"status": "completed"}}},
    ],
    "acp": [
        {"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "List", "kind": "execute", "rawInput": {"command": "ls"}}}},
        {"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}}},
        {"method": "session/update", "params": {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done. "}}}},
        {"method": "session/update", "params": {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": '{"ok": true}'}}}},
        {"id": 2, "result": {"stopReason": "end_turn", "usage": {"inputTokens": 7, "outputTokens": 3}}},
    ],
}  # fmt: skip
# How each says that a usage window is used up, in its own channel.
LIMITS: dict[str, list[Json]] = {
    "claude": [{"type": "result", "is_error": True, "api_error_status": 429, "result": "You've hit your limit, try again in 2h"}],
    "codex": [{"type": "turn.failed", "error": {"message": "You've hit your usage limit. Try again in 2h."}}],
    "gemini": [{"type": "result", "status": "error", "error": {"message": "quota exceeded, retry in 2h"}}],
    "opencode": [{"type": "error", "error": {"name": "APIError", "data": {"message": "quota exceeded, retry in 2h", "statusCode": 429}}}],
    "goose": [
        {"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "Ran into this error: quota exceeded, retry in 2h"}]}},
        {"type": "complete"},
    ],
    "qwen": [{"type": "result", "is_error": True, "error": {"message": "quota exceeded, retry in 2h"}}],
    "copilot": [
        {"type": "session.error", "data": {"errorType": "quota", "message": "quota exceeded, retry in 2h", "statusCode": 402}},
        {"type": "result", "sessionId": "s1", "exitCode": 1},
    ],
    "pi": [{"type": "agent_end", "messages": [{"role": "assistant", "stopReason": "error", "errorMessage": "429 quota exceeded, retry in 2h"}]}],
    "codex:app-server": [
        {"method": "turn/completed", "params": {"turn": {"status": "failed", "error": {"message": "Usage limit. Try again in 2h.", "codexErrorInfo": "usageLimitExceeded"}}}},
    ],
    "acp": [{"id": 2, "error": {"code": -32603, "message": "Internal error", "data": "usage limit reached, try again in 2h"}}],
}  # fmt: skip
# Requests a conversation begins with, and what is answered; the last of them sets the events off.
ANSWERS: dict[str, dict[str, Json]] = {
    "codex:app-server": {
        "initialize": {},
        "thread/start": {"thread": {"id": "s1"}, "model": "m1"},
        "turn/start": {"turn": {"id": "t1"}},
    },
    "acp": {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s1"}, "session/prompt": {}},
}
PLAYER = """
import json, os, pathlib, sys, time
here = pathlib.Path(sys.argv[1])
play, heard = json.loads(here.joinpath("play.json").read_text()), []

def note():
    told = {"argv": sys.argv[2:], "env": dict(os.environ), "heard": heard, "cwd": os.getcwd()}
    here.joinpath("seen.json").write_text(json.dumps(told))

def tell():
    for line in play["lines"]:
        print(line if isinstance(line, str) else json.dumps(line), flush=True)
    time.sleep(play.get("sleep", 0))

if play["answers"]:
    last = list(play["answers"])[-1]
    for line in sys.stdin:
        event = json.loads(line)
        heard.append(event)
        note()
        method = event.get("method")
        if method in play["answers"] and (method != "session/prompt"):
            result = play["answers"][method]
            answer = {"error": {"message": "no such thread"}} if result is None else {"result": result}
            print(json.dumps({"id": event["id"], **answer}), flush=True)
        if method == last:
            tell()
        if method == "turn/interrupt":
            print(json.dumps({"method": "turn/completed", "params": {"turn": {"status": "interrupted"}}}), flush=True)
elif not play.get("exit"):
    heard.append(sys.stdin.read())
    note()
    tell()
sys.stderr.write(play.get("stderr", ""))
sys.exit(play.get("exit", 0))
"""


def install(folder: Path, name: str, **play: Any) -> str:
    """Put a player on a PATH of its own in place of the program; the name to choose it by. `lines` are what it prints."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (folder / "player.py").write_text(PLAYER)
    (folder / "play.json").write_text(json.dumps({"lines": STREAMS[name], "answers": ANSWERS.get(name, {}), **play}))
    program = programs / name.partition(":")[0]
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/player.py {folder} "$@"\n')
    program.chmod(0o755)
    return f"acp:{program} --stdio" if name == "acp" else name


def seen(folder: Path) -> Json:
    """What the program was started with, and what it heard."""
    told: Json = json.loads((folder / "seen.json").read_text())
    return told
