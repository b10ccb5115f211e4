"""Dependency folders reach clones and checkouts without being writable, committed, or leading back to the checkout."""

import json
import sys
import venv
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.cli.main import main
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.events import PhaseFinished, StepFinished
from autopilot.domain.results import Verified
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.workspace.files.removal import remove
from support.programs import trouble_with
from support.project import ACTION, reviews
from support.repos import git, write
from support.runs import Drive, driven, snapshot
from support.trusting import trust

pytestmark = pytest.mark.sandbox

IMPORTS = 'python3 -c "import calc, needed; assert calc.double(2) == needed.FOUR"'
REQUIRES = "node -e \"if (require('x').four !== 4 || !require('fs').readFileSync('calc.py')) process.exit(1)\""
UNWRITABLE = "! touch node_modules/x/spoilt && ! touch .venv/spoilt && python3 -c 'import calc'"
IGNORED = "node_modules/\n.venv/\n"
READS = "python3 -c \"import calc; assert '4' in open('node_modules/x/index.js').read()\""
SETUP = "mkdir -p node_modules/x && echo 'exports.four = 4' > node_modules/x/index.js"


def project(
    place: Path, *commands: str, setup: str | None = None, ignored: str = IGNORED, source: str = "calc.py"
) -> Drive:
    """A task that writes the source, and a criterion a command."""
    listed = "".join(f"- check {n} -- verified by: `{command}`\n" for n, command in enumerate(commands))
    text = (
        '# Plan: Phase 1 -- Double\n\n## Wave 1\n\n<task id="01-01" type="auto" complexity="simple">\n'
        f"### Task 01-01: Double\n**Files:** {source}\n**Action:** {ACTION}\n**Verify:**\n{listed}"
        "**Done:** It doubles.\n</task>\n"
    )
    result = {"tasks_completed": "1/1", "tasks_failed": "0/1"}
    answers = [
        *reviews(),
        {"role": "plan", "result": {"total_tasks": 1}, "write": {"{dir}/PLAN.md": text}},
        {"role": "execute", "result": result, "write": {source: "def double(a):\n    return a * 2\n"}},
        {"role": "debug", "result": {"fixed": False}},
    ]
    drive = driven(place, answers)
    roadmap = f"# Roadmap\n\n### Phase 1: Double\n**Goal**: Double.\n**Success Criteria** (what must be TRUE):\n  1. It doubles -- verified by: `{commands[0]}`\n"
    config = {"workflow": {"research": False}, "limits": {"task_fixes": 0, "debug_attempts": 0, "replans": 0}}
    if setup:
        config["workspace"] = {"setup": setup}
    write(drive.root, {".gitignore": ignored, ".planning/ROADMAP.md": roadmap})
    write(drive.root, {".planning/config.json": json.dumps(config)})
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-q", "--amend", "-m", "start")
    return drive


