"""What a build makes is told from what people write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.evidence.built_files import ignored, is_program, make_targets


@pytest.mark.parametrize(
    "path", ["lib/A.class", "a.jar", "x.cpython-311.pyc", "libx.so.1.2", "a.wasm", "b.EXE", "m.node"]
)
def test_compiled_code_is_known_by_its_name(path: str) -> None:
    assert is_program(path)


@pytest.mark.parametrize("path", ["a.py", "logo.png", "classes.txt", "jar.md", "data.json", "solar.so.md"])
def test_sources_pictures_and_data_are_no_programs(path: str) -> None:
    assert not is_program(path)


def test_the_targets_of_a_makefile_are_read() -> None:
    text = "CC = cc\nX := a:b\n.PHONY: test\ntest: out/basic\n\t./out/basic: x\nout/basic ./out/more: a.c\n%.o: %.c\n\tcc\n"

    assert make_targets(text) == {"test", "out/basic", "out/more"}


@pytest.mark.parametrize(
    ("path", "lines", "told"),
    [
        ("out/basic", "out/\n", True),
        ("out", "out/\n", False),
        ("a/out/b", "out\n", True),
        ("a/b.log", "*.log\n", True),
        ("a/b.log", "/*.log\n", False),
        ("dist/a/b.js", "/dist\n", True),
        ("dist/keep.js", "dist/*\n!dist/keep.js\n", False),
        ("src/a.py", "# src/\n\nout/\n", False),
    ],
)
def test_an_ignore_list_is_read_as_git_reads_it(path: str, lines: str, told: bool) -> None:
    assert ignored(path, lines) == told


@given(st.text(min_size=1), st.text())
def test_any_path_and_list_can_be_looked_at(path: str, text: str) -> None:
    assert ignored(path, text) in {True, False}
    assert all(make_targets(text))
