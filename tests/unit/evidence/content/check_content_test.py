"""What is wrong inside changed files, by the phase's type; read from real files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.evidence import Finding
from autopilot.domain.phase import PhaseType
from autopilot.evidence.content.check_content import findings, relevant, softened
from autopilot.evidence.content.data_files import READERS
from support.repos import write


def found(folder: Path, files: dict[str, str], kind: PhaseType, *claimed: str) -> list[tuple[str, str]]:
    """Where and how severe; only the first file is the change."""
    write(folder, files)
    return [(f.where, f.severity) for f in findings(str(folder), list(files)[:1], kind, claimed)]


BAD_DATA = {
    "json": ("a.json", '{"a": 1,}'),
    "json lines": ("a.jsonl", '{"a": 1}\n\n{"a":\n'),
    "toml": ("a.toml", "a = \n"),
    "empty": ("a.json", ""),
    "deep": ("a.json", "[" * 100_000),
    "settings": ("tsconfig.json", '{"a": // why\n'),
}


@pytest.mark.parametrize(("path", "text"), BAD_DATA.values(), ids=BAD_DATA)
def test_ptv_02_a_data_file_that_cannot_be_read_blocks(tmp_path: Path, path: str, text: str) -> None:
    assert found(tmp_path, {path: text}, "data") == [(path, "blocker")]


GOOD_DATA = {
    "json": ("a.json", '{"a": 1}'),
    "with a mark": ("a.json", "\ufeff[]"),
    "comments": ("tsconfig.json", '{"a": "//x", /* why */ "b": [1,],} // end'),
    "json lines": ("a.jsonl", "1\n\n2\n"),
    "toml": ("a.toml", "a = 1\n"),
    "table": ("a.csv", 'a,b\n1,"x, y"\n'),
    "tabs": ("a.tsv", "a\tb\n1\t2\n"),
    "another kind": ("a.yaml", "a: ["),
}


@pytest.mark.parametrize(("path", "text"), GOOD_DATA.values(), ids=GOOD_DATA)
def test_ptv_02_a_data_file_that_reads_is_not_told(tmp_path: Path, path: str, text: str) -> None:
    assert found(tmp_path, {path: text}, "data") == []


ODD_DATA = {
    "uneven rows": ("a.csv", "a,b\n1\n"),
    "a template": ("a.json", '{"name": {{ name }}}'),
    "broken on purpose": ("tests/data/broken.json", "{"),
}


@pytest.mark.parametrize(("path", "text"), ODD_DATA.values(), ids=ODD_DATA)
def test_ptv_02_what_may_be_meant_is_only_a_warning(tmp_path: Path, path: str, text: str) -> None:
    assert found(tmp_path, {path: text}, "data") == [(path, "warning")]


def test_a_broken_name_outside_the_tests_excuses_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, {"data/broken.json": "{"}, "data") == [("data/broken.json", "blocker")]


@given(st.binary(max_size=40), st.sampled_from(sorted(READERS)))
def test_any_content_is_read_without_a_crash(tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("any")
    (folder / f"a{suffix}").write_bytes(content)

    assert {f.rule for f in findings(str(folder), [f"a{suffix}"], "data", ())} <= {"PTV-02"}


PROSE = """# Agents
See `agents/judge.md`, `judge.md`, `../README.md`, `src/gone.py` and `missing.md`.
Call `console.log`, `os.path` or `a/b` with `--x`; not `.planning/x.md` or `/etc/hosts.txt`.
"""


def test_ptv_01_a_file_that_prose_names_and_that_is_missing_is_a_warning(tmp_path: Path) -> None:
    files = {"docs/agents.md": PROSE, "README.md": "", "docs/agents/judge.md": ""}

    assert found(tmp_path, files, "protocol") == [("docs/agents.md:2", "warning")] * 2


def test_ptv_01_a_file_the_plan_was_to_bring_blocks_when_it_is_missing(tmp_path: Path) -> None:
    assert found(tmp_path, {"a.md": "`src/gone.py`\n"}, "protocol", "src/gone.py") == [("a.md:1", "blocker")]


@pytest.mark.parametrize(
    ("block", "severity"),
    [
        ('{"a": 1}', None), ('{"a": 1}\n{"b": 2}', None), ("", None), ('{"a": 1', "blocker"), ("{'a': 1}", "blocker"),
        ('{"a": ...}', "warning"), ('{"a": <id>}', "warning"), ('{"a": 1 // why\n}', "warning"),
    ],
)  # fmt: skip
def test_ptv_01_a_json_block_parses_unless_it_is_a_sketch(tmp_path: Path, block: str, severity: str | None) -> None:
    wanted = [("a.md:3", severity)] if severity else []

    assert found(tmp_path, {"a.md": f"# A\n\n```json\n{block}\n```\n"}, "protocol") == wanted


IMPORTS = """import { b } from './b'
import type { C } from "../types.js"
import './style.css?inline'
const d = await import('./pages')
// import x from './commented'
/* import y from './too' */
import $t from './$types'
import react from 'react'
export { z } from './gone'
const e = require("./lost.json")
"""


def test_ptv_03_an_import_that_leads_nowhere_blocks(tmp_path: Path) -> None:
    files = {"src/a/app.tsx": IMPORTS, "src/a/b.ts": "", "src/types.ts": "", "src/a/style.css": "", "src/a/pages/index.vue": ""}  # fmt: skip

    assert found(tmp_path, files, "ui") == [("src/a/app.tsx:9", "blocker"), ("src/a/app.tsx:10", "blocker")]


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("a.scss", '@use "./base";\n@import "./gone";\n', [("a.scss:2", "blocker")]),
        ("a.html", '<script src="app.js"></script>\n<link href="gone.css">\n', [("a.html:2", "blocker")]),
        ("a.html", '<script src="https://x.org/a.js"></script><link href="/abs.css"><link href="{{ u }}">', []),
    ],
    ids=["styles", "page", "elsewhere"],
)
def test_ptv_03_styles_and_pages_are_followed_too(
    tmp_path: Path, path: str, text: str, wanted: list[tuple[str, str]]
) -> None:
    assert found(tmp_path, {path: text, "_base.scss": "", "app.js": ""}, "ui") == wanted


def test_a_mixed_phase_gets_every_check_and_the_others_their_own(tmp_path: Path) -> None:
    paths = ("a.md", "a.json", "a.ts", "a.txt")

    assert relevant(paths, "mixed") == paths[:3]
    assert [relevant(paths, kind) for kind in ("protocol", "data", "ui")] == [("a.md",), ("a.json",), ("a.ts",)]


def test_a_link_out_of_the_checkout_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"secret/a.json": "{"})
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a.json").symlink_to(tmp_path / "secret/a.json")
    (tmp_path / "tree/sub").symlink_to(tmp_path / "secret")

    assert findings(str(tmp_path / "tree"), ["a.json", "sub/a.json", "gone.json"], "data", ()) == ()


def test_what_was_broken_before_does_not_block() -> None:
    now = (Finding(rule="PTV-02", where="a.json", what="x"), Finding(rule="PTV-02", where="b.json", what="y"))

    assert [f.severity for f in softened(now, now[:1])] == ["warning", "blocker"]
