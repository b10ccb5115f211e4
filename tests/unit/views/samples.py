"""Hand-made entries of a small run, and what the plain view makes of them."""

import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from autopilot.domain.answers import FixClaim, TaskOpinion, WorkClaim
from autopilot.domain.attempt import Brief, PhaseOutcome, Spec, StepDigest
from autopilot.domain.events import Entry, Event, RunStarted, StepFinished, StepStarted
from autopilot.domain.evidence import Change, CommandRun, FileChange, Work
from autopilot.domain.phase import Criterion, Phase, Plan, Task
from autopilot.domain.results import Executed, Fixed, MiniVerified, StepResult
from autopilot.domain.settings import Commands, Settings
from autopilot.domain.verdict import Verdict
from autopilot.views.lines.plain import PlainView

RUN = "run-2026-02-09-143052"
SPEC = Spec(path=".planning/ROADMAP.md", sha256="a1b2c3d4e5f6")
PHASES = (
    Phase(id="1", name="Greeting", criteria=(Criterion(id="1", text="greets", command="true"),)),
    Phase(id="2", name="Farewell", depends_on=("1",)),
    Phase(id="3", name="Manners", depends_on=("2",)),
)
TASKS = (Task(id="02-01", title="Say goodbye"), Task(id="02-02", title="Wave"))
PLAN = Plan(text="plan", tasks=TASKS)
DIGESTS = {
    "preflight": StepDigest(status="pass"),
    "triage": StepDigest(status="full_pipeline"),
    "research": StepDigest(status="skipped", skip_reason="existing plan"),
    "plan": StepDigest(status="skipped"),
    "plan_check": StepDigest(status="pass"),
    "execute": StepDigest(status="completed"),
    "verify": StepDigest(status="pass"),
    "judge": StepDigest(status="pass"),
    "rate": StepDigest(status="pass", alignment_score=9.4),
}


def run_started(
    targets: tuple[str, ...] = ("1", "2", "3"),
    commands: Commands | None = None,
    unused: Mapping[str, str] = MappingProxyType({}),
) -> RunStarted:
    return RunStarted(
        run=RUN,
        root="/home/ada/project",
        branch="main",
        base="b" * 40,
        spec=SPEC,
        roadmap=".planning/ROADMAP.md",
        phases=PHASES,
        targets=targets,
        settings=Settings(agent="claude", model="sonnet", commands=commands or Commands()),
        unused=dict(unused),
    )


def brief(phase: str = "2", cycle: int = 0) -> Brief:
    place = int(phase)
    folder = ".planning/phases/x"
    return Brief(phase=PHASES[place - 1], dir=folder, base="b" * 40, position=place, total=3, cycle=cycle, plan=PLAN)


def outcome(
    status: Literal["completed", "failed", "needs_human_verification"] = "completed",
    score: float | None = 9.4,
    phase: str = "2",
    reason: str = "every gate passed",
) -> PhaseOutcome:
    return PhaseOutcome(
        phase=phase,
        status=status,
        reason=reason,
        commit="c0ffee1234567890",
        alignment_score=score,
        tasks_completed="2/2",
        pipeline_steps=DIGESTS,
    )


def ran(
    command: str = "python -m unittest", exit_code: int | None = 0, check: str = "1", output: str = ""
) -> CommandRun:
    return CommandRun(
        check=check,
        what="it works",
        command=command,
        exit_code=exit_code,
        passed=exit_code == 0,
        seconds=0.1,
        output=output,
        output_sha256="",
        tree="t",
        sandbox="bubblewrap",
    )


def work(*after: CommandRun, task: str = "02-01", gates: tuple[CommandRun, ...] = ()) -> Work:
    change = Change(base="b", commit="c", tree="t", files=(FileChange(path="hello.py", status="M"),))
    return Work(task=task, change=change, after=after, gates_after=gates)


def executed(facts: Work, completed: str = "1/1", failed: str = "0/1") -> Executed:
    return Executed(work=facts, claim=WorkClaim(tasks_completed=completed, tasks_failed=failed))


def fixed(facts: Work, *, claimed: bool = True) -> Fixed:
    return Fixed(work=facts, claim=FixClaim(fixed=claimed))


def reviewed(*, passed: bool = True, task: str = "02-01") -> MiniVerified:
    return MiniVerified(task=task, opinion=TaskOpinion(passed=passed, commands_run=("ls",)))


def began(step: str, n: int = 1) -> StepStarted:
    return StepStarted(step=step, n=n, base="b", nonce="x", boot="y")


def finished(step: str, result: StepResult, verdict: Verdict) -> StepFinished:
    return StepFinished(step=step, n=1, commit="c", result=result, verdict=verdict)


def entries(*events: Event, start: int = 0) -> list[Entry]:
    """A second apart, numbered from `start`."""
    return [
        Entry(number=start + n, at=f"2026-02-09T14:{n // 60:02}:{n % 60:02}.000Z", event=event)
        for n, event in enumerate(events)
    ]


def tell(view: PlainView, stream: str, *events: Event, start: int = 0) -> None:
    for entry in entries(*events, start=start):
        view(stream, entry)


def lines(stream: str, *events: Event, before: tuple[Event, ...] = (), start: int = 0) -> list[str]:
    """What the view prints for the events, with `before` told first on the run's stream."""
    out = io.StringIO()
    view = PlainView(out)
    tell(view, RUN, *before)
    seen = len(out.getvalue())
    tell(view, stream, *events, start=start)
    return out.getvalue()[seen:].splitlines()
