"""Did the task's work hold up to the commands Autopilot ran? The same table serves a first try and a fix."""

import re

from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.results import Executed, Fixed
from autopilot.domain.verdict import SET_ASIDE, Advance, Retry, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.tamper_rules import blockers
from autopilot.policy.facts.test_selection import selects_tests
from autopilot.policy.task_progress import diff_growing, exempt, fixes_of, new_failures, next_stop, since_plan

# `0/3` and what else agents write for "none"; anything more is taken for an admission.
NONE_FAILED = re.compile(r"(?:0+(?:\s*/\s*\d+)?|none|n/a|-|\[\])?", re.IGNORECASE)


class TaskFacts(Facts, frozen=True, kw_only=True):
    """
    `must_change`: the plan was made in this run, so the work must change something that shows.

    `exempt`: a refactoring or documentation, declared as such, or work that was there and is done anew: no criterion
    need begin to hold in it.
    """

    checks: int
    failing: tuple[str, ...]
    broken_gates: tuple[str, ...]
    findings: tuple[str, ...]
    changed: bool
    proves_something: bool
    must_change: bool
    fixes: int
    limit: int
    next_stop: str
    growing: bool = False
    exempt: bool = False


class TaskClaims(Claims, frozen=True, kw_only=True):
    """What the agent admits. Its praise has no field here."""

    admits: str = ""


def gather(record: PhaseRecord) -> Evidence[TaskFacts, Opinions, TaskClaims]:
    result = record.last()
    assert isinstance(result, Executed | Fixed)
    work, plan = result.work, record.plan
    facts = TaskFacts(
        checks=len(work.after) if work.on_its_tree else 0,
        failing=tuple(described(run) for run in work.after if not run.passed),
        broken_gates=tuple(described(run) for run in new_failures(work.gates_before, work.gates_after)),
        findings=blockers(work.findings),
        changed=bool(work.change.files),
        proves_something=proves(work, record),
        must_change=record.brief.cycle == 0 and not (plan and plan.existed_before),
        fixes=fixes_of(record, work.task),
        limit=record.start.settings.limits.task_fixes,
        next_stop=next_stop(record, after=work.task),
        growing=diff_growing(record, work.task),
        exempt=record.brief.mode == "force"
        or any(exempt(record, task, work.change) for task in record.tasks if task.id == work.task),
    )
    return Evidence(facts, Opinions(), TaskClaims(admits=admitted(result)))


def described(run: CommandRun) -> str:
    empty = run.exit_code == 0 and not run.passed and selects_tests(run.command)
    return f"`{run.command}` {'ran no test of that name' if empty else run.ended} ({run.what})"


def proves(work: Work, record: PhaseRecord) -> bool:
    """Some criterion failed on the tree before the task's first try under this plan and passes now."""
    tries = (s.result.work for s in since_plan(record) if isinstance(s.result, Executed))
    first = next((tried.before for tried in tries if tried.task == work.task and tried.before), work.before)
    failed_before = {run.check for run in first if not run.passed}
    return any(run.passed and run.check in failed_before for run in work.after)


def admitted(result: Executed | Fixed) -> str:
    if isinstance(result, Fixed):
        left = joined(result.claim.remaining_issues)
        return left or ("the agent says it is not fixed" if result.claim.fixed is False else "")
    failed = result.claim.tasks_failed.strip()
    return "" if NONE_FAILED.fullmatch(failed) else f"the agent reports failed tasks: {failed}"


def trouble(f: TaskFacts) -> tuple[str, ...]:
    """Everything that keeps the work from counting; empty when the facts are clean."""
    idle = ("nothing was changed",) if f.must_change and not f.changed else ()
    unchecked = ("nothing was checked",) if not f.checks else ()
    vacuous = f.must_change and f.changed and not f.failing and not f.proves_something and not f.exempt
    hollow = ("no criterion that failed before passes now",) if vacuous else ()
    return (*f.findings, *f.failing, *f.broken_gates, *idle, *unchecked, *hollow)


def fix(f: TaskFacts, o: Opinions, c: TaskClaims) -> Verdict:
    return Retry(step="fix", because=joined(trouble(f)) or c.admits)


def set_aside(f: TaskFacts, o: Opinions, c: TaskClaims) -> Verdict:
    why = "diff_growing: " if f.growing else ""
    return Advance(to=f.next_stop, because=f"{SET_ASIDE}{why}{joined(trouble(f)) or c.admits}")


def mendable(f: TaskFacts) -> bool:
    """CORR-03, CORR-04: fixes remain, and the last one did not make the change grow."""
    return f.fixes < f.limit and not f.growing


def review(f: TaskFacts, o: Opinions, c: TaskClaims) -> Verdict:
    return Advance(to="mini_verify")


GATE = Gate(
    name="after_task",
    question="Did the task's work hold up to the commands Autopilot ran?",
    gather=gather,
    rules=(
        Rule("a check failed, fixes remain", lambda f, o, c: bool(trouble(f)) and mendable(f), fix),
        Rule("a check failed", lambda f, o, c: bool(trouble(f)), set_aside),
        Rule("the agent itself admits a failure, fixes remain", lambda f, o, c: bool(c.admits) and mendable(f), fix),
        Rule("the agent itself admits a failure", lambda f, o, c: bool(c.admits), set_aside),
        Rule("otherwise", lambda f, o, c: True, review),
    ),
    kinds=(TaskFacts, Opinions, TaskClaims),
)
