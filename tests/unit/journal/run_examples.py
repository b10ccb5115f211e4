"""A run written entry by entry, as an engine would, and the records of it."""

from autopilot.domain.answers import (
    DivergenceOpinion,
    FixClaim,
    JudgeOpinion,
    PlanOpinion,
    RateOpinion,
    ResearchClaim,
    TaskOpinion,
    VerifyOpinion,
)
from autopilot.domain.attempt import Brief, PhaseOutcome
from autopilot.domain.events import (
    AgentAnswered,
    Event,
    PhaseFinished,
    PhaseStarted,
    RunStarted,
    StepFinished,
    StepStarted,
    stream_of,
)
from autopilot.domain.evidence import Change, CommandRun, FileChange, Usage, Work
from autopilot.domain.phase import Phase, Plan, Task
from autopilot.domain.results import (
    Compared,
    Executed,
    Fixed,
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
from autopilot.domain.verdict import Advance, Verdict
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.journal.clock import TickingClock
from autopilot.journal.memory import MemoryJournal
from unit.journal.event_examples import run_started

RUN = "run-2026-01-01-120000"
BASE = "a" * 40
PLAN = Plan(
    text="# plan",
    tasks=(
        Task(id="01-01", title="first", complexity="simple"),
        Task(id="01-02", title="second"),
        Task(id="01-03", title="look at it", type="checkpoint:human-verify", complexity="complex"),
    ),
    sha256="b" * 64,
)


class Tape:
    """Writes entries a second apart. Steps are told with the commit the pass stands at."""

    def __init__(self, phases: int = 2) -> None:
        self.journal = MemoryJournal(TickingClock())
        self.briefs: dict[str, list[Brief]] = {}
        self.commit = BASE
        self.tell(run_started(RUN, phases))

    def tell(self, event: Event) -> None:
        self.journal.append(RUN, len(self.journal.load(RUN)), event)

    def tell_pass(self, event: Event) -> None:
        brief = next(b[-1] for b in reversed(self.briefs.values()))
        stream = stream_of(RUN, brief.phase.id, brief.cycle)
        self.journal.append(stream, len(self.journal.load(stream)), event)

    def begin(self, phase: str, cycle: int = 0) -> None:
        known = {p.id: p for p in self.start.phases}
        brief = Brief(
            phase=known.get(phase, Phase(id=phase, name="")),
            dir=f".planning/phases/0{phase}",
            base=self.commit,
            position=1,
            total=len(self.start.targets),
            cycle=cycle,
            feedback=("mend it",) if cycle else (),
            plan=PLAN if cycle else None,
        )
        self.briefs[phase] = [*self.briefs.pop(phase, []), brief]
        self.tell(PhaseStarted(brief=brief))

    def open(self, step: str, task: str | None = None) -> None:
        self.tell_pass(StepStarted(step=step, n=0, base=self.commit, nonce="n", boot="b", task=task))

    def step(self, step: str, result: StepResult, verdict: Verdict | None = None, commit: str | None = None) -> None:
        self.open(step)
        self.commit = commit or self.commit
        done = StepFinished(
            step=step, n=0, commit=self.commit, result=result, verdict=verdict or Advance(), seconds=1.0
        )
        self.tell_pass(done)

    def answer(self, tokens: int) -> None:
        usage = Usage(input_tokens=tokens, output_tokens=1)
        self.tell_pass(
            AgentAnswered(
                call="c", role="plan", outcome="ok", answer=None, text="", usage=usage, commands=(), seconds=1.0
            )
        )

    def end(self, outcome: PhaseOutcome, verdict: Verdict, cycle: int = 0) -> None:
        self.tell(PhaseFinished(cycle=cycle, outcome=outcome, verdict=verdict))

    @property
    def start(self) -> RunStarted:
        return self.run.start

    @property
    def run(self) -> RunRecord:
        return RunRecord(entries=self.journal.load(RUN))

    @property
    def passes(self) -> dict[str, tuple[PhaseRecord, ...]]:
        return {
            phase: tuple(
                PhaseRecord(
                    start=self.start, brief=brief, entries=self.journal.load(stream_of(RUN, phase, brief.cycle))
                )
                for brief in briefs
            )
            for phase, briefs in self.briefs.items()
        }


def command(check: str, *, passed: bool = True) -> CommandRun:
    return CommandRun(
        check=check,
        what=check,
        command=check,
        exit_code=0 if passed else 1,
        passed=passed,
        seconds=0.1,
        output="",
        output_sha256="",
        tree="t",
        sandbox="bubblewrap",
    )


def work(task: str, commit: str) -> Work:
    files = (FileChange(path="a.py", status="M"),)
    return Work(task=task, change=Change(base=BASE, commit=commit, tree="t", files=files), after=(command("c1"),))


def execute(tape: Tape, task: str, commit: str) -> None:
    tape.step("execute", Executed(work=work(task, commit)), Advance(to="mini_verify"), commit)


def accept(tape: Tape, task: str, to: str = "execute") -> None:
    tape.step("mini_verify", MiniVerified(task=task, opinion=TaskOpinion(passed=True)), Advance(to=to))


def fix(tape: Tape, task: str, commit: str, verdict: Verdict) -> None:
    tape.step("fix", Fixed(work=work(task, commit), claim=FixClaim(fixed=True)), verdict, commit)


def plan_phase(tape: Tape) -> None:
    clear = Preflighted(spec_hash_match=True, working_tree_clean=True, dependencies_met=True)
    tape.step("preflight", clear)
    tape.step("triage", Triaged(routing="full_pipeline", source="none"))
    tape.step("research", Researched(claim=ResearchClaim(), text="found"))
    tape.step("plan", Planned(plan=PLAN))
    tape.step("plan_check", PlanChecked(plan=PLAN, opinion=PlanOpinion(passed=True, confidence=8.5)))


def review_phase(tape: Tape, score: float = 9.4) -> None:
    opinion = VerifyOpinion(passed=True, scope_creep=("extra.py",))
    gates = (command("compile"), command("test", passed=False))
    tape.step("verify", Verified(commit=tape.commit, tree="t", gates=gates, opinion=opinion))
    tape.step("judge", Judged(opinion=JudgeOpinion(recommendation="debug", concerns=("thin tests",))))
    compared = DivergenceOpinion(recommendation="proceed", concerns=("none left",))
    tape.step("judge_divergence", Compared(opinion=compared))
    rated = RateOpinion(alignment_score=score, scorecard=(), score_band="good")
    tape.step("rate", Rated(opinion=rated, score=score))


def outcome(phase: str = "1", score: float | None = 9.4, **more: object) -> PhaseOutcome:
    fields: dict[str, object] = {"status": "completed", "reason": "", "commit": "e" * 40, **more}
    return PhaseOutcome(phase=phase, alignment_score=score, **fields)  # type: ignore[arg-type]  # fields vary by test


def whole_phase(tape: Tape, phase: str = "1") -> None:
    tape.begin(phase)
    plan_phase(tape)
    tape.answer(1000)
    execute(tape, "01-01", "c" * 40)
    accept(tape, "01-01")
    execute(tape, "01-02", "d" * 40)
    accept(tape, "01-02", "verify")
    review_phase(tape)
    tape.end(outcome(phase, commit_shas=("c" * 40, "d" * 40), commit="d" * 40), Advance())
