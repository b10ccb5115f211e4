"""Records told step by step, without an engine: for tests of what is decided from a record alone."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from autopilot.domain.agent_call import Outcome
from autopilot.domain.answers import (
    Categorised,
    CriterionScore,
    DivergenceOpinion,
    JudgeOpinion,
    PlanOpinion,
    RateOpinion,
    ResearchClaim,
    TaskOpinion,
    VerifyOpinion,
    WorkClaim,
)
from autopilot.domain.attempt import Brief, PhaseOutcome, Spec
from autopilot.domain.events import (
    AgentAnswered,
    Entry,
    Event,
    PhaseFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    WaitStarted,
)
from autopilot.domain.evidence import Change, Claim, CommandRun, FileChange, Usage, Work
from autopilot.domain.phase import Criterion, Phase, Plan, Task, TaskTest
from autopilot.domain.results import (
    Compared,
    Executed,
    Judged,
    MiniVerified,
    PlanChecked,
    Planned,
    Preflighted,
    Rated,
    Researched,
    StepResult,
    Triaged,
    Verified,
)
from autopilot.domain.settings import Limits, Settings
from autopilot.domain.verdict import Advance, Verdict
from autopilot.history.digest import PassDigest, digest_of
from autopilot.history.record import PhaseRecord

RUN = "run-2026-01-01-120000"
DIR = ".planning/phases/01-letter"
BASE = "base"
DONE = "grep -q done letter.txt"
SPEC = Spec(path=".planning/ROADMAP.md", sha256="5" * 64)
CLAIMED, OPINED, PLANNED = "CLAIM-OF-THE-EXECUTOR", "OPINION-OF-THE-VERIFIER", "TEXT-OF-THE-PLAN"


def criterion(name: str = "01-01.1", command: str | None = DONE, **more: Any) -> Criterion:
    return Criterion(id=name, text=f"text of {name}", command=command, **more)


def task(name: str = "01-01", *criteria: Criterion, **more: Any) -> Task:
    held = criteria or (criterion(f"{name}.1"),)
    return Task(id=name, title=f"title of {name}", action="write it", files=("letter.txt",), criteria=held, **more)


def plan(*tasks: Task, existed_before: bool = False) -> Plan:
    tests = (TaskTest(path="tests/task-01-01.sh", text=f"# {PLANNED}\n{DONE}\n"),)
    return Plan(
        text=f"# {PLANNED}\n", tasks=tasks or (task(),), tests=tests, sha256="p" * 64, existed_before=existed_before
    )


def phase(name: str = "1", *needs: str, **more: Any) -> Phase:
    own = (criterion("SC-1", source="roadmap"),)
    fields: dict[str, Any] = {"goal": "Write the letter.", "criteria": own, **more}
    return Phase(id=name, name=f"Letter {name}", depends_on=needs, **fields)


def started(*phases: Phase, targets: Iterable[str] | None = None, **more: Any) -> RunStarted:
    known = phases or (phase(),)
    limits = {k: more.pop(k) for k in tuple(more) if k in Limits.__struct_fields__}
    settings = {k: more.pop(k) for k in tuple(more) if k in Settings.__struct_fields__}
    fields: dict[str, Any] = {"targets": tuple(targets) if targets else tuple(p.id for p in known), **more}
    return RunStarted(
        run=RUN,
        root="/project",
        branch="main",
        base=BASE,
        spec=SPEC,
        roadmap=SPEC.path,
        phases=known,
        settings=Settings(agent="scripted:x.toml", limits=Limits(**limits), **settings),
        **fields,
    )


def brief(**more: Any) -> Brief:
    fields: dict[str, Any] = {"phase": phase(), "dir": DIR, "base": BASE, "position": 1, "total": 1, **more}
    return Brief(**fields)


TREE = "t" * 40


def ran(check: str = "01-01.1", *, passed: bool = True, command: str = DONE, **more: Any) -> CommandRun:
    fields: dict[str, Any] = {
        "check": check,
        "what": f"text of {check}",
        "command": command,
        "exit_code": 0 if passed else 1,
        "passed": passed,
        "seconds": 0.1,
        "output": f"output of {check}",
        "output_sha256": "0" * 64,
        "tree": TREE,
        "sandbox": "none",
        **more,
    }
    return CommandRun(**fields)


def change(base: str, commit: str) -> Change:
    files = (FileChange(path="letter.txt", status="A"),) if base != commit else ()
    return Change(base=base, commit=commit, tree=TREE, files=files)


def work(name: str = "01-01", base: str = BASE, commit: str = "c1", *, passed: bool = True, **more: Any) -> Work:
    """A task whose criterion failed before and, if `passed`, holds now."""
    fields: dict[str, Any] = {
        "before": (ran(f"{name}.1", passed=False),),
        "after": (ran(f"{name}.1", passed=passed),),
        **more,
    }
    return Work(task=name, change=change(base, commit), **fields)


class Story:
    """One pass, told step by step; `commit` is where the work stands."""

    def __init__(
        self, given: Brief | None = None, start: RunStarted | None = None, kept: tuple[Entry, ...] = ()
    ) -> None:
        self.brief, self.start, self.kept = given or brief(), start or started(), kept
        self.entries: tuple[Entry, ...] = ()

    def tell(self, event: Event) -> "Story":
        number = len(self.entries)
        self.entries += (Entry(number=number, at=f"2026-01-01T12:00:{number:02}.000Z", event=event),)
        return self

    def begin(self, step: str, n: int = 1, boot: str = "boot") -> "Story":
        return self.tell(StepStarted(step=step, n=n, base=self.record.commit, nonce="nonce", boot=boot))

    def step(self, step: str, result: StepResult, verdict: Verdict | None = None, commit: str | None = None) -> "Story":
        """A finished step; the work stands where it stood unless `commit` is named."""
        done = StepFinished(
            step=step,
            n=self.record.attempts(step) + 1,
            commit=commit or self.record.commit,
            result=result,
            verdict=verdict or Advance(),
        )
        return self.tell(done)

    def answer(self, call: str, **more: Any) -> "Story":
        fields: dict[str, Any] = {
            "role": "plan", "outcome": "ok", "answer": "{}", "text": "", "usage": Usage(), "commands": (), "seconds": 1,
            **more,
        }  # fmt: skip
        return self.tell(AgentAnswered(call=call, **fields))

    def planned(self, made: Plan | None = None) -> "Story":
        """Up to a plan that was accepted."""
        made = made or plan()
        self.step("preflight", Preflighted(spec_hash_match=True, working_tree_clean=True, dependencies_met=True))
        self.step("triage", Triaged(routing="full_pipeline", source="roadmap", checks=(ran("SC-1", passed=False),)))
        self.step("research", Researched(claim=ResearchClaim(key_findings=("nothing is there yet",))))
        self.step("plan", Planned(plan=made))
        return self.step("plan_check", PlanChecked(plan=made, opinion=PlanOpinion(passed=True, confidence=9)))

    def executed(self, name: str = "01-01", commit: str = "c1", *, then: str = "verify") -> "Story":
        """A task done and accepted."""
        claim = WorkClaim(tasks_completed=CLAIMED, deviations=(CLAIMED,))
        made = Executed(work=work(name, self.record.commit, commit), claim=claim)
        self.step("execute", made, Advance(to="mini_verify"), commit)
        opinion = TaskOpinion(passed=True, task_id=name, commands_run=(DONE,), concerns=(OPINED,))
        return self.step("mini_verify", MiniVerified(task=name, opinion=opinion), Advance(to=then))

    def verified(self, verdict: Verdict | None = None, *, passed: bool = True) -> "Story":
        checks = (ran("SC-1", passed=passed),)
        placed = (Categorised(failure=OPINED, category="acceptance_criteria_unmet"),)
        said = VerifyOpinion(passed=True, commands_run=(DONE,), failures=(OPINED,), failure_categories=placed)
        opinion = said if passed else None
        return self.step(
            "verify", Verified(commit=self.record.commit, tree=TREE, checks=checks, opinion=opinion), verdict
        )

    def judged(self, first: Any = "proceed", second: Any = "proceed", verdict: Verdict | None = None) -> "Story":
        judge = JudgeOpinion(recommendation=first, concerns=("thin",), independent_evidence=("letter.txt:1",))
        self.step("judge", Judged(opinion=judge))
        return self.step("judge_divergence", Compared(opinion=DivergenceOpinion(recommendation=second)), verdict)

    def rated(self, score: float = 9.4, verdict: Verdict | None = None) -> "Story":
        row = CriterionScore(criterion="the letter", score=score, justification="as asked", evidence="letter.txt:1")
        opinion = RateOpinion(alignment_score=score, scorecard=(row,), commands_run=(DONE,))
        return self.step("rate", Rated(opinion=opinion, score=score), verdict)

    @property
    def digest(self) -> PassDigest:
        return digest_of(self.record)

    @property
    def record(self) -> PhaseRecord:
        return PhaseRecord(start=self.start, brief=self.brief, entries=self.entries, kept=self.kept)


def waits(outcome: Outcome = "usage_limited", **more: Any) -> WaitStarted:
    """The executor of phase 1 is not to be had until one o'clock."""
    fields: dict[str, Any] = {
        "call": f"{RUN}/1/execute/1", "stream": f"{RUN}/1", "phase": "1", "step": "execute", "role": "execute",
        "backend": "claude", "until": "2026-01-01T13:00:00.000Z", **more,
    }  # fmt: skip
    return WaitStarted(outcome=outcome, **fields)


def passed(name: str, score: float | None = 9.4, **more: Any) -> PhaseFinished:
    """A phase that the run counts as done."""
    fields: dict[str, Any] = {"status": "completed", "reason": "every gate passed", "commit": f"c{name}", **more}
    outcome = PhaseOutcome(phase=name, alignment_score=score, **fields)
    return PhaseFinished(cycle=0, outcome=outcome, verdict=Advance())


def whole(given: Brief | None = None) -> PhaseRecord:
    """A pass of one task with every artifact there is; what may not be told on is planted in it."""
    return Story(given).planned().executed().verified().judged().rated().record


def retold(record: PhaseRecord, claims: Mapping[type[Claim], Claim]) -> PhaseRecord:
    """The same record with other claims in it."""
    entries = []
    for entry in record.entries:
        event = entry.event
        claim = getattr(event.result, "claim", None) if isinstance(event, StepFinished) else None
        if isinstance(event, StepFinished) and isinstance(claim, Claim):
            result = msgspec.structs.replace(event.result, claim=claims[type(claim)])
            event = msgspec.structs.replace(event, result=result)
        entries.append(msgspec.structs.replace(entry, event=event))
    return msgspec.structs.replace(record, entries=tuple(entries))
