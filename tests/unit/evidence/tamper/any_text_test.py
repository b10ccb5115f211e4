"""Whatever a change holds, detectors answer, in time, and find nothing where nothing changed."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.evidence import FileTexts, FileVersion
from autopilot.evidence.tamper.detectors import detect
from autopilot.evidence.tamper.masking import LONGEST_LINE, masked
from unit.evidence.tamper import cheats

PATHS = (
    "tests/test_a.py", "a/b.py", "conftest.py", "src/a.test.ts", "src/a.js", "a_test.go", "src/a.rs", "src/test/ATest.java",
    "tests/check.sh", "t.bats", "Makefile", "package.json", "pyproject.toml", "tox.ini", ".github/workflows/ci.yml",
    ".gitattributes", ".gitignore", ".eslintrc.json", "jest.config.js", "tests/noname",
)  # fmt: skip
FRAGMENTS = (
    "def test_a():\n", "    assert x == 1\n", "it('a', () => {", "expect(a).toBe(1)", "});\n", "{", "}", "(", ")", '"', "'", "`",
    "\\", "/*", "*/", '"""', "#[test]\n", "fn a() ", "@Test\n", "void a() ", "func TestA(t *T) ", "|| true", "exit 0\n", "#", "//",
    '@test "a" {\n', "try:\n", "except:\n", "[tool.x]\n", "a = 1\n", "<<END\n", "\0", "\r", "\u2028", "\ud800", "é", "  - run: pytest\n",
)  # fmt: skip
texts = st.one_of(
    st.text(max_size=80), st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join), st.binary(max_size=60).map(lambda b: b.decode("utf-8", "replace")),
)  # fmt: skip
versions = st.none() | st.builds(
    FileVersion,
    mode=st.sampled_from(("100644", "100755", "120000", "160000")),
    text=st.none() | texts,
    size=st.integers(0, 9),
)
changes = st.lists(
    st.builds(FileTexts, path=st.sampled_from(PATHS) | texts, before=versions, after=versions), max_size=4
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(changes)
def test_no_change_makes_a_detector_raise(files: list[FileTexts]) -> None:
    for finding in detect(files, lambda: {"tests/test_a.py": "def test_a():\n    assert f('a') == 12\n"}):
        assert finding.what
        assert finding.where


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PATHS), texts)
def test_an_unchanged_file_has_no_finding(path: str, text: str) -> None:
    same = FileVersion(mode="100644", text=text[:LONGEST_LINE], size=len(text))

    assert [f for f in detect([FileTexts(path=path, before=same, after=same)]) if f.rule != "not-analysed"] == []


@pytest.mark.parametrize("cheat", cheats.TESTS, ids=[cheat[0] for cheat in cheats.TESTS])
def test_leaving_a_text_as_it_is_is_never_a_cheat(cheat: cheats.Cheat) -> None:
    for text in (cheat[2], cheat[3]):
        if text is not None:
            same = FileVersion(mode="100644", text=text, size=len(text))
            found = detect([FileTexts(path=cheat[1], before=same, after=same)])
            assert found == ()


@settings(max_examples=80, deadline=None)
@given(
    texts, st.sampled_from(("python", "javascript", "go", "rust", "java", "shell", "yaml", "toml", "ini", "json", ""))
)
def test_masking_keeps_every_line_where_it_is(text: str, language: str) -> None:
    read = masked(text, language)

    assert len(read.raw) == len(read.bare) == len(read.code)
    assert [i for i, c in enumerate(read.raw) if c == "\n"] == [i for i, c in enumerate(read.code) if c == "\n"]


PIECES = ("a", "(", "it(", '"\\', "'", "/*", "=/[", "assert ", "|| true ", "@a ", "#[a] ", "{", "x." , "expect(", "fn a ", "-", "\t")  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("end", ["", "\n"], ids=["one line", "many lines"])
def test_a_line_of_a_megabyte_and_endless_lines_are_read_in_time(piece: str, end: str) -> None:
    """Long enough that a pattern which looks at every pair of letters would take minutes."""
    text = (piece + end) * ((8_000 if end else 1_000_000) // len(piece + end))
    after = FileVersion(mode="100644", text=text, size=len(text))
    began = time.process_time()

    for path in (
        "tests/test_a.py",
        "src/a.test.ts",
        "src/a.rs",
        "src/test/ATest.java",
        "tests/check.sh",
        "package.json",
    ):
        detect([FileTexts(path=path, before=FileVersion(mode="100644", text="x\n"), after=after)])

    assert time.process_time() - began < 20
