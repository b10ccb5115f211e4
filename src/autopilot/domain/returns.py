"""What a pass reports beside its status: why it waits for a person, and how it could be split."""

from typing import Literal

from autopilot.domain.value import Value


class Justification(Value, frozen=True, kw_only=True):
    """RET-06, HUM-05: the task that waits for a person, what it is about, and which criteria nobody could settle."""

    checkpoint_task_id: str
    task_description: str
    auto_tasks_passed: int
    auto_tasks_total: int
    unresolved_criteria: tuple[str, ...] = ()


class PassEvidence(Value, frozen=True, kw_only=True):
    """RSLT-01: what a pass rests on: files it changed, commands that were run on it, and the size of its diff."""

    files_checked: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()
    git_diff_summary: str = ""


class SubPhase(Value, frozen=True, kw_only=True):
    """A part of a phase that is too big. `after` are the parts whose work it needs."""

    sub_phase_id: str
    name: str
    scope: str
    issues: tuple[str, ...] = ()
    estimated_complexity: Literal["simple", "medium", "complex"] = "medium"
    after: tuple[str, ...] = ()


class SubEnd(Value, frozen=True, kw_only=True):
    """SPLT-07: how one part of a split phase ended."""

    sub_phase_id: str
    status: str
    alignment_score: float | None = None


class SplitDetails(Value, frozen=True, kw_only=True):
    """SPLT-11."""

    reason: str
    recommended_sub_phases: tuple[SubPhase, ...]
    total_sub_phases: int
    original_issue_count: int = 0
