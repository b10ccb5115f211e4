"""`--dry-run` on the command line, and the forecast as lines."""

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from autopilot.cli.look import only_looks
from autopilot.cli.parser import parse
from autopilot.cli.verbs.dry_run import show
from autopilot.cli.verbs.run import request_of
from autopilot.domain.forecast import (
    CommandSource,
    Confidence,
    Dollars,
    Forecast,
    LeftOut,
    PhaseForecast,
    ProjectFacts,
    Sufficiency,
    TaskCounts,
    Tokens,
)
from autopilot.domain.request import RunRequest
from autopilot.views.lines.forecast_lines import lines

PHASE = PhaseForecast(
    id="2",
    name="Two\x1b[31m",
    type="ui",
    plan=True,
    route=("plan_check",),
    skipped="research",
    runnable=0,
    unanchored=True,
    waits_for=("9",),
    sufficiency=Sufficiency(score=1),
    confidence=Confidence(score=1, reason="the goal is a stub"),
    prompts={},
    tasks=TaskCounts(simple=1, complex=2),
    task_types="2 auto tasks, 1 checkpoint:human-verify tasks",
    tokens=Tokens(low=70, expected=100, worst=1_000_000),
    warning="Phase 2 is large.",
)
FORECAST = Forecast(
    phases=(PHASE,),
    left_out=(LeftOut(id="1", name="One", why="already completed"),),
    tokens=Tokens(low=70, expected=100, worst=1_000_000),
    usd=None,
    price_note="Prices are not known.",
    project=ProjectFacts(type="go", manifest="go.mod", commands={"test": CommandSource(command="go test", source="auto-detected")}),
    agent="exec:a",
    reviewer="exec:b",
    model=None,
    sandbox="bubblewrap: it holds",
    resumes="run-1",
    context_warning="Low context confidence: phase 2.",
    problems=("no agent",),
)  # fmt: skip


@dataclass
class PlayedSeer:
    asked: list[RunRequest] = field(default_factory=list)

    def foresee(self, request: RunRequest) -> Forecast:
        self.asked.append(request)
        return FORECAST


def shown(**more: Any) -> str:
    return "\n".join(lines(msgspec.structs.replace(FORECAST, **more)))


@pytest.mark.parametrize(
    "line",
    [
        "The unfinished run run-1 would go on.",
        "1 phase would run, in this order: 2",
        "Phase 2: Two (ui)",
        "  plan      3 tasks: 1 simple, 0 medium, 2 complex (2 auto tasks, 1 checkpoint:human-verify tasks)",
        "  route     without research",
        "  blocked   phase 9 is neither completed nor part of this run",
        "  criteria  unanchored: none has a command",
        "  context   1/10 (the goal is a stub)",
        "  prompts   the prompts depend on the plan",
        f"  1      {'One':<28}  already completed",
        "  phase 2                       70         100   1,000,000  unknown",
        "  test     go test (auto-detected)",
        "Agent: exec:a, reviewer exec:b, model its own",
        "Sandbox: bubblewrap: it holds",
        "warning: Phase 2 is large.",
        "would not start: no agent",
    ],
)
def test_the_forecast_tells(line: str) -> None:
    assert line in shown().splitlines()


def test_the_context_warning_stands_there_once() -> None:
    assert shown().count("Low context confidence") == 1
    assert "/autopilot" not in shown()


def test_there_is_one_context_score_and_it_is_that_of_the_warning() -> None:
    found = Sufficiency(score=6, criteria=10, requirements=2, docs=2, deps=10)
    unmapped = Confidence(score=3, reason="no requirements are mapped")
    phase = msgspec.structs.replace(PHASE, sufficiency=found, confidence=unmapped)

    assert "  context   3/10 (no requirements are mapped)" in shown(phases=(phase,)).splitlines()
    assert "6/10" not in shown(phases=(phase,))

    enough = msgspec.structs.replace(PHASE, sufficiency=found, confidence=Confidence(score=6))
    assert "  context   6/10 (10 criteria, 2 requirements, 2 docs, 10 deps)" in shown(phases=(enough,)).splitlines()


def test_a_command_that_does_not_run_here_is_not_listed_like_the_others() -> None:
    broken = CommandSource(command="make lint", source="auto-detected", broken="ruff is not installed")
    project = ProjectFacts(type="python", manifest="Makefile", commands={"lint": broken})

    told = shown(project=project).splitlines()
    assert "  lint     make lint (auto-detected) -- does not run here: ruff is not installed" in told


def test_known_prices_are_shown_and_unknown_ones_are_never_zero() -> None:
    assert "1.00 / 2.00 / 3.50" in shown(usd=Dollars(low=1, expected=2, worst=3.5))
    assert "0.00" not in shown()


def test_nothing_to_run_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert "No phase would run." in shown(phases=(), resumes=None)


def test_the_object_is_the_same_forecast(capfd: pytest.CaptureFixture[str]) -> None:
    app = PlayedSeer()
    options = parse("run", ["3-7", "--from", "4", "--to", "6", "--only", "5,6", "--dry-run", "--json"])

    assert only_looks(options)
    assert show(request_of(options, folder="/p"), app, as_json=options.json) == 0
    assert msgspec.convert(json.loads(capfd.readouterr().out), Forecast) == FORECAST
    assert app.asked == [RunRequest(folder="/p", phases="3-7", first="4", last="6", only="5,6")]
    assert app.asked[0].wish == "3-7 --from 4 --to 6 --only 5,6"
