"""Whole runs with a real agent whose service, or whose life, fails: what ends the run, what does not, and what is left."""

import json
import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.fake_models.brain import Brain
from support.fake_models.script import Tool, Turn
from support.project import plan_answer, reviews, work_answer
from support.real_runs import RealRun
from support.repos import git, make_repo, write
from support.runs import roadmap_of
from support.waiting import soon

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]
AGENTS = ("claude", "codex")
# Long enough for an honest call on a busy machine, short enough to wait for.
CALL_S = 15
TURNS = 8
DIRTY = {"notes.txt": "changed, not committed\n", "scratch/idea.txt": "untracked\n"}
TROUBLES = {
    "plan": Turn(status=500),
    "plan_check": Turn(text="x" * 80, garbage=True),
    "execute": Turn(text="x" * 80, stall=600.0),
    "mini_verify": Turn(hang=600.0),
    "judge": Turn(status=429, message="slow down"),
}
# It never comes to an end by itself; Codex has no cap on turns.
RESTLESS = {"claude": {"rate": Turn(tools=(Tool(name="Bash", input={"command": "true", "description": "again"}),))}}
CUT_OFF = "kill -TERM $PPID; sleep 600"
OUTCOMES = {
    "plan": "overloaded",
    "execute": "timeout",
    "mini_verify": "timeout",
    "verify": "cancelled",
    "judge": "rate_limited",
}


# Claude Code reads on behind an event that is none; Codex asks again, and then gives up.
OWN = {"claude": {"plan_check": "bad_output", "rate": "limit_hit"}, "codex": {"plan_check": "overloaded", "rate": "ok"}}


def letter(place: Path, agent: str, **changes: Any) -> RealRun:
    """One phase that writes a letter, in a checkout with work of the user's in it."""
    limits = {"agent_seconds": CALL_S, "agent_turns": TURNS, "overload_seconds": 1}
    config = {"workflow": {"research": False, "wait": False}, "limits": limits}
    planning = {".planning/ROADMAP.md": roadmap_of("1"), ".planning/config.json": json.dumps(config)}
    root = make_repo(place / "project", {"notes.txt": "mine\n", **planning})
    write(root, DIRTY)
    done = work_answer("1", "01-01", "letter1.txt", "done 1\n")
    answers = [*reviews(), plan_answer("1", [("letter1.txt", "done")]), done]
    return RealRun(agent, root, Brain(answers), **changes)


def users_work(run: RealRun) -> dict[str, str]:
    return {"status": git(run.root, "status", "--porcelain"), **{name: (run.root / name).read_text() for name in DIRTY}}


@pytest.mark.parametrize("agent", AGENTS)
def test_trouble_in_every_call_is_named_and_got_over(agent: str, tmp_path: Path) -> None:
    with letter(tmp_path, agent) as run:
        run.brain.troubles, run.brain.detours = TROUBLES | RESTLESS.get(agent, {}), {"verify": CUT_OFF}
        before = users_work(run)
        ended = run.start("1")

    assert ended.exit == 0, ended.told
    first = {role: outcomes[0] for role, outcomes in run.outcomes().items()}
    assert first == {**OUTCOMES, **OWN[agent], "judge_divergence": "ok"}
    assert git(run.root, "show", "HEAD:letter1.txt") == "done 1"
    assert (users_work(run), run.left()) == (before, [])


WINDOW = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-status": "rejected",
    "anthropic-ratelimit-unified-5h-utilization": "1.0",
}
# A subscription, in whose answers alone the windows are told.
ACCOUNTS = {"claude": {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-no-real-token"}, "codex": {}}
AT_WORK = "touch at-work; (setsid sleep 601 &); sleep 600"


def used_up(until: int) -> dict[str, Turn]:
    """How the services say that a window is used up, and when the next one opens."""
    opens = {f"anthropic-ratelimit-unified-{which}reset": str(until) for which in ("", "5h-")}
    told: dict[str, Any] = {"plan_type": "plus", "resets_at": until}
    return {
        "claude": Turn(status=429, message="This would exceed your rate limit.", headers={**WINDOW, **opens}),
        "codex": Turn(status=429, message="The usage limit has been reached", kind="usage_limit_reached", details=told),
    }


def assert_goes_on(run: RealRun, before: dict[str, str]) -> None:
    """Nothing is left of what was stopped, and nothing is lost: a resume brings the phase home."""
    assert (users_work(run), run.left()) == (before, [])
    run.brain.troubles.clear()
    run.brain.detours.clear()
    ended = run.resume()
    assert (ended.exit, run.left()) == (0, []), ended.told
    assert git(run.root, "show", "HEAD:letter1.txt") == "done 1"
    assert users_work(run) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_a_used_up_window_ends_the_run_and_says_until_when(agent: str, tmp_path: Path) -> None:
    with letter(tmp_path, agent, variables=ACCOUNTS[agent]) as run:
        until = int(time.time()) // 60 * 60 + 7200
        before, run.brain.troubles = users_work(run), {"plan_check": used_up(until)[agent]}
        ended = run.start("1")

        assert (ended.exit, run.outcomes()["plan_check"]) == (22, ["usage_limited"]), ended.told
        assert run.told_until() == [f"{datetime.fromtimestamp(until, UTC):%Y-%m-%dT%H:%M:%S}Z"]
        assert_goes_on(run, before)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_refused_key_ends_the_run_until_somebody_signs_in(agent: str, tmp_path: Path) -> None:
    with letter(tmp_path, agent) as run:
        before, run.brain.troubles = users_work(run), {"mini_verify": Turn(status=401, message="bad key")}
        ended = run.start("1")

        assert (ended.exit, run.outcomes()["mini_verify"]) == (3, ["auth"]), ended.told
        assert_goes_on(run, before)


@pytest.mark.parametrize("agent", AGENTS)
def test_sigterm_in_the_middle_of_a_tool_call_stops_the_run_and_all_it_started(agent: str, tmp_path: Path) -> None:
    with letter(tmp_path, agent) as run:
        before, run.brain.detours = users_work(run), {"execute": AT_WORK}
        with run.begun(*run.words("1")) as process:
            assert soon(lambda: any(run.place.glob("cache/*/trees/*/at-work")) or process.poll() is not None)
            process.send_signal(signal.SIGTERM)
            ended = run.ended(process)

        assert ended.exit == 130, ended.told
        assert_goes_on(run, before)