def install(root: Path) -> Path:
    """What package managers would leave there; the folder of Python's packages."""
    write(root, {"node_modules/x/index.js": "exports.four = 4\n", "node_modules/x/package.json": '{"name": "x"}'})
    venv.create(root / ".venv", symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = root / ".venv" / "lib" / version / "site-packages"
    write(packages, {"needed.py": "FOUR = 4\n"})
    return packages


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not app.has_sandbox():
        pytest.skip("nothing can be confined here, and then nothing is linked")
    monkeypatch.setenv("AUTOPILOT_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_installed_packages_are_found_in_the_sandbox_and_stay_as_they_are(home: Path, tier: SandboxChoice) -> None:
    try:
        choose(tier, ChildProcesses())
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    drive = project(home, IMPORTS, *([] if trouble_with("node") else [REQUIRES]), UNWRITABLE)
    install(drive.root)
    before = snapshot(drive.root / ".venv"), snapshot(drive.root / "node_modules")

    end = drive.run(sandbox=tier)
    assert (end.exit, end.reason) == (0, "every target phase passed")
    assert (snapshot(drive.root / ".venv"), snapshot(drive.root / "node_modules")) == before
    assert git(drive.root, "ls-tree", "--name-only", "HEAD").split() == [
        ".gitignore", ".planning", "README.md", "calc.py", "notes.txt",
    ]  # fmt: skip
    verified = [done.result for done in drive.of(StepFinished) if isinstance(done.result, Verified)]
    assert verified[0].checks[0].confined


def test_names_ignored_without_a_slash_are_left_out_and_the_work_passes(home: Path) -> None:
    drive = project(home, IMPORTS, ignored="node_modules\n.venv\n")
    install(drive.root)

    end = drive.run(sandbox="auto")
    assert (end.exit, end.reason) == (0, "every target phase passed")
    assert git(drive.root, "ls-tree", "--name-only", "HEAD").split() == [
        ".gitignore", ".planning", "README.md", "calc.py", "notes.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["PYTHONPATH=src ", ""], ids=["finds the checkout's", "finds the installed one"])
def test_a_command_is_refused_only_if_it_finds_the_installed_package_and_the_reason_is_shown(
    home: Path, path: str
) -> None:
    drive = project(home, f'{path}python3 -c "import calc; assert calc.double(2) == 4"', source="src/calc.py")
    write(drive.root, {"pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n'})
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-q", "--amend", "-m", "start")
    write(install(drive.root), {"calc.py": "def double(a):\n    return 0\n"})

    end = drive.run(sandbox="auto")
    assert end.exit == (0 if path else 10)
    reason = drive.of(PhaseFinished)[-1].outcome.reason
    assert "cut off" not in reason
    assert ("was not run: the project's own package is found at" in reason) == (not path)


def test_an_editable_install_is_not_linked_and_the_user_is_told_what_to_do(home: Path) -> None:
    drive = project(home, IMPORTS)
    write(install(drive.root), {"__editable__.calc.pth": f"{drive.root}/src\n"})
    write(drive.root, {"src/calc.py": "def double(a):\n    return 4\n", "uv.lock": ""})

    assert drive.run(sandbox="auto").exit == 10
    (told,) = (line for line in drive.warnings if "not linked" in line)
    assert told.startswith(".venv is not linked into clones and checkouts: lib/python3.")
    assert f"__editable__.calc.pth leads to {drive.root}/src." in told
    assert '"workspace": {"setup": "uv sync --frozen --no-install-project"}' in told
    (checked,) = (c for c in app.examine(str(drive.root)) if c.what == "dependencies" and c.level == "warn")
    assert "leads to" in checked.found
    assert "uv sync" in checked.fix


def test_a_set_up_command_makes_the_folders_once_and_not_in_the_checkout(home: Path) -> None:
    drive = project(home, READS, setup=SETUP)

    assert drive.run(sandbox="auto").exit == 0
    told = [line.partition(" in ")[0] for line in drive.warnings if line.startswith("Set up")]
    assert told == [f"Set up node_modules with `{SETUP}`"]
    assert not (drive.root / "node_modules").exists()


def test_without_a_sandbox_nothing_is_linked(home: Path) -> None:
    drive = project(home, "python3 -c \"import calc, os; assert not os.path.lexists('node_modules')\"")
    write(drive.root, {"node_modules/x/index.js": ""})

    assert drive.run(sandbox="none").exit == 0
    assert any(line.startswith("node_modules of your checkout not linked into clones") for line in drive.warnings)


@pytest.mark.parametrize("setup", [None, SETUP], ids=["linked", "set up"])
def test_a_receipt_holds_where_its_commands_find_the_dependency_folders_again(home: Path, setup: str | None) -> None:
    drive = project(home, IMPORTS if setup is None else READS, setup=setup)
    if setup is None:
        install(drive.root)
    assert drive.run(sandbox="auto").exit == 0

    done = app.check_receipt(str(drive.root), "1", None, "auto", drive.warnings.append)

    assert (done.same, done.differences) == (True, ())
    assert {(row.name, row.now) for row in done.repeated if row.when == "after"} >= {("SC-1", "pass, exit 0")}


@pytest.mark.parametrize("setup", [None, SETUP], ids=["linked", "set up"])
def test_a_criterion_that_holds_already_is_noticed_with_the_dependency_folders(home: Path, setup: str | None) -> None:
    drive = project(home, "grep -q 4 node_modules/x/index.js", setup=setup)
    if setup is None:
        install(drive.root)

    assert any("node_modules/x/index.js" in note.what for note in app.tried_commands(drive.root))


def test_a_receipt_that_is_checked_without_the_dependency_folder_says_that_it_is_missing(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = project(home, READS, ignored="node_modules/\n")
    install(drive.root)
    remove(drive.root / ".venv")
    assert drive.run(sandbox="auto").exit == 0
    git(home, "clone", "-q", str(drive.root), "clone")
    monkeypatch.chdir(home / "clone")

    assert main(["receipt", "check", "1"]) == 10
    assert "differs: the dependency folder node_modules is missing here" in capfd.readouterr().out

    write(home / "clone", {"node_modules/x/index.js": "exports.four = 4\n"})
    assert main(["receipt", "check", "1"]) == 0

    trust(home / "clone")
    assert main(["receipt", "check", "1", "--sandbox", "none"]) == 10
    assert "differs: node_modules of your checkout not linked into clones: " in capfd.readouterr().out
