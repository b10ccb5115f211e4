"""Control files: what decides about red and green without being a test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.evidence.control_files import Status, is_control, named_in, needs_text

PACKAGE = '{"scripts": {"test": "jest"}, "dependencies": {}}'
PYTEST = "[project]\nname = 'x'\n[tool.pytest.ini_options]\naddopts = '-q'\n"
NEEDS = "test: out/a\n\t./out/a\n\nout/a: a.c\n\tcc a.c\n"
MAKE = "all:\n\tcc x.c\n\ntest:\n\tpytest\n"


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py", "tests/unit/conftest.py", "pytest.ini", "sitecustomize.py", "src/usercustomize.py", "x.pth",
        "__pycache__/calc.cpython-311.pyc", "unittest.py", "pytest.py", "unittest/__init__.py", "argparse.py",
        "node_modules/jest/index.js", "jest.config.ts", "vitest.config.mts", ".mocharc.json", ".npmrc", "build.rs",
        ".flake8", "ruff.toml", "tools/lint.cfg", ".eslintrc.json", "eslint.config.mjs", ".golangci.yml", ".coveragerc",
        ".husky/pre-commit", ".githooks/pre-push", ".cargo/config.toml", "noxfile.py", "src/setupTests.ts",
    ],
)  # fmt: skip
def test_a_new_control_file_is_one(path: str) -> None:
    assert is_control(path, "A", None, "")


@pytest.mark.parametrize(
    "path",
    ["calc.py", "src/argparse.py", "tests/test_calc.py", "test/__init__.py", "README.md", "package-lock.json", "Makefile",
     "package.json", "build.py", "src/config.ts", "splinter.json", "lint.py", ".github/workflows/ci.yml"],
)  # fmt: skip
def test_an_ordinary_new_file_is_none(path: str) -> None:
    assert not is_control(path, "A", None, "anything = 1\n")


@pytest.mark.parametrize("status", ["M", "D"])
def test_a_ci_definition_that_was_there_is_one(status: Status) -> None:
    assert is_control(".github/workflows/ci.yml", status, None, None)


def test_a_module_that_always_shadowed_another_may_be_edited() -> None:
    assert not is_control("queue.py", "M", "a = 1\n", "a = 2\n")


@pytest.mark.parametrize(
    ("path", "before", "after", "controls"),
    [
        ("package.json", PACKAGE, PACKAGE.replace("jest", "true"), True),
        ("package.json", PACKAGE, PACKAGE.replace("{}}", '{"left-pad": "1"}}'), False),
        ("package.json", PACKAGE, "not json", True),
        ("pyproject.toml", PYTEST, PYTEST.replace("-q", "--co"), True),
        ("pyproject.toml", PYTEST, PYTEST.replace("'x'", "'y'"), False),
        ("pyproject.toml", None, PYTEST, True),
        ("setup.cfg", "", "[tool:pytest]\naddopts = --co\n", True),
        ("tox.ini", "[pytest]\na = 1\n", "[pytest]\n# why\na = 1\n", False),
        ("Makefile", MAKE, MAKE.replace("pytest", "true"), True),
        ("Makefile", MAKE, MAKE.replace("cc x.c", "cc -O2 x.c"), False),
        ("Makefile", NEEDS, NEEDS.replace("a.c", "| a.c"), True),
        ("Makefile", NEEDS, NEEDS + "\n.PHONY: clean\nclean:\n\trm -rf out\n", False),
        ("Makefile", NEEDS, NEEDS + ".IGNORE:\n", True),
        ("Makefile", NEEDS, "SHELL = true\n" + NEEDS, True),
        ("pyproject.toml", "[tool.ruff]\na = 1\n", "[tool.ruff]\na = 2\n", True),
        ("pyproject.toml", None, "[tool.ruff]\na = 2\n", False),
    ],
)
def test_of_a_file_with_many_purposes_only_the_part_that_controls_counts(
    path: str, before: str | None, after: str, controls: bool
) -> None:
    assert needs_text(path)
    assert is_control(path, "M" if before is not None else "A", before, after) == controls


@pytest.mark.parametrize(
    ("path", "command", "named"),
    [
        ("check.sh", "bash check.sh", True),
        ("check.sh", "./check.sh --all", True),
        ("check.sh", "bash scripts/check.sh", False),
        ("scripts/ci.py", "python3 scripts/ci.py", True),
        ("calc.py", "python3 -m py_compile calc.py", False),
        ("main.py", "python3 main.py", False),
        ("check.c", "cc check.c", False),
        ("tests/test_a.py", "pytest tests/test_a.py", False),
    ],
)
def test_a_script_that_a_gate_runs_by_name_controls_it(path: str, command: str, named: bool) -> None:
    assert named_in(path, (command,)) == named


@given(st.text(min_size=1), st.sampled_from(["A", "M", "D", "T"]), st.none() | st.text(), st.none() | st.text())
def test_any_path_and_text_can_be_looked_at(path: str, status: Status, before: str | None, after: str | None) -> None:
    for name in (path, "package.json", "setup.cfg", "Makefile"):
        assert is_control(name, status, before, after) in {True, False}
