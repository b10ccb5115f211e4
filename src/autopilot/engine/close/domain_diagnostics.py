"""What is kept about a pass for those who come after it: the post-mortem of a failure, and the spans of a trace."""

from typing import Literal

from autopilot.domain.answers import Category
from autopilot.domain.value import Value

Cause = Category | Literal["plan_rejected", "reviewer_no_answer", "reviewer_without_evidence"]
"""Why a phase failed: one of the ten categories of TAX-01, or what a planner or a reviewer did."""


class RootCause(Value, frozen=True, kw_only=True):
    category: str
    description: str
    first_observed_at: str
    step: str


class Moment(Value, frozen=True, kw_only=True):
    timestamp: str
    step: str
    event: str
    status: Literal["success", "failure", "partial"]


class Looked(Value, frozen=True, kw_only=True):
    commands_run: tuple[str, ...] = ()
    files_checked: tuple[str, ...] = ()


class TriedFix(Value, frozen=True, kw_only=True):
    """`resolved` and `remaining` are what our own commands showed before and after, not what the debugger said."""

    attempt: int
    description: str
    commit_sha: str
    resolved: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()


class Postmortem(Value, frozen=True, kw_only=True):
    """OBSV-03."""

    phase_id: str
    phase_name: str
    timestamp: str
    status: Literal["failed"] = "failed"
    root_cause: RootCause
    timeline: tuple[Moment, ...] = ()
    evidence: Looked = Looked()
    attempted_fixes: tuple[TriedFix, ...] = ()
    prevention_rule: str


class Span(Value, frozen=True, kw_only=True):
    """OBSV-01: one line of TRACE.jsonl."""

    timestamp: str
    phase_id: str
    step: str
    action: Literal["file_read", "file_write", "command_run", "tool_call", "agent_spawn", "decision"]
    input_summary: str
    output_summary: str
    duration_ms: int
    status: Literal["success", "failure", "skipped"]
