"""The fuzz targets on fixed bytes: what broke them once, what looks like trouble, and cuts of a real-looking file."""

import time

import pytest

from fuzz.targets import TARGETS, Target

ROADMAP = b"# R\n- [x] **Phase 1: A** - a\n### Phase 2.1: B (INSERTED)\n**Goal**: g\n**Depends on**: Phase 1\n1. x -- verified by: `a` (returns 2)\n| Phase | Status |\n|--|--|\n| 01 | Done |\n"
PLAN = b'---\nphase: 1\ndepends_on: ["01-01"]\n---\n## Wave 1\n<task id="01-01" type="auto">\n<files>a.py (new)</files>\n<verify><automated>make test</automated></verify>\n</task>\n'
CONFIG = b'{"project": {"commands": {"test": "make"}, "ui": 3}, "limits": {"x": 1e999}, "workflow": []}'
REQUIREMENTS = b"## v2.0 Requirements\n- [x] **A-01\n**: text\n  more\n## Later\n- **B-01**: b\n| Requirement | Phase |\n|--|--|\n| A-01 through A-03 | All phases |\n"
CRITERION = b"It works -- verified by: ``a `b` c`` and `d` (returns at least 2)"

BROKE = [
    b'{"project": {"commands": {"test": "\\ud800"}}}',  # half a character: accepted, then impossible to store
    b"<task " + b" " * 90_000,  # a search for blanks before an end tag that is not there
    b"<task>\n<verify>" + b"<automated " * 8_000,  # as many openings as there is text
]
TROUBLE = [
    b"", b"\0", b"\xff\xfe\xfd", b"\xef\xbb\xbf", b"\r\r\n", b"```", b"~~~~\n```", b"<!--", b"-->", b"---\n---", b"{", b"[" * 5_000, b'{"a":' * 5_000,
    b"null", b'{"a": 1' + b"0" * 5_000 + b"}", b"\0### Phase 1: a\n**Depends on**: Phase 1", b"1-3\0### Phase 1: a\n### Phase 3: b\n**Depends on**: Phase 1\n",
    b"\0### Phase 1: a\n**Depends on**: Phase 2\n### Phase 2: b\n**Depends on**: Phase 1\n", b"\0### Phase " + b"1" * 5_000 + b": a", b"\0### Phase 1.1.1.1: a",
    b"\0- Phase 1: " + b"(" * 5_000, b"\0### Phase 1: " + b"*" * 5_000, b"\0| Phase | Status |\n|--|--|\n" + b"| 1 " * 5_000, b"verified by: `", b"verified by: `` ` ``",
    b"<task>\n" * 2_000, b"</task>", b"<task id='" + b"a" * 5_000, b"### Task 1: \xd9\xa3\n**Files:** `", b"- [ ] **A-1**: x \xe2\x80\x94 Phase " + b"9" * 5_000,
]  # fmt: skip
CUTS = [text[at:] + text[:at] for text in (ROADMAP, PLAN, CONFIG, REQUIREMENTS, CRITERION) for at in (0, 7, 23, 41)]
INPUTS = [*BROKE, *TROUBLE, *CUTS]


def test_there_are_at_least_fifty_inputs() -> None:
    assert len(set(INPUTS)) >= 50


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_every_target_takes_every_input_soon(target: Target) -> None:
    for data in INPUTS:
        started = time.process_time()
        target(data)
        assert time.process_time() - started < 2, data[:60]
