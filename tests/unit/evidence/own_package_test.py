"""A fact about a Python project is about the package in its checkout, or it is not made."""

from pathlib import Path

import pytest

from autopilot.domain.process import Job, Ran
from autopilot.domain.settings import Limits
from autopilot.evidence.facts import CommandFacts
from autopilot.evidence.own_package import astray, probe
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.dependency_path import EquippedProcesses, EquippedSandbox, Kit
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from support.processes import PlainProcesses
from support.records import criterion
from support.repos import write
from support.workspaces import ENV, make_bench

NAMED = '[project]\nname = "my-calc"\n'
PYTHONPATH = '[tool.pytest.ini_options]\npythonpath = ["src"]\n'


class Elsewhere:
    """A sandbox in which Python finds another copy of the package."""

    tier = label = "none (unsandboxed)"

    def __init__(self, installed: Path) -> None:
        self.installed = installed

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        plain = PlainProcess(ChildProcesses(), look(ENV))
        return plain.run(f"export PYTHONPATH={self.installed}\n{command}", folder, timeout_s)


@pytest.mark.parametrize(
    ("files", "passes"),
    [
        ({"pyproject.toml": NAMED, "src/my_calc.py": ""}, False),
        ({"pyproject.toml": NAMED + PYTHONPATH, "src/my_calc.py": ""}, True),
        ({"pyproject.toml": NAMED, "my_calc/__init__.py": ""}, True),
        ({"pyproject.toml": '[project]\nname = "other"\n'}, True),
        ({"pyproject.toml": "no toml", "my_calc.py": ""}, True),
        ({"a.txt": ""}, True),
    ],
    ids=["sources aside", "sources on pytest's path", "flat", "not installed", "unreadable", "no python project"],
)
def test_a_fact_is_refused_when_another_copy_would_be_tested(
    tmp_path: Path, files: dict[str, str], passes: bool
) -> None:
    bench = make_bench(tmp_path, files)
    write(tmp_path / "installed", {"my_calc.py": ""})
    facts = CommandFacts(workspace=bench.workspace, sandbox=Elsewhere(tmp_path / "installed"), limits=Limits())

    (run,) = facts.check(bench.base, [criterion("c1", "python3 -c 'pass'")], {})
    assert run.passed is passes
    assert ("not run: the project's own package is found at" in run.output) is not passes
    assert run.ended.startswith("exited 0" if passes else "was not run: the project's own package is found at")


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("PYTHONPATH=src python3 -c 'import my_calc'", True),
        ('export PYTHONPATH="$PWD/src:$PYTHONPATH"; python3 -c "import my_calc"', True),
        ("env PYTHONPATH=src python3 -m my_calc", True),
        ("cd src && python3 -c 'import my_calc'", True),
        ("grep -q my src/my_calc.py && test -f a.txt", True),
        ("! grep -q your src/my_calc.py", True),
        ("PYTHONPATH=lib:$PYTHONPATH python3 -c 'import my_calc'", False),
        ("python3 -c 'import my_calc'", False),
        ("make test", False),
        ("echo $(python3 -c 'import my_calc')", False),
    ],
)
def test_a_command_that_finds_the_checkout_s_package_or_needs_none_is_run(
    tmp_path: Path, command: str, runs: bool
) -> None:
    files = {
        "pyproject.toml": NAMED,
        "src/my_calc.py": "MINE = 'my'\n",
        "a.txt": "",
        "Makefile": "test:\n\tpython3 -V\n",
    }
    bench = make_bench(tmp_path, files)
    write(tmp_path / "installed", {"my_calc.py": "raise SystemExit(3)\n"})
    facts = CommandFacts(workspace=bench.workspace, sandbox=Elsewhere(tmp_path / "installed"), limits=Limits())

    (run,) = facts.check(bench.base, [criterion("c1", command)], {})
    assert (run.code, run.passed) == (("exit 0", True) if runs else ("not run", False))


@pytest.mark.parametrize("file", ["pytest.ini", "tox.ini", "setup.cfg"])
def test_what_pytest_is_told_elsewhere_counts_as_well(tmp_path: Path, file: str) -> None:
    section = "tool:pytest" if file == "setup.cfg" else "pytest"
    write(tmp_path, {"pyproject.toml": NAMED, file: f"[{section}]\npythonpath = src lib\n"})

    asked = probe(str(tmp_path), "pytest")
    assert asked is not None
    assert asked.endswith("my_calc src lib")


def test_settings_that_cannot_be_read_are_no_obstacle(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": NAMED, "pytest.ini": "pythonpath = src\n[", "setup.cfg": "\x00"})

    assert probe(str(tmp_path), "pytest") is not None


@pytest.mark.parametrize("name", ["x; rm -rf /", "-c", "", "../x"])
def test_a_name_that_is_none_is_not_looked_for(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"pyproject.toml": f'[project]\nname = "{name}"\n'})

    assert probe(str(tmp_path), "pytest") is None


def test_output_that_says_nothing_refuses_nothing(tmp_path: Path) -> None:
    assert astray("", str(tmp_path)) == astray("AUTOPILOT-OWN-PACKAGE:\n", str(tmp_path)) == ""
    assert astray("noise\nAUTOPILOT-OWN-PACKAGE:my_calc.py\n", str(tmp_path)) == ""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    write(tmp_path, {"root/.venv/pyvenv.cfg": "", "root/.venv/bin/tool": "#!/bin/sh\necho found\n"})
    (tmp_path / "root/.venv/bin/tool").chmod(0o755)
    (tmp_path / "clone").mkdir()
    return tmp_path / "root" / ".venv"


def test_programs_of_a_linked_environment_are_found_by_commands_and_agents(tmp_path: Path, environment: Path) -> None:
    (tmp_path / "clone" / ".venv").symlink_to(environment)
    kit, processes = Kit((str(environment),)), PlainProcesses()

    done = EquippedSandbox(PlainProcess(ChildProcesses(), look(ENV)), kit).run("tool", str(tmp_path / "clone"), 9)
    assert done.stdout == b"found\n"
    job_env = {"PATH": "/usr/bin:/bin"}
    EquippedProcesses(processes, kit).run(Job(argv=("env",), cwd=str(tmp_path / "clone"), env=job_env))
    assert processes.jobs[0].env["PATH"] == f"{environment}/bin:/usr/bin:/bin"
    assert processes.jobs[0].argv[0] in {"/usr/bin/env", "/bin/env"}


def test_an_environment_an_agent_linked_or_made_itself_is_not_on_the_path(tmp_path: Path, environment: Path) -> None:
    kit, clone = Kit((str(environment),)), tmp_path / "clone"
    write(tmp_path / "evil", {"pyvenv.cfg": ""})

    for target in (tmp_path / "evil", f"{environment}/../../evil"):
        (clone / ".venv").symlink_to(target)
        assert kit.variables(str(clone), "") == {}
        (clone / ".venv").unlink()
    write(clone, {".venv/pyvenv.cfg": ""})
    assert kit.variables(str(clone), "") == {}
