"""The fuzz targets on fixed bytes, what broke them once among them, and on mutations of what they read every day."""

import time

import pytest
from hypothesis import HealthCheck, given, settings

from fuzz.mutations import inputs_for
from fuzz.samples import CONFIG, CRITERION, PLAN, REQUIREMENTS, ROADMAP, of_target
from fuzz.targets import TARGETS
from support.faults import full, record

BROKE = [
    b'{"project": {"commands": {"test": "\\ud800"}}}',  # half a character: accepted, then impossible to store
    b"<task " + b" " * 90_000,  # a search for blanks before an end tag that is not there
    b"<task>\n<verify>" + b"<automated " * 8_000,  # as many openings as there is text
    b"9" * 5_000 + b" passed",  # more digits than Python makes a number of, from here on
    b"Ran " + b"9" * 5_000 + b" tests in 0.1s\nFAILED (failures=" + b"9" * 5_000 + b")",
    b"EXIT:" + b"9" * 5_000,
    b"9" * 5_000 + b" errors in a.py:" + b"9" * 5_000,
    b'{"a": ' + b"9" * 5_000 + b"}",
    b"a = " + b"9" * 5_000,
    b"---\ntop-priorities: [" + b"9" * 5_000 + b"]\n---\n",
    b'\0{"autopilot": 1, "result": {}, "usage": {"cost_usd": ' + b"9" * 400 + b"}}",  # and more than a float holds
    b"a" * 30_000,  # a word in which any letter might be the last before a colon
    b"Phase 3, " + b"a ," * 10_000,  # a list that might be the name of an area up to any comma
    b"\n" * 30_000,  # lines any of which might begin a failure
    b"a = " + b"[" * 5_000,  # nested more deeply than anybody reads
    b"[a]\nb\n c\n",  # settings in which a line goes on from a key that has no value
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
# Parsers of source code have a time limit of their own, which a long text can use up.
PARSED = 20_000
MOST_CPU_S = 100.0
EXAMPLES = 2_000 if full() else 15


def test_there_are_at_least_fifty_inputs() -> None:
    assert len(set(INPUTS)) >= 50


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_takes_every_input(name: str) -> None:
    """Soon, too: what takes time that grows with the square of the text takes far more, however idle the machine is."""
    began = time.process_time()
    for data in INPUTS:
        if len(data) <= PARSED or not name.startswith("source_"):
            TARGETS[name](data)

    assert time.process_time() - began < MOST_CPU_S


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_reads_what_is_well_formed(name: str) -> None:
    for sample in of_target(name):
        TARGETS[name](sample)


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_takes_what_looks_almost_right(name: str) -> None:
    tried = 0

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)
    @given(data=inputs_for(name))
    def take(data: bytes) -> None:
        nonlocal tried
        tried += 1
        TARGETS[name](data)

    take()
    record("parsers", parsers=1, inputs=tried)
