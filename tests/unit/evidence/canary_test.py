"""A canary in the form each runner picks up."""

import sys
from pathlib import Path

import pytest

from autopilot.domain.settings import Commands, Limits
from autopilot.evidence.canary import canary, planted
from autopilot.evidence.facts import CommandFacts
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from support.programs import needs
from support.repos import write
from support.workspaces import ENV, make_bench

TEXTS = {"pkg/a_test.go": "package pkg\n", "Cargo.toml": "[package]\nname = 'x'\n"}


@pytest.mark.parametrize(
    ("command", "files", "path", "direct"),
    [
        ("pytest -q", ["tests/test_a.py", "a.py"], "tests/test_zz_autopilot_canary.py", True),
        ("python3 -m pytest", ["pkg/a_test.py"], "pkg/zz_autopilot_canary_test.py", True),
        ("pytest", ["a.py"], "test_zz_autopilot_canary.py", True),
        ("pytest checks", ["checks/__init__.py"], "checks/test_zz_autopilot_canary.py", True),
        ("pytest tests/test_a.py", ["tests/test_a.py"], "tests/test_zz_autopilot_canary.py", False),
        ("python3 -m pytest -k fast", ["tests/test_a.py"], "tests/test_zz_autopilot_canary.py", False),
        ("python3 -m unittest tests.test_a", ["tests/test_a.py"], "tests/test_zz_autopilot_canary.py", False),
        ("node --test", ["test/a.test.mjs"], "test/autopilot-canary.test.mjs", True),
        ("npx vitest run", ["src/a.spec.ts"], "src/autopilot-canary.spec.ts", True),
        ("npm test", ["package.json", "src/a.spec.ts"], "src/autopilot-canary.spec.ts", False),
        ("make test", ["Makefile", "tests/test_a.py"], "tests/test_zz_autopilot_canary.py", False),
        ("go test ./...", ["pkg/a_test.go"], "pkg/autopilot_canary_test.go", True),
        ("cargo test", ["Cargo.toml", "src/lib.rs"], "tests/autopilot_canary.rs", True),
        ("bats tests", ["tests/a.bats"], "tests/autopilot_canary.bats", True),
        ("bundle exec rspec", ["spec/a_spec.rb"], "spec/autopilot_canary_spec.rb", True),
        ("for t in tests/test_*.sh; do sh $t; done", ["tests/test_a.sh", "tests/test_b.py"],
         "tests/test_autopilot_canary.sh", False),
    ],
)  # fmt: skip
def test_a_canary_lies_where_the_command_finds_it(command: str, files: list[str], path: str, direct: bool) -> None:
    bird = canary(command, files, lambda name: TEXTS.get(name, ""))

    assert bird is not None
    assert (bird.path, bird.direct) == (path, direct)


@pytest.mark.parametrize(
    ("command", "files"),
    [("test -f a.txt", ["a.txt"]), ("mvn test", ["pom.xml"]), ("go test ./...", ["a.go"]), ("node --test", [])],
    ids=["no tests", "unknown runner", "no package", "nothing yet"],
)
def test_where_no_form_is_known_there_is_none(command: str, files: list[str]) -> None:
    assert canary(command, files, lambda _: "") is None


def test_a_canary_is_not_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, {"test_a.py": ""})
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "tests").symlink_to(outside)
    write(tmp_path / "project", {"tests2/test_b.py": ""})

    assert planted(str(tmp_path / "project"), "pytest tests") is not None
    assert [p.name for p in outside.iterdir()] == ["test_a.py"]


PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:randomly"
PROJECTS = {
    "pytest": (PYTEST, {"test_a.py": "def test_a():\n    pass\n"}),
    "unittest": ("python3 -m unittest", {"test_a.py": "import unittest\n"}),
    "node": ("node --test", {"a.test.mjs": "import 'node:test';\n"}),
    "shell": ("for t in test_*.sh; do sh $t; done", {"test_a.sh": "true\n"}),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_a_real_runner_turns_red_beside_it(tmp_path: Path, name: str) -> None:
    command, files = PROJECTS[name]
    if name == "node":
        needs("node")
    bench = make_bench(tmp_path, files)
    sandbox = PlainProcess(ChildProcesses(), look(ENV))
    facts = CommandFacts(workspace=bench.workspace, sandbox=sandbox, limits=Limits(), commands=Commands(test=command))

    (green,) = facts.gates(bench.base, Commands(test=command))
    seen = facts.canary(bench.base, command)

    assert seen is not None
    assert (green.exit_code in {0, 5}, seen.run.passed, seen.run.tree == green.tree) == (True, True, True)
    assert seen.run.laid != green.laid


PATCHED = {
    "unittest": (
        "python3 -m unittest",
        {
            "a.py": "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n",
            "test_a.py": "import a, unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n",
        },
    ),
    "node": (
        "node --test",
        {
            "a.mjs": "import assert from 'node:assert';\nassert.strictEqual = () => {};\n",
            "a.test.mjs": "import './a.mjs';\nimport 'node:test';\n",
        },
    ),
}


@pytest.mark.parametrize("name", PATCHED)
def test_a_canary_survives_where_the_product_switched_assertions_off(tmp_path: Path, name: str) -> None:
    command, files = PATCHED[name]
    needs(command.split()[0])
    bench = make_bench(tmp_path, files)
    sandbox = PlainProcess(ChildProcesses(), look(ENV))
    facts = CommandFacts(workspace=bench.workspace, sandbox=sandbox, limits=Limits(), commands=Commands(test=command))
    seen = facts.canary(bench.base, command)

    assert seen is not None
    assert (seen.run.exit_code, seen.run.passed) == (0, False)
