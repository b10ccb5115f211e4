"""Completion by weighed evidence: what agrees decides, what conflicts is disputed, and nothing else is done."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.phase import Claim, EvidenceSource, Phase, PhaseStatus, Roadmap
from autopilot.planning.roadmap import completion_evidence as evidence
from autopilot.planning.roadmap import read_roadmap as roadmap

sources = st.sampled_from(get_args(EvidenceSource))
statuses = st.sampled_from(("not_started", "in_progress", "completed", "deferred"))


def claim(source: EvidenceSource, status: PhaseStatus) -> Claim:
    return Claim(source=source, status=status, file="R", line=1, says="")


claims = st.lists(st.builds(claim, sources, statuses), max_size=6)


@given(claims, st.booleans())
def test_no_phase_is_done_that_only_state_md_or_nobody_calls_done(said: list[Claim], shipped: bool) -> None:
    called_done = any(one.done and one.source != "STATE.md" for one in said)

    assert called_done or evidence.status_of(said, "not_started", shipped=shipped) != "completed"


@given(claims)
def test_a_box_or_a_table_that_calls_a_phase_open_is_never_outvoted(said: list[Claim]) -> None:
    against = any(not one.done and one.source in {"check-box", "table", "Status line", "verification"} for one in said)

    assert not against or evidence.status_of(said, "not_started", shipped=False) != "completed"


@given(claims)
def test_a_phase_that_all_call_open_is_open(said: list[Claim]) -> None:
    open_ones = [one for one in said if not one.done]

    assert evidence.status_of(open_ones, "not_started", shipped=True) in {"not_started", "in_progress", "deferred"}


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"check-box": "completed", "table": "completed", "plan ticks": "in_progress"}, "completed"),
        ({"check-box": "completed", "plan ticks": "not_started"}, "completed"),
        ({"check-box": "completed", "plan ticks": "in_progress"}, "disputed"),
        ({"plan count": "completed", "plan ticks": "not_started"}, "disputed"),
        ({"check-box": "not_started", "plan ticks": "completed"}, "disputed"),
        ({"check-box": "not_started", "summaries": "completed"}, "disputed"),
        ({"check-box": "completed", "table": "completed", "verification": "in_progress"}, "disputed"),
        ({"plan ticks": "completed"}, "completed"),
        ({"STATE.md": "completed"}, "disputed"),
        ({"check-box": "completed", "heading": "superseded"}, "superseded"),
        ({}, "not_started"),
    ],
)
def test_the_table_of_docs_configuration(said: dict[EvidenceSource, PhaseStatus], status: PhaseStatus) -> None:
    assert evidence.status_of([claim(*one) for one in said.items()], "not_started", shipped=False) == status


def test_a_milestone_that_has_shipped_needs_one_source_that_calls_the_phase_done() -> None:
    said = [claim("check-box", "not_started"), claim("table", "completed")]

    assert evidence.status_of(said, "not_started", shipped=True) == "completed"
    assert evidence.status_of(said[:1], "not_started", shipped=True) == "not_started"


@pytest.mark.parametrize(
    ("line", "ticked"),
    [
        ("- [x] 01-01-PLAN.md -- text", "1 of 1"),
        ("- [x] `01-01-PLAN.md` text", "1 of 1"),
        ("- [ ] 14-GAP-06-PLAN.md text", "0 of 1"),
        ("  - [ ] 06-01: text", "0 of 1"),
        ("- [X] **02.1-01**: text", "1 of 1"),
        ("- [ ] TBD (run /gsd:plan-phase 9)", ""),
        ("- [ ] 01-01: TBD", ""),
        ("- [ ] 02.8-01-PLAN.md SUPERSEDED by 02.8-02", ""),
        ("- [x] `npm install` succeeds", ""),
    ],
)
def test_only_plans_are_counted_as_plans(line: str, ticked: str) -> None:
    found = evidence.of_ticks([(1, line)], "R")

    assert (found.says if found else "") == (f"{ticked} plans ticked" if ticked else "")


@pytest.mark.parametrize(
    ("status", "beside", "claimed"),
    [
        ("passed", (), "completed"),
        ("passed", ("VERIFICATION.json",), "completed"),
        ("passed", ("01-VERIFICATION.json",), None),
        ("gaps_found", (), "in_progress"),
        ("gaps_found", ("01-VERIFICATION.json",), "in_progress"),
        ("draft", (), None),
    ],
)
def test_a_pass_in_our_own_verification_report_does_not_call_the_phase_done(
    status: str, beside: tuple[str, ...], claimed: PhaseStatus | None
) -> None:
    held, text = ("01-VERIFICATION.md", *beside), f"---\nstatus: {status}\n---\n# Report\n".encode()
    said = list(evidence.of_folder("p", held, Phase(id="1", name="A"), lambda _: text))

    assert [one.status for one in said] == ([claimed] if claimed else [])


def test_evidence_decides_every_dispute_by_one_source() -> None:
    phases = tuple(Phase(id=n, name=n, status="disputed") for n in ("1", "2", "3"))
    held: dict[str, tuple[Claim, ...]] = {"1": (claim("check-box", "completed"),), "2": (claim("table", "completed"),)}
    found = Roadmap(path="R", phases=phases, claims=held, twofold=frozenset({"3"}))

    assert [p.status for p in evidence.settled(found, "box").phases] == ["completed", "not_started", "disputed"]


@pytest.mark.parametrize(
    ("heading", "shipped"),
    [
        ("## ✅ v1.0 MVP", True),
        ("## v1.0 MVP (shipped 2026-01-02)", True),
        ("## v1.0 MVP - done", True),
        ("## v1.0 Complete Rewrite", False),
        ("## v1.0 Archived data import", False),
        ("## v1.0 MVP (in progress)", False),
    ],
)
def test_only_a_mark_that_stands_apart_says_that_a_milestone_shipped(heading: str, shipped: bool) -> None:
    (found,) = roadmap.read(f"{heading}\n### Phase 1: A\n", "R").milestones

    assert (found.label, found.shipped) == ("v1.0", shipped)


@pytest.mark.parametrize(
    ("title", "status"),
    [
        ("~~Phase 6: Voice~~ — SUPERSEDED by Phase 02.1", "superseded"),
        ("~~Phase 6: Voice~~", "cancelled"),
        ("Phase 6: Voice (cancelled)", "cancelled"),
        ("Phase 6: Voice - deferred to v2", "deferred"),
        ("Phase 6: Voice · **PAUSED** (until May)", "deferred"),
        ("Phase 6: Deferred rendering", "not_started"),
        ("Phase 6: Sync - deferred loading of images", "not_started"),
        ("Phase 6: Cleanup - dropped columns are migrated", "not_started"),
    ],
)
def test_a_phase_is_out_of_the_way_only_where_a_word_says_so(title: str, status: PhaseStatus) -> None:
    (found,) = roadmap.read(f"### {title}\n**Goal**: g\n", "R").phases

    assert found.status == status


def test_a_verification_alone_does_not_make_a_phase_done() -> None:
    verified = claim("verification", "completed")

    assert evidence.status_of((verified,), "not_started", shipped=False) == "not_started"
    assert evidence.status_of((verified, claim("summaries", "completed")), "not_started", shipped=False) == "completed"
