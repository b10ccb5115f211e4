"""What eight vendors' programs really printed, and what each recorded call is judged to be."""

from pathlib import Path

import msgspec
import pytest

from autopilot.agents.backend import Backend
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.domain.agent_call import Outcome, Thread
from autopilot.domain.evidence import Usage
from autopilot.domain.process import Ran
from support.transcripts import judged, question, recorded

SHARED = Path(__file__).parents[3].parent / "shared" / "transcripts"
OWN = Path(__file__).parents[2] / "data" / "transcripts"
# By program and outcome, the cases that end so. `bad_output` has no object in it: the recorded prompts asked for none.
EXPECTED: dict[str, dict[Outcome, str]] = {
    "claude": {
        "ok": """acceptEdits allowedTools bare bg_bash_at_exit default_perm_denied disconnect_once e429_once_retry_after
            e500_twice hang_api_timeout happy_json happy_stream lean max_tokens_stop mcp no_disable_traffic plain_size
            refusal resume1 schema_missing schema_ok setsid_daemon_at_exit stdin_prompt stream_overloaded
            tools_readonly""",
        "bad_output": "bench oauth_warning resume2 resume_other_cwd schema_bad",
        "usage_limited": "credit_low e429_unified oauth_midrun_rejected oauth_rejected",
        "rate_limited": "e429_forever_max0",
        "overloaded": "e529",
        "context_exhausted": "e400",
        "limit_hit": "max_budget max_turns",
        "timeout": "e401 stall_midstream",
        "cancelled": "sigint_in_bash sigterm_in_bash sigterm_in_hang sigkill_in_bash",
        "crashed": "resume_bogus root_no_is_sandbox",
    },
    "codex": {
        "ok": """bg_at_exit disconnect_once e429_once_retry_after e500_once ephemeral happy mcp mcp2 openai_base_url_cfg
            resume1 running_session_at_exit sandbox_danger-full-access sandbox_read-only sandbox_workspace-write
            schema_ok stall stdin_prompt stream_ratelimit sysprompt""",
        "bad_output": "bench resume2 schema_bad",
        "usage_limited": "quota usage_limit",
        "rate_limited": "e429_forever",
        "auth": "e401",
        "overloaded": "e500_forever",
        "context_exhausted": "context_len",
        "timeout": "hang openai_base_url_env",
        "cancelled": "sigterm_in_bash sigterm_in_hang sigkill_in_bash",
        "crashed": "e400 resume_bogus sigint_in_bash",
    },
    "codex-appserver": {
        "ok": "happy",
        "auth": "e401",
        "rate_limited": "e429",
        "usage_limited": "usage_limit",
        "context_exhausted": "ctx",
        "cancelled": "interrupt",
    },
    "gemini": {
        "ok": "default_mode_write e429_once happy plan_mode_write resume1",
        "bad_output": "bench resume2",
        "usage_limited": "quota_daily",
        "auth": "e401",
        "overloaded": "disconnect_once",
        "timeout": "e429_forever e500_forever",
        "cancelled": "sigkill_in_bash",
        # A format that is never asked for, and signals on which the program leaves with 0 and no result.
        "crashed": "json sigint_in_bash sigterm_in_bash",
    },
    "qwen": {
        "ok": "disconnect_once e429_once happy resume1 schema_ok",
        "bad_output": "bench resume2 schema_missing",
        "auth": "e401",
        "limit_hit": "max_turns",
        "timeout": "e429_forever e500_forever",
        "cancelled": "sigint_in_bash sigterm_in_bash sigkill_in_bash",
    },
    "opencode": {
        "ok": "disconnect_once e429_once happy resume1",
        "bad_output": "bench resume2",
        "auth": "e401",
        "rate_limited": "e429_forever",
        "timeout": "e500_forever",
        "cancelled": "sigint_in_bash sigterm_in_bash sigkill_in_bash",
    },
    "goose": {
        "ok": "e429_once happy resume1",
        "bad_output": "bench resume2",
        "auth": "e401",
        "rate_limited": "e429_forever",
        "overloaded": "disconnect_once e500_forever",
        "cancelled": "sigterm_in_bash sigkill_in_bash",
        "crashed": "quiet_json sigint_in_bash",
    },
    "copilot": {
        "ok": "anthropic deny_write disconnect_once e429_once happy responses resume1",
        "bad_output": "bench resume2",
        "auth": "e401",
        "rate_limited": "e429_forever",
        "overloaded": "e500_forever",
        "cancelled": "sigint_in_bash sigterm_in_bash sigkill_in_bash",
    },
    "pi": {
        "ok": "disconnect_once e429_once happy resume1",
        "bad_output": "bench resume2",
        "auth": "e401",
        "rate_limited": "e429_forever",
        "overloaded": "e500_forever",
        "cancelled": "sigint_in_bash sigterm_in_bash sigkill_in_bash",
    },
}
SCHEMA = {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]}
CASES = {
    f"{name}/{case}": end for name, ends in EXPECTED.items() for end, cases in ends.items() for case in cases.split()
}
HAPPY = sorted(case for case in CASES if case.endswith(("/happy", "/happy_stream")) and "appserver" not in case)
needs_recordings = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the recordings of real programs are not beside the project"
)


def backend_of(case: str) -> Backend:
    name = case.partition("/")[0]
    return BY_NAME["codex:app-server" if name == "codex-appserver" else name]


