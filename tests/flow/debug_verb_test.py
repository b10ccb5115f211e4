"""`autopilot debug`: a problem outside the roadmap is found, fixed, checked by the usual gates, and landed."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.cli import main
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import AgentAnswered, StepFinished
from autopilot.domain.phase import Phase
from autopilot.domain.request import RunEnd, RunRequest
from autopilot.domain.settings import Modes
from autopilot.planning.plan.folders import folder_of
from support.processes import PowerCut
from support.project import make_project, rate_answer, reviews, toml
from support.repos import git, make_repo
from support.runs import Drive, roadmap_of

CHECK = "grep -q fixed code.txt"
FIXED = {"role": "debug", "result": {"fixed": True, "changes": ["code.txt"]}, "write": {"code.txt": "fixed\n"}}
UNFIXED = {"role": "debug", "result": {"fixed": True, "changes": ["code.txt"]}, "write": {"code.txt": "still broken\n"}}


def project(place: Path, *answers: dict[str, Any], roadmap: bool = True) -> Drive:
    root = place / "project"
    if roadmap:
        make_project(root, [], roadmap_of("1"))
    else:
        make_repo(root, {"README.md": "A project without any plan.\n"})
    (root / "code.txt").write_text("broken\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "code with a bug")
    drive = Drive(root)
    drive.script.write_text(toml([*answers, *reviews()]))
    return drive


def debug(drive: Drive, symptom: str = "the code is broken", *checks: str) -> RunEnd:
    request = RunRequest(
        folder=str(drive.root),
        agent=f"scripted:{drive.script}",
        sandbox="none",
        modes=Modes(debug=True),
        symptom=symptom,
        checks=checks or (CHECK,),
    )
    return app.debug(request, drive.hear, drive.warnings.append)


def steps(drive: Drive) -> list[str]:
    return [event.step for event in drive.of(StepFinished)]


@pytest.mark.parametrize("roadmap", [True, False], ids=["with a roadmap", "without one"])
def test_a_problem_is_fixed_by_the_debugger_checked_and_landed(place: Path, roadmap: bool) -> None:
    drive = project(place, FIXED, roadmap=roadmap)

    end = debug(drive)

    assert (end.exit, end.phases["DEBUG-1"].status) == (0, "completed"), end
    assert drive.reads("code.txt") == "fixed\n"
    assert "fix(DEBUG-1): debug attempt 1" in drive.log()
    assert steps(drive) == [
        "preflight", "triage", "verify", "debug", "verify", "judge", "judge_divergence", "rate",
    ]  # fmt: skip


def test_words_of_the_debugger_fix_nothing(place: Path) -> None:
    drive = project(place, UNFIXED)

    end = debug(drive)

    assert (end.exit, end.phases["DEBUG-1"].status) == (10, "failed")
    assert drive.reads("code.txt") == "broken\n"
    assert steps(drive).count("debug") == 3


def test_a_problem_that_no_check_shows_costs_nothing(place: Path) -> None:
    drive = project(place, FIXED)

    end = debug(drive, "something is odd", "grep -q broken code.txt")

    assert end.exit == 10
    assert "none shows the problem; name one that fails with --check" in end.phases["DEBUG-1"].reason
    assert drive.of(AgentAnswered) == []


def test_without_a_command_there_is_nothing_to_go_by(place: Path) -> None:
    drive = project(place, FIXED)

    with pytest.raises(UsageInvalid, match="No command shows the problem"):
        debug(drive, "something is odd", " ")
    assert not (drive.root / ".autopilot" / "journal.db").exists()


def test_debugging_that_was_cut_off_is_resumed(place: Path) -> None:
    drive = project(place, FIXED, roadmap=False)

    def cut(entry: Any) -> None:
        if isinstance(entry.event, StepFinished) and entry.event.step == "debug":
            raise PowerCut

    drive.meanwhile = cut
    with pytest.raises(PowerCut):
        debug(drive)
    drive.meanwhile = lambda _: None
    with pytest.raises(UsageInvalid, match="interrupted"):
        debug(drive)

    assert drive.resume().exit == 0
    assert (drive.reads("code.txt"), steps(drive).count("debug")) == ("fixed\n", 1)


def test_the_verb_says_how_it_ended(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = project(place, FIXED)
    monkeypatch.chdir(drive.root)
    words = ["debug", "the code", "is broken", "--check", CHECK, "--agent", f"scripted:{drive.script}", "--unsandboxed"]

    assert main.main([*words, "--json"]) == 0
    printed = capsys.readouterr()
    assert "Remaining phases: 1" in printed.err
    said = json.loads(printed.out.splitlines()[-1])
    assert said["phases"]["DEBUG-1"]["status"] == "completed"
    assert main.main([*words[:4], "false", *words[5:]]) == 10
    told = capsys.readouterr().out
    assert "autopilot resume" in told
    assert "autopilot DEBUG-2" not in told
    assert main.main(["progress"]) == 0
    assert "DEBUG-1" not in capsys.readouterr().out
    assert main.main(["status"]) == 0
    assert main.main(["receipt", "show", "debug-1"]) == 0
    assert "Phase DEBUG-1: the code is broken" in capsys.readouterr().out


def test_the_folder_of_a_problem_is_never_that_of_a_phase() -> None:
    assert folder_of(Phase(id="1", name="Letter"), ["debug-1-the-code-is-broken"]) == "01-letter"
    assert folder_of(Phase(id="DEBUG-1", name=""), ["01-letter", "debug-1-the-code"]) == "debug-1-the-code"


def test_a_fix_that_is_rated_low_stays_as_it_is(place: Path) -> None:
    drive = project(place, FIXED, rate_answer(8.0))

    end = debug(drive)

    assert (end.phases["DEBUG-1"].status, end.phases["DEBUG-1"].score) == ("completed", 8.0)
    assert {event.role for event in drive.of(AgentAnswered)}.isdisjoint({"plan", "execute"})
    assert drive.reads("code.txt") == "fixed\n"


@pytest.mark.parametrize("roadmap", [True, False], ids=["with a roadmap", "without one"])
def test_a_debug_run_does_not_blame_the_config_for_leaving_out_the_audit(place: Path, roadmap: bool) -> None:
    drive = project(place, FIXED, roadmap=roadmap)

    closing = debug(drive).closing

    assert closing.uncovered == ("DEBUG-1",)
    assert closing.uncovered_because == ("a debug run has no audit: its own commands and the project's gates check it")
