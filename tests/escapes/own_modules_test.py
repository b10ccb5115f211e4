"""A checkout holds modules with our names: nothing that we start imports one of them."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import dashboard as serving
from autopilot.domain.process import Job
from autopilot.domain.visual import Route, VisualTesting
from autopilot.evidence.visual.browser import Chromium
from autopilot.journal.lock import owner
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.own_command import own_command
from autopilot.sandbox.processes.scratch import room
from support.dashboards import served
from support.project import honest
from support.repos import git, write
from support.runs import Drive, driven, playground
from support.waiting import PATIENCE_S, soon

SOURCE = Path(serving.__file__).parents[1]
PROGRAM = Path(sys.executable).with_name("autopilot")
POISONED = (
    "autopilot/__init__.py", "autopilot/__main__.py", "autopilot/cli/__init__.py", "msgspec.py", "platformdirs.py",
    "sitecustomize.py", "usercustomize.py", "encodings.py", "warnings.py",
)  # fmt: skip


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The folder in which each poisoned module leaves its name when it is imported."""
    folder = tmp_path / "imported"
    folder.mkdir()
    return folder


def poisoned(root: Path, mark: Path) -> None:
    files = {path: f"open({str(mark / path.replace('/', '-'))!r}, 'w').close()\n" for path in POISONED}
    write(root, {**files, "evil.pth": f"import os; open({str(mark / 'evil.pth')!r}, 'w').close()\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "our names")


@pytest.fixture
def project(mark: Path) -> Iterator[Drive]:
    with playground() as place:
        made = driven(place, honest(), "1", "3")
        poisoned(made.root, mark)
        yield made


def imported(mark: Path) -> list[str]:
    return sorted(path.name for path in mark.iterdir())


def test_the_checkout_s_modules_are_imported_where_nothing_is_done_about_it(project: Drive, mark: Path) -> None:
    subprocess.run([sys.executable, "-m", "autopilot", "--version"], cwd=project.root, check=False)

    assert "autopilot-__main__.py" in imported(mark)


def test_resume_from_the_page_imports_nothing_of_the_checkout(project: Drive, mark: Path) -> None:
    def stop(entry: Any) -> None:
        if type(entry.event).__name__ == "PhaseLanded":
            project.meanwhile = lambda _: None
            raise KeyboardInterrupt

    project.meanwhile = stop
    with pytest.raises(KeyboardInterrupt):
        project.run()
    with served(project.root, deeds=serving.verbs()) as site:
        said = site.post("/api/projects/1/resume", {}).json["said"]
        soon(lambda: owner(project.root / ".autopilot") is None)

    assert said in {"The run goes on.", "The run came to its end."}
    assert (project.root / "letter3.txt").exists()
    assert imported(mark) == []


@pytest.mark.parametrize("more", [{}, {"PYTHONPATH": os.pathsep}], ids=["plain", "an empty part in PYTHONPATH"])
def test_our_own_command_works_on_the_project_and_imports_nothing_of_it(
    more: dict[str, str], project: Drive, mark: Path
) -> None:
    """An empty part, which many a shell's profile leaves, stands for the working folder."""
    own = own_command(project.root, "progress", environment={**os.environ, **more})
    ran = subprocess.run(own.argv, cwd=own.cwd, env=own.env, capture_output=True, text=True, check=False)

    assert (ran.returncode, "Letter 3" in ran.stdout, imported(mark)) == (0, True, [])
    assert (own.cwd, own.env["PYTHONSAFEPATH"]) == ("/", "1")


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed beside its Python")
def test_doctor_imports_nothing_of_the_checkout(project: Drive, mark: Path) -> None:
    ran = subprocess.run([PROGRAM, "doctor"], cwd=project.root, capture_output=True, text=True, check=False)

    assert ("python" in ran.stdout, imported(mark)) == (True, [])


@pytest.mark.skipif(sys.platform != "linux", reason="keepers need Linux")
def test_a_keeper_imports_nothing_of_the_checkout(
    project: Drive, mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    kept = KeptProcesses(tmp_path / "keep", ChildProcesses(territory=str(tmp_path)), "boot", 60.0)
    job = Job(argv=("/bin/echo", "kept"), cwd=str(project.root), env={}, mark="own/1/execute/1", timeout_s=PATIENCE_S)

    assert kept.run(job).stdout == b"kept\n"
    assert imported(mark) == []


def test_a_visit_to_a_page_imports_nothing_of_the_checkout(
    project: Drive, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("playwright", reason="playwright is not installed")
    monkeypatch.chdir(project.root)
    browser = Chromium(
        executable="/nonexistent", processes=ChildProcesses(), environment=os.environ, mark="own-modules", room=room
    )
    visual = VisualTesting(
        launch_command="true", base_url="http://localhost:1", routes=(Route(path="/", name="home"),), launch_wait_ms=0
    )
    (seen,) = browser.capture(visual, 1)

    assert seen.broken
    assert imported(mark) == []


def alone(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable"


def starts(module: Path) -> Iterator[tuple[str, list[str]]]:
    """Every list of words with our Python in it; and every use of its name that is in no such list."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    listed = set[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple) and any(
            alone(part) or ast.unparse(part) == "interpreter()" for part in node.elts
        ):
            listed.update(node.elts)
            yield module.name, [str(part.value) for part in node.elts if isinstance(part, ast.Constant)]
    yield from ((module.name, []) for node in ast.walk(tree) if alone(node) and node not in listed)


def test_our_python_is_never_started_with_the_working_folder_on_its_path() -> None:
    """`-P` or `-I`, wherever it is started; and the program itself in one place only."""
    found = [start for module in sorted(SOURCE.rglob("*.py")) for start in starts(module)]
    bare = [name for name, words in found if not {"-P", "-I"} & set(words)]

    assert len(found) >= 6
    assert bare == ["landlock.py", "run_app.py"], "those that ask where our Python really is"
    assert [name for name, words in found if "autopilot" in words] == ["own_command.py"]
