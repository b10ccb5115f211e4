"""What an audit's answer counts for: nothing in it can hide a gap, and nothing left out of it passes."""

from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.answers import AuditAggregate, AuditOpinion, GapDetail, PhaseAudit, RequirementCheck
from autopilot.domain.evidence import Change, FileChange
from autopilot.domain.results import Requirement
from autopilot.policy.audit_gaps import gaps_in, missing, requirements_of, small_enough
from support.records import phase, started

IDS = ("A-1", "A-2", "A-3")
SCOPE = tuple(Requirement(id=name, phase="1", text="it is there") for name in IDS)
ROWS = st.lists(
    st.builds(
        RequirementCheck,
        requirement_id=st.sampled_from(IDS),
        status=st.sampled_from(["pass", "PASS ", "gap", "partial", ""]),
        gap_description=st.sampled_from([None, "", "not there"]),
    ),
    max_size=5,
).map(tuple)
DETAILS = st.lists(st.builds(GapDetail, requirement_id=st.sampled_from(IDS)), max_size=2).map(tuple)


def opinion(rows: tuple[RequirementCheck, ...], details: tuple[GapDetail, ...] = ()) -> AuditOpinion:
    return AuditOpinion(
        audit_results=(PhaseAudit(phase_id=1, requirements_checked=rows),),
        aggregate=AuditAggregate(passed_on_first_check=99, gap_details=details),
    )


@given(ROWS, DETAILS)
def test_a_requirement_has_no_gap_only_if_every_word_about_it_is_a_pass(
    rows: tuple[RequirementCheck, ...], details: tuple[GapDetail, ...]
) -> None:
    """AUDT-04."""
    open_ids = {gap.requirement_id for gap in gaps_in(opinion(rows, details), SCOPE)}

    for name in IDS:
        said = [row for row in rows if row.requirement_id == name]
        clear = all(row.status.strip().lower() == "pass" and not row.gap_description for row in said)
        named = any(detail.requirement_id == name for detail in details)
        assert (name not in open_ids) == (bool(said) and clear and not named)


def test_what_is_left_out_is_known_and_cannot_be_mended() -> None:
    said = opinion((RequirementCheck(requirement_id="a-1", status="pass"),))

    assert missing(said, SCOPE) == ("A-2", "A-3")


def test_a_phase_without_stated_requirements_is_audited_by_its_criteria() -> None:
    start = started(phase("1"), phase("2"), requirements={"1": ("SIGN-01: Letters are signed",)})

    assert [(r.id, r.phase, r.text) for r in requirements_of(start, start.targets)] == [
        ("SIGN-01", "1", "Letters are signed"),
        ("P2-C1", "2", "text of SC-1"),
    ]


def test_audt_03_small_is_one_file_and_fewer_than_twenty_lines() -> None:
    one, two = (tuple(FileChange(path=f"{n}.py", status="M") for n in range(count)) for count in (1, 2))

    assert small_enough(Change(base="a", commit="b", tree="t", files=one, added=10, removed=9))
    assert not small_enough(Change(base="a", commit="b", tree="t", files=one, added=10, removed=10))
    assert not small_enough(Change(base="a", commit="b", tree="t", files=two, added=1))