def whole(case: str) -> Ran:
    ran = recorded(SHARED / case)
    return msgspec.structs.replace(ran, exit_code=0) if "appserver" in case else ran


@needs_recordings
def test_every_recording_has_an_expected_outcome() -> None:
    there = {f"{folder.parent.name}/{folder.name}" for folder in SHARED.glob("*/*") if folder.is_dir()}

    assert there == set(CASES)


@needs_recordings
@pytest.mark.parametrize("case", sorted(CASES))
def test_a_recorded_call_ends_as_it_did(case: str) -> None:
    reply = judged(backend_of(case), whole(case))

    assert reply.outcome == CASES[case]
    assert (reply.answer is not None) == (reply.outcome == "ok")


@needs_recordings
@pytest.mark.parametrize("case", HAPPY)
def test_a_good_call_tells_its_answer_its_cost_and_its_commands(case: str) -> None:
    reply = judged(backend_of(case), whole(case))

    assert reply.answer == '{"ok": true}'
    assert reply.commands == ("echo ran > bash.txt; cat hello.txt",)
    assert (reply.observes, reply.issues) == (True, ())
    able = backend_of(case).capabilities
    assert (reply.usage.output_tokens, reply.usage.cost_usd is not None) == (177 if able.usage else None, able.cost)


@needs_recordings
@pytest.mark.parametrize("case", HAPPY)
def test_it_does_not_matter_in_which_pieces_a_stream_comes(case: str) -> None:
    ran = whole(case)
    at_once = judged(backend_of(case), ran)

    assert judged(backend_of(case), ran, piece=7) == at_once


@needs_recordings
@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "goose", "opencode", "pi", "qwen"])
def test_a_conversation_gone_on_with_is_not_paid_for_twice(name: str) -> None:
    first = judged(BY_NAME[name], whole(f"{name}/resume1"))
    assert first.thread is not None
    second = judged(BY_NAME[name], whole(f"{name}/resume2"), question(thread=first.thread))

    # Qwen asks once more behind the scenes, and counts it.
    assert second.usage.output_tokens == (100 if name == "qwen" else 50)
    assert second.thread is not None
    assert (second.thread.id, second.thread.usage.output_tokens) == (first.thread.id, 227 if name == "qwen" else 177)


@needs_recordings
@pytest.mark.parametrize("name", ["claude/oauth_rejected", "claude/oauth_midrun_rejected"])
def test_a_typed_reset_time_goes_before_words(name: str) -> None:
    assert judged(BY_NAME["claude"], whole(name)).resets_at == "2026-11-15T08:16:13Z"


@needs_recordings
def test_a_warning_in_mid_run_is_no_limit() -> None:
    reply = judged(BY_NAME["claude"], whole("claude/oauth_warning"))

    assert (reply.outcome, reply.resets_at) == ("bad_output", None)


@needs_recordings
def test_the_app_server_tells_its_window_in_fields() -> None:
    reply = judged(backend_of("codex-appserver/x"), whole("codex-appserver/usage_limit"))

    assert reply.resets_at == "2026-11-15T08:16:55Z"


@needs_recordings
def test_a_refused_command_did_not_run() -> None:
    assert judged(BY_NAME["copilot"], whole("copilot/deny_write")).commands == ()
    assert judged(BY_NAME["gemini"], whole("gemini/plan_mode_write")).commands == ()


def test_what_a_cut_off_call_had_spent_is_kept() -> None:
    """A call without its last line: what its messages told is added up, each message once."""
    line = b'{"type":"assistant","message":{"id":"m1","model":"x","content":[],"usage":{"input_tokens":9,"output_tokens":2}}}\n'
    ran = Ran(exit_code=None, stdout=line * 3, stderr=b"", seconds=1)
    reply = judged(BY_NAME["claude"], ran, question(thread=None))

    assert (reply.outcome, reply.usage) == ("timeout", Usage(input_tokens=9, output_tokens=2))


def test_a_thread_keeps_what_it_cost_where_each_call_is_counted_alone() -> None:
    line = b'{"type":"step_finish","sessionID":"s","part":{"id":"p","reason":"stop","tokens":{"input":5,"output":1},"cost":0.5}}\n'
    before = Thread(id="s", usage=Usage(input_tokens=10, output_tokens=4, cost_usd=1.0))
    reply = judged(BY_NAME["opencode"], Ran(exit_code=0, stdout=line, stderr=b"", seconds=1), question(thread=before))

    assert reply.usage == Usage(input_tokens=5, output_tokens=1, cost_usd=0.5)
    assert reply.thread == Thread(id="s", usage=Usage(input_tokens=15, output_tokens=5, cost_usd=1.5))


@pytest.mark.parametrize("case", sorted(OWN.glob("*/*")), ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_recording_of_our_own_is_judged_as_it_was(case: Path) -> None:
    name = case.parent.name.rpartition("-")[0]
    told = msgspec.json.decode((case / "outcome.json").read_bytes())
    call = msgspec.structs.replace(question("rate"), answer_schema=SCHEMA)
    ran = msgspec.structs.replace(recorded(case), exit_code=told["rc"])
    reply = judged(BY_NAME[name.replace("-", ":", 1)], ran, call)

    assert (reply.outcome, reply.answer, reply.issues) == (told["outcome"], told["answer"], ())
    assert (list(reply.commands), reply.usage.output_tokens) == (told["commands"], told["output_tokens"])
