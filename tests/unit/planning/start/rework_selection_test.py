"""Which phases `--force`, `--quality` and `--gaps` mean."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.errors import RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.request import RunRequest
from autopilot.domain.rework import Standing
from autopilot.domain.settings import Modes
from autopilot.planning.start.rework_selection import Chosen, chosen

ROADMAP = Roadmap(path="ROADMAP.md", phases=tuple(Phase(id=str(n), name=f"P{n}") for n in range(1, 7)))
KNOWN = {
    "1": Standing(status="completed", score=9.0),
    "2": Standing(status="failed"),
    "3": Standing(status="completed", score=9.6),
    "4": Standing(status="not_started"),
    "5": Standing(status="completed", score=9.9),
    "6": Standing(status="completed"),
}


def pick(phases: str = "", **more: Any) -> Chosen:
    fields = {name: more.pop(name) for name in ("only", "first", "last") if name in more}
    return chosen(RunRequest(folder="/p", phases=phases, modes=Modes(**more), **fields), ROADMAP, KNOWN)


def ids(found: Chosen) -> list[str]:
    return [phase.id for phase in found.phases]


@pytest.mark.parametrize(
    ("phases", "modes", "wanted"),
    [
        pytest.param("", {"force": ""}, ["1", "3", "5", "6"], id="FORC-02 all completed in roadmap order"),
        pytest.param("", {"force": "all"}, ["1", "3", "5", "6"], id="all in so many words"),
        pytest.param("all", {"force": ""}, ["1", "3", "5", "6"], id="all before the flag"),
        pytest.param("", {"force": "3"}, ["3"], id="FORC-01 a completed one"),
        pytest.param("1", {"force": "3"}, ["1", "3"], id="named before and behind"),
        pytest.param("1-3", {"force": "", "only": "3"}, ["3"], id="bounded by --only"),
        pytest.param("", {"force": "", "first": "3"}, ["3", "5", "6"], id="bounded by --from"),
        pytest.param("", {"quality": ""}, ["1", "2", "4"], id="QUAL-04 incomplete, and completed below 9.5"),
        pytest.param("4", {"quality": "1"}, ["1", "4"], id="QUAL-02, QUAL-03 completed below and not completed"),
        pytest.param("6", {"quality": ""}, ["6"], id="named without a score"),
        pytest.param("", {"quality": "", "complete": True}, ["2", "4"], id="FLAG-10 what is outstanding"),
        pytest.param("", {"gaps": ""}, ["1"], id="GAPS-02 completed below 9.5"),
        pytest.param("", {"gaps": "3"}, ["3"], id="AMB-05 named between 9.5 and 9.8"),
        pytest.param("", {"quality": "", "gaps": "3"}, ["3"], id="AMB-05 with quality"),
        pytest.param("", {"quality": "", "gaps": "4"}, ["4"], id="with quality it is completed first"),
    ],
)
def test_the_phases_meant(phases: str, modes: dict[str, Any], wanted: list[str]) -> None:
    assert ids(pick(phases, **modes)) == wanted


@pytest.mark.parametrize(
    ("modes", "remark"),
    [
        ({"quality": "3"}, "Phase 3: already at 9.6/10 (>= 9.5 target). Skipping."),
        ({"gaps": "5"}, "Phase 5: already at 9.9/10 (>= 9.8). Negligible gap remaining. Skipping."),
    ],
    ids=["QUAL-01", "GAPS-03"],
)
def test_what_is_good_enough_is_left_alone_and_that_is_said(modes: dict[str, str], remark: str) -> None:
    assert pick(**modes) == Chosen(remarks=(remark,))


def test_a_completed_phase_without_a_score_is_mended_only_when_it_is_named() -> None:
    (remark,) = pick(gaps="").remarks

    assert remark.startswith("Phase 6: completed, but not by Autopilot.")


@pytest.mark.parametrize(
    ("modes", "status", "flag"),
    [({"force": "2"}, "failed", "--force"), ({"force": "4"}, "not_started", "--force"), ({"gaps": "2"}, "failed", "--gaps")],
    ids=["FORC-01 failed", "FORC-01 not started", "GAPS-01"],
)  # fmt: skip
def test_a_phase_that_is_not_completed_is_refused(modes: dict[str, str], status: str, flag: str) -> None:
    (phase,) = modes.values()
    with pytest.raises(UsageInvalid) as caught:
        pick(**modes)

    told = f"Phase {phase} is not completed (status: {status}). {flag} only applies to completed phases."
    assert caught.value.what == told


def test_what_is_no_number_is_told_with_what_there_is() -> None:
    with pytest.raises(UsageInvalid) as caught:
        pick(force="first")

    assert caught.value.what == "'first' is not a valid phase number."
    assert caught.value.why.startswith("Expected: a number (e.g., --force 3) or no argument (e.g., --force for")
    assert caught.value.do == "Available phases: 1, 2, 3, 4, 5, 6"


def test_an_unknown_phase_is_told_with_what_there_is() -> None:
    with pytest.raises(RoadmapInvalid) as caught:
        pick(quality="9")

    assert (caught.value.what, caught.value.do) == (
        "Phase 9 not found in roadmap.", "Available phases: 1, 2, 3, 4, 5, 6",
    )  # fmt: skip


@given(st.sampled_from(["force", "quality", "gaps"]), st.sets(st.sampled_from(["1", "3", "5"]), min_size=1))
def test_it_does_not_matter_where_phases_are_named(flag: str, named: set[str]) -> None:
    words = " ".join(sorted(named))

    assert pick(words, **{flag: ""}) == pick(**{flag: words})
