"""May what was done about a gap join the line? Only if everything that held before it still holds."""

from autopilot.domain.evidence import Work
from autopilot.domain.results import Mended
from autopilot.domain.verdict import Advance, Stop, Verdict
from autopilot.gates.after_task import NONE_FAILED, described
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.audit_gaps import small_enough
from autopilot.policy.facts.tamper_rules import blockers
from autopilot.policy.task_progress import new_failures


class GapFacts(Facts, frozen=True, kw_only=True):
    """`broken` are criteria and gates that held before; `outgrown`: a small fix that is none (AUDT-03)."""

    runs: int
    broken: tuple[str, ...]
    findings: tuple[str, ...]
    changed: bool
    outgrown: bool


class GapClaims(Claims, frozen=True, kw_only=True):
    """What the agent admits."""

    admits: str = ""


def gather(record: PhaseRecord) -> Evidence[GapFacts, Opinions, GapClaims]:
    result = record.last()
    assert isinstance(result, Mended)
    work = result.work
    facts = GapFacts(
        runs=len(work.after) + len(work.gates_after) if work.on_its_tree else 0,
        broken=tuple(broken(work)),
        findings=blockers(work.findings),
        changed=bool(work.change.files),
        outgrown=result.route == "fix" and not small_enough(work.change),
    )
    return Evidence(facts, Opinions(), GapClaims(admits=admitted(result)))


def broken(work: Work) -> tuple[str, ...]:
    held = {run.check for run in work.before if run.passed}
    lost = (run for run in work.after if not run.passed and run.check in held)
    return tuple(described(run) for run in (*lost, *new_failures(work.gates_before, work.gates_after)))


def admitted(result: Mended) -> str:
    if result.route == "fix":
        left = joined(result.claim.remaining_issues)
        return left or ("the agent says it is not fixed" if result.claim.fixed is False else "")
    failed = result.work_claim.tasks_failed.strip()
    return "" if NONE_FAILED.fullmatch(failed) else f"the agent reports failed tasks: {failed}"


def trouble(f: GapFacts) -> tuple[str, ...]:
    idle = () if f.changed else ("nothing was changed",)
    unchecked = () if f.runs else ("nothing could be run that would show what it breaks",)
    large = ("it is no small fix: more than one file, or 20 lines and more",) if f.outgrown else ()
    return (*f.findings, *f.broken, *idle, *unchecked, *large)


def set_aside(f: GapFacts, o: Opinions, c: GapClaims) -> Verdict:
    return Stop(because=joined(trouble(f)) or c.admits)


def join(f: GapFacts, o: Opinions, c: GapClaims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_gap_fix",
    question="May what was done about a gap join the line?",
    gather=gather,
    rules=(
        Rule("it breaks something, changes nothing or cannot be checked", lambda f, o, c: bool(trouble(f)), set_aside),
        Rule("the agent itself admits a failure", lambda f, o, c: bool(c.admits), set_aside),
        Rule("otherwise", lambda f, o, c: True, join),
    ),
    kinds=(GapFacts, Opinions, GapClaims),
)
