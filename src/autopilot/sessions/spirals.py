"""What an agent's part of a wave came to, from what it was seen doing; its own word can only lower that."""

import re
from collections import Counter
from itertools import groupby
from typing import Literal

from autopilot.domain.value import Value

Status = Literal["done", "partial", "failed", "spiral"]
Friction = Literal["edit-format-friction", "scope-denied", "command-blocked", "other"]
OFTEN = 3
_LINE = re.compile(r"^STATUS:\s*(done|partial|failed|no-tests-needed)\b", re.MULTILINE | re.IGNORECASE)
_CLASSES: tuple[tuple[Friction, re.Pattern[str]], ...] = (
    (
        "edit-format-friction",
        re.compile(r"old_str|did not match|no match|patch (?:does not apply|failed)", re.IGNORECASE),
    ),
    (
        "scope-denied",
        re.compile(r"outside (?:its|the|your) (?:scope|files)|scope|not allowed to (?:edit|write)", re.IGNORECASE),
    ),
    ("command-blocked", re.compile(r"blocked|not permitted|permission denied|command denied", re.IGNORECASE)),
)
_RANK: tuple[Status, ...] = ("done", "partial", "failed", "spiral")
_PAGES = frozenset({"offset", "limit", "start", "end", "line", "lines", "page", "view_range"})


class ToolCall(Value, frozen=True, kw_only=True):
    """One call of a tool: what it was called with, and the file it read or wrote."""

    tool: Literal["read", "edit", "command", "other"]
    target: str = ""
    arguments: dict[str, str] = {}

    @property
    def bare(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """The call without the part that only turns pages."""
        kept = tuple(sorted((name, value) for name, value in self.arguments.items() if name not in _PAGES))
        return self.tool, self.target, kept


class Mishap(Value, frozen=True, kw_only=True):
    """An error and what the agent did about it."""

    error: str
    fix: str = ""


class AgentReport(Value, frozen=True, kw_only=True):
    """
    What one agent did with one task. `said` is its own text, a claim; everything else was observed.

    `claimed` are the files it says it edited, `changed` those that differ. None of them: nobody could look.
    """

    task: str
    said: str = ""
    changed: tuple[str, ...] | None = None
    claimed: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    mishaps: tuple[Mishap, ...] = ()
    reverted: bool = False
    truncated: bool = False
    observed: Status | None = None


class Judged(Value, frozen=True, kw_only=True):
    task: str
    status: Status
    why: str = ""
    friction: Friction | None = None


def judged(report: AgentReport) -> Judged:
    """A spiral overrides all else; then facts; then the agent's own word, where it is worse."""
    circling = spiral_in(report)
    if circling:
        return Judged(task=report.task, status="spiral", why=circling)
    stuck = _stuck(report)
    if stuck:
        return Judged(task=report.task, status="failed", why=f"same error and fix {OFTEN} times", friction=stuck)
    seen, why = _observed(report)
    said = status_line(report.said)
    if said is not None and _RANK.index(said) > _RANK.index(seen):
        return Judged(task=report.task, status=said, why="its own word")
    return Judged(task=report.task, status=seen, why=why)


def status_line(said: str) -> Status | None:
    """The last `STATUS:` line of the text; None when there is none."""
    found = _LINE.findall(said)
    if not found:
        return None
    word = found[-1].lower()
    known: dict[str, Status] = {"done": "done", "no-tests-needed": "done", "partial": "partial", "failed": "failed"}
    return known[word]


def spiral_in(report: AgentReport) -> str | None:
    """Why the agent is going round in circles; None when it is not. In doubt it is not."""
    edits = Counter(call.target for call in report.calls if call.tool == "edit" and call.target)
    worn = next((file for file, times in edits.items() if times >= OFTEN), None)
    if worn:
        return f"{worn} was edited {edits[worn]} times"
    if report.reverted:
        return "it took back its own change"
    alike = [list(group) for _, group in groupby(report.calls, key=lambda call: call.bare)]
    repeated = next((group for group in alike if len(group) >= OFTEN and not _turns_pages(group)), None)
    if repeated:
        return f"{len(repeated)} equal calls in a row"
    errors = Counter(mishap.error for mishap in report.mishaps)
    again = next((error for error, times in errors.items() if times >= OFTEN), None)
    return f"the same error {errors[again]} times" if again and not _stuck(report) else None


def stagnant(report: AgentReport) -> bool:
    """It leafs through one file without changing it."""
    edited = {call.target for call in report.calls if call.tool == "edit"}
    reads = Counter(call.bare for call in report.calls if call.tool == "read" and call.target not in edited)
    return any(times >= OFTEN for times in reads.values())


def _turns_pages(group: list[ToolCall]) -> bool:
    """Reads of one file at different places; the very same read again is no turning of pages."""
    return group[0].tool == "read" and len({tuple(sorted(call.arguments.items())) for call in group}) == len(group)


def _stuck(report: AgentReport) -> Friction | None:
    pairs = Counter((mishap.error, mishap.fix) for mishap in report.mishaps)
    error = next((error for (error, _), times in pairs.items() if times >= OFTEN), None)
    return None if error is None else friction(error)


def friction(error: str) -> Friction:
    return next((name for name, pattern in _CLASSES if pattern.search(error)), "other")


def _observed(report: AgentReport) -> tuple[Status, str]:
    if report.observed is not None:
        return report.observed, "as observed"
    if report.truncated:
        return "partial", "it was cut off"
    if report.mishaps and not report.changed:
        return "failed", report.mishaps[-1].error
    missing = sorted(set(report.claimed) - set(report.changed or ()))
    if missing:
        return "partial", f"unverified: {missing[0]} did not change"
    if stagnant(report):
        return "partial", "it only leafed through a file"
    return ("done", "it changed files") if report.changed else ("partial", "nothing changed")
