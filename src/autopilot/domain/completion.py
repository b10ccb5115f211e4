"""What the end of a run is about: requirements, the gaps an audit finds in them, and what became of these."""

from typing import Literal

from autopilot.domain.value import Value

COMPLETION = "completion"
"""Stands where a phase's id stands in streams, calls and landings of the run's end."""

Size = Literal["small", "large"]
Integration = Literal["pass", "fail", "not_run"]


class Requirement(Value, frozen=True, kw_only=True):
    """Something the specification asks of a phase."""

    id: str
    phase: str
    text: str


class Gap(Value, frozen=True, kw_only=True):
    """AUDT-06. `mendable` False: nobody looked at the requirement, so there is nothing to give to a fixer."""

    requirement_id: str
    phase_id: str
    gap_description: str
    fix_complexity: Size = "large"
    suggested_fix: str = ""
    mendable: bool = True


class RemainingGap(Value, frozen=True, kw_only=True):
    requirement_id: str
    description: str


class FixedGap(Value, frozen=True, kw_only=True):
    """AUDT-09: a gap that a later audit found closed, and the commits that were made for it."""

    requirement_id: str
    phase_id: str
    fix_commits: tuple[str, ...] = ()


class SelfAudit(Value, frozen=True, kw_only=True):
    """AUDT-12. `found` and `fixed` say which; `answered` False: the auditor gave no usable answer."""

    total_requirements_checked: int = 0
    passed_on_first_check: int = 0
    gaps_found: int = 0
    gaps_fixed: int = 0
    gaps_remaining: int = 0
    remaining_gap_details: tuple[RemainingGap, ...] = ()
    audit_cycles: int = 0
    fix_commits: tuple[str, ...] = ()
    found: tuple[Gap, ...] = ()
    fixed: tuple[FixedGap, ...] = ()
    answered: bool = True
