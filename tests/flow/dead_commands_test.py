"""A detected command that does not run here is reported and not used; its gate is absent and never passes."""

from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.cli.parser import parse
from autopilot.cli.verbs import phases
from autopilot.domain.events import RunStarted, StepFinished
from autopilot.domain.request import RunRequest
from autopilot.domain.results import Executed, Verified
from autopilot.sandbox.processes.tool_versions import missing_program
from support.project import make_project, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, roadmap_of

ANSWERS = [
    *reviews(),
    plan_answer("1", [("letter1.txt", "done")]),
    work_answer("1", "01-01", "letter1.txt", "done 1\n"),
]
MAKEFILE = "test:\n\ttest -f README.md\nlint:\n\tno-such-linter-anywhere .\n"


def project(place: Path, config: str = "{}") -> Drive:
    root = make_project(place / "project", ANSWERS, roadmap_of("1"))
    write(root, {"Makefile": MAKEFILE, ".planning/config.json": config})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "make")
    return Drive(root)


def test_a_detected_command_that_does_not_run_has_no_gate(place: Path) -> None:
    run = project(place)

    end = run.run()

    first = run.of(RunStarted)[0]
    assert end.exit == 0
    [caveat] = end.phases["1"].caveats
    assert caveat.startswith("the lint command does not run here (")
    assert (first.settings.commands.test, first.settings.commands.lint) == ("make test", None)
    assert list(first.unused) == ["lint"]
    told = [line for line in run.warnings if "make lint" in line]
    assert len(told) == 1
    assert "does not run here" in told[0]
    seen = next(s.result for s in run.of(StepFinished) if isinstance(s.result, Verified))
    work = next(s.result for s in run.of(StepFinished) if isinstance(s.result, Executed)).work
    assert {gate.check for gate in (*seen.gates, *work.gates_before, *work.gates_after)} == {"test"}
    report = next((run.root / ".autopilot").glob("completion-*.md")).read_text()
    assert "Gate absent: the detected lint command does not run here" in report


@pytest.mark.parametrize("setup", ["", "true"], ids=["no set-up command", "a set-up command"])
def test_a_gate_that_fails_at_the_start_shows_its_output_and_the_set_up_command(place: Path, setup: str) -> None:
    """The user sees what the gate printed; where something seems to be missing, also how to have it installed."""
    config = f'{{"workspace": {{"setup": "{setup}"}}}}' if setup else "{}"
    run = project(place, config)
    write(run.root, {"Makefile": "test:\n\t@echo \"Error: Cannot find module 'tape'\"; exit 1\n"})
    write(run.root, {"package-lock.json": "{}"})
    git(run.root, "add", "-A")
    git(run.root, "commit", "-qm", "make")

    run.run()

    (told,) = (line for line in run.warnings if "make test" in line)
    assert "\n    Error: Cannot find module 'tape'\n" in told
    assert ('"workspace": {"setup": "npm ci"}' in told) is not bool(setup)


def test_a_dry_run_marks_what_is_known_not_to_run(place: Path) -> None:
    run = project(place, '{"project": {"commands": {"build": "no-such-builder-anywhere ."}}}')
    request = RunRequest(folder=str(run.root), agent=f"scripted:{run.script}", sandbox="none", phases="1")
    before = app.foresee(request).project.commands
    assert before["build"].broken == "no-such-builder-anywhere is not installed"
    assert (before["test"].broken, before["lint"].broken) == ("", "")

    run.run()

    after = app.foresee(request).project.commands
    assert after["lint"].broken.endswith(f"(as of {run.of(RunStarted)[0].run})")
    assert after["test"].broken == ""


def test_a_command_of_the_config_is_the_user_s_word(place: Path) -> None:
    run = project(place, '{"project": {"commands": {"lint": "no-such-linter-anywhere ."}}}')

    run.run()

    first = run.of(RunStarted)[0]
    assert (first.settings.commands.lint, first.unused) == ("no-such-linter-anywhere .", {})


def test_phases_check_tries_them_and_writes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = project(place)

    code = phases.perform(parse("phases check", []), app.desk(str(run.root)))

    said = capsys.readouterr().out
    assert code == 0
    assert "make lint" in said
    assert "make test" not in said
    assert not (run.root / ".autopilot").exists()
    assert git(run.root, "status", "--porcelain") == ""


def test_doctor_names_the_program_that_is_missing(place: Path) -> None:
    run = project(place)
    write(run.root, {"pom.xml": "<project/>\n", "mvnw": "a file that cannot be started\n"})

    found = [
        check for check in app.examine(str(run.root)) if check.what == "commands" and "./mvnw is not" in check.found
    ]

    assert {check.level for check in found} == {"warn"}
    assert found


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("tool --x", ""),
        ("CI=1 tool", ""),
        ("other", "other"),
        ("cd a && other", ""),
        ("./run.sh", "./run.sh"),
        ("'", ""),
    ],
)
def test_a_program_is_looked_for_on_the_path_and_in_the_project(place: Path, command: str, missing: str) -> None:
    tool = place / "bin" / "tool"
    write(place, {"bin/tool": "#!/bin/sh\n"})
    tool.chmod(0o755)

    assert missing_program(command, place, {"PATH": str(tool.parent)}) == missing
