"""Whole runs against recordings of them: what they print, keep, ask and show, byte for byte but for a list of placeholders."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.app.loop.one_session import Ground
from autopilot.domain.agent_call import Call
from autopilot.journal.clock import SystemClock
from autopilot.sessions.machine.resources import Reading
from support import road
from support.deferring import letters, script
from support.history import good_history
from support.processes import PowerCut
from support.project import audit, audit_row, make_project, rate_answer, reviews, toml, work_answer
from support.recording import Recording, recording
from support.repos import git, write
from support.runs import roadmap_of

Answers = list[dict[str, Any]]
PATIENCE_S = 600.0


def begin(made: Recording, answers: Answers, *phases: str, files: dict[str, str] | None = None) -> None:
    """The project of those phases and its scripted agent, with these files committed."""
    make_project(made.root, answers, roadmap_of(*phases))
    if files:
        write(made.root, files)
        git(made.root, "add", "-A")
        git(made.root, "commit", "-qm", "more")


def agent(made: Recording) -> list[str]:
    return ["--agent", f"scripted:{made.root}.toml", "--unsandboxed"]


def rewrite(made: Recording, answers: Answers) -> None:
    Path(f"{made.root}.toml").write_text(toml(answers), encoding="utf-8")


def look_back(made: Recording) -> None:
    """What can be read of the newest run behind its end."""
    for words in (("status",), ("progress", "--json"), ("report",), ("export", "--json")):
        made.look(*words)


def test_the_demo() -> None:
    with recording() as made:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app, app.has_sandbox.__name__, lambda: False)
            assert made.type("demo", "--keep", str(made.root)) == 0
        look_back(made)
        for words in (
            ("report", "--json"),
            ("trends",),
            ("receipt", "show"),
            ("replay", "--plain", "--speed", "1000000"),
        ):
            made.look(*words)

        made.check("demo")


def test_a_phase_in_two_parts() -> None:
    with recording() as made:
        scores = [rate_answer(road.SCORES[part], phase=part) for part in ("3a", "3b")]
        begin(made, [*reviews(), *road.split(), *scores], "3")
        assert made.type("all", "--sequential", *agent(made)) == 0
        look_back(made)

        made.check("split")


def rated(*scores: float) -> Answers:
    """The first tries are rated in turn; the last score goes for all after them too."""
    own = [*(rate_answer(score, attempt=n) for n, score in enumerate(scores, 1)), rate_answer(scores[-1])]
    mends = [work_answer("1", f"1-R{n}", "letter1.txt", f"done 1, mended {n}\n") for n in range(1, 9)]
    return [*(one for one in reviews() if one["role"] != "rate"), *own, *letters("1"), *mends]


def test_a_phase_reworked_for_quality_and_for_its_gaps() -> None:
    with recording() as made:
        begin(made, rated(8.2, 9.2), "1")
        assert made.type("all", *agent(made)) == 0
        rewrite(made, rated(9.3, 9.6))
        assert made.type("--quality", "1", *agent(made)) == 0
        rewrite(made, rated(9.7, 9.8))
        assert made.type("--gaps", "1", *agent(made)) == 0
        look_back(made)

        made.check("rework")


def test_phases_that_a_person_decides() -> None:
    with recording() as made:
        begin(made, script("1", "3"), "1", "2>1", "3")
        assert made.type("all", *agent(made)) == 11
        made.type("verdict", "1", "pass")
        made.type("verdict", "3", "issues", "the date is missing")
        made.look("status")
        made.type("resume")
        look_back(made)

        made.check("deferral")


def test_a_wait_for_the_agent_that_stands_in() -> None:
    """The first one is away for an hour, the other one for a quarter."""
    with recording() as made:
        away = {"role": "execute", "phase": "1", "outcome": "usage_limited"}
        begin(
            made,
            [away | {"task": "01-01", "resets_at": f"{made.day}T13:00:00Z"}, *reviews(), *letters("1")],
            "1",
        )
        other = made.place / "other.toml"
        short = away | {"task": "01-01", "tries": 2, "resets_at": f"{made.day}T12:15:00Z"}
        other.write_text(toml([short, *reviews(), *letters("1")]), encoding="utf-8")
        assert made.type("all", *agent(made), "--failover", f"scripted:{other}") == 0
        look_back(made)

        made.check("wait")


def test_two_phases_at_a_time() -> None:
    with recording(ordered=False) as made:
        made.at_call = one_after_the_other(made)
        begin(made, [*reviews(), *letters("1", "2")], "1", "2")
        assert made.type("all", "--jobs", "2", *agent(made)) == 0
        look_back(made)

        made.check("jobs")


def one_after_the_other(made: Recording) -> Callable[[Call], None]:
    """Both have begun before one goes on, and the first is over before the second goes on."""
    begun = set[str]()

    def wait(call: Call) -> None:
        begun.add(call.phase.id)
        if call.phase.id == "1":
            until(lambda: "2" in begun)
        if call.phase.id == "2":
            until(lambda: any('"PhaseMerged"' in body for _, _, body, *_ in made.rows()))

    return wait


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "the other phase never came that far"
        time.sleep(0.02)


def test_a_run_that_is_killed_and_resumed() -> None:
    with recording() as made:
        begin(made, [*reviews(), *letters("1", "2")], "1", "2>1")
        made.at_call = dies_at("execute", "2")
        assert made.type("all", *agent(made)) == "killed"
        made.at_call = lambda _: None
        made.look("status")
        assert made.type("resume") == 0
        look_back(made)

        made.check("crash")


def dies_at(role: str, phase: str) -> Callable[[Call], None]:
    def die(call: Call) -> None:
        if (call.role, call.phase.id) == (role, phase):
            raise PowerCut

    return die


def test_a_completion_with_gaps() -> None:
    """Two are found; one is closed, and one stays."""
    needs = "".join(f"- [ ] **{name}-01**: Letters have one\n" for name in ("SIGN", "DATE"))
    table = "| Requirement | Phase |\n|---|---|\n| SIGN-01 | 1 |\n| DATE-01 | 2 |\n"
    rows = [audit_row("SIGN-01", "the letter is not signed"), audit_row("DATE-01", "the letter has no date", "large")]
    first = {"role": "audit", "phase": "completion", "attempt": 1, "result": audit(*rows)}
    later = {"role": "audit", "phase": "completion", "result": audit(audit_row("SIGN-01"), rows[1])}
    fix = {"role": "fix", "task": "SIGN-01", "result": {"fixed": True}, "write": {"letter1.txt": "done\nsigned\n"}}
    made_of = {"role": "execute", "task": "DATE-01", "result": {"tasks_completed": "1/1", "tasks_failed": "0/1"}}
    with recording() as made:
        served = [with_row(one, "SIGN-01" if one.get("phase") == "1" else "DATE-01") for one in letters("1", "2")]
        content = [*(one for one in reviews() if one["role"] != "audit"), *served, first, later, fix, made_of]
        begin(made, content, "1", "2", files={".planning/REQUIREMENTS.md": f"# Requirements\n\n{needs}\n{table}"})
        assert made.type("all", *agent(made)) == 12
        look_back(made)

        made.check("completion")


def with_row(answer: dict[str, Any], requirement: str) -> dict[str, Any]:
    """A plan that says which of its tasks serves the requirement."""
    if answer["role"] != "plan":
        return answer
    task = f"0{answer['phase']}-01"
    row = f"\n| Requirement | Task |\n|---|---|\n| {requirement} | {task} |\n"
    name = "{dir}/PLAN.md"
    return {**answer, "write": {**answer["write"], name: answer["write"][name] + row}}


def test_a_loop_of_three_sessions() -> None:
    """The machine allows one phase at a time, whatever machine it is."""
    little = Reading(tiers={}, tier="green", cap=1)
    with recording() as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ground, Ground.reading.__name__, lambda *_: little)
        begin(made, [*reviews(), *letters("1", "2", "3")], "1", "2>1", "3>2")
        good_history(made.root, SystemClock().now())
        assert made.type("loop", "--max-sessions", "3", *agent(made)) == 0

        made.check("loop")
