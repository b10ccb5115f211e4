"""What is read of a source file: exactly what is in it, and nothing at all may make the reader fall."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.codemap import extract
from autopilot.codemap.extract import WALKS
from autopilot.codemap.grammars import missing
from autopilot.codemap.languages import grammar_of, language_of
from autopilot.domain.codemap import Outline

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"the extra `map` is not installed: {missing()}")

SAMPLES = Path(__file__).parents[2] / "data" / "repo_map"
LANGUAGES = ("python", "typescript", "javascript", "go", "rust", "java", "csharp", "c", "cpp", "ruby", "php")
BITS = st.sampled_from(
    ["def f(", "class A(B):", "\n", "  ", "{", "}", "(", ")", '"', "'", "`", "import x", "from . import (", "export ",
     "function g", "pub fn", "impl ", "#include <", "#ifdef", "<?php ", "use a::{b", "é", "\0", "=>", "end", "//", "/*"]
)  # fmt: skip


def outline(grammar: str, source: bytes) -> Outline:
    return msgspec.convert(extract.outline(grammar, source), Outline)


def sample(language: str) -> bytes:
    return (SAMPLES / f"{language}.txt").read_bytes()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sample_of_the_language_has_exactly_the_outline_written_for_it(language: str) -> None:
    expected = msgspec.json.decode((SAMPLES / f"{language}.json").read_bytes(), type=Outline)

    assert outline(language, sample(language)) == expected


def test_every_grammar_has_a_sample_or_shares_one() -> None:
    assert set(WALKS) - {"tsx"} == set(LANGUAGES)


def test_a_typed_module_with_markup_is_read_as_such() -> None:
    found = outline("tsx", b"export const App = () => <Box on={() => go()} />;\nfunction go() {}\n")

    assert [c.callees for c in found.call_graph] == [("go",)]


@given(
    st.sampled_from(["import", "import type", "export", "export type"]),
    st.lists(st.sampled_from(["a", "$b as c", "type D", "type F as G", "default as h"]), max_size=4),
    st.sampled_from([", ", ",\n  "]),
)
@settings(max_examples=60, deadline=None)
def test_a_plain_list_of_names_says_what_one_with_a_comment_says(verb: str, names: list[str], between: str) -> None:
    plain = f"{verb} {{ {between.join(names)} }} from './m';\n"

    assert outline("typescript", plain.encode()) == outline("typescript", plain.replace("}", "/**/}").encode())


@pytest.mark.parametrize("grammar", sorted(WALKS))
@given(parts=st.lists(BITS, max_size=25))
@settings(max_examples=25, deadline=None)
def test_garbage_has_an_outline_too(grammar: str, parts: list[str]) -> None:
    assert isinstance(outline(grammar, "".join(parts).encode()), Outline)


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_file_cut_off_anywhere_or_with_bytes_turned_has_an_outline_too(language: str, data: st.DataObject) -> None:
    whole = bytearray(sample(language))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))

    assert isinstance(outline(language, bytes(whole[:cut])), Outline)


@pytest.mark.parametrize("language", LANGUAGES)
def test_callers_and_callees_are_defined_in_the_file(language: str) -> None:
    found = outline(language, sample(language))
    methods = {f"{c.name}.{method}" for c in found.classes for method in c.methods}
    defined = {f.name for f in found.functions} | {c.name for c in found.classes} | methods

    assert {name for calls in found.call_graph for name in (calls.caller, *calls.callees)} <= defined


@pytest.mark.parametrize(
    ("source", "exported"),
    [
        ("__all__ = ['_a']\ndef _a(): ...\ndef b(): ...\n", ["_a"]),
        ("def _a(): ...\ndef b(): ...\n", ["b"]),
        ("a = 1\na = 2\n", ["a"]),
        ("x.y = 1\n[p, q] = 1, 2\n", []),
    ],
    ids=["as it lists them", "public by name", "once", "no names"],
)
def test_what_a_python_module_exports(source: str, exported: list[str]) -> None:
    assert [e.name for e in outline("python", source.encode()).exports] == exported


@pytest.mark.parametrize(
    ("path", "language", "grammar"),
    [("a.TSX", "typescript", "tsx"), ("a/b.h", "c", "c"), ("a.md", "markdown", None), ("x.json", "json", None),
     ("Makefile", "other", None), ("a.pyi", "python", "python")],
)  # fmt: skip
def test_the_name_says_the_language(path: str, language: str, grammar: str | None) -> None:
    assert (language_of(path), grammar_of(path)) == (language, grammar)
