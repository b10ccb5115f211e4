"""May the new version join the line? Not if a gate that was green goes red over it."""

from autopilot.domain.results import Bumped
from autopilot.domain.verdict import Advance, Stop, Verdict
from autopilot.gates.after_task import described
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import new_failures


class VersionFacts(Facts, frozen=True, kw_only=True):
    changed: bool
    note: str
    broken: tuple[str, ...]


def gather(record: PhaseRecord) -> Evidence[VersionFacts, Opinions, Claims]:
    result = record.last()
    assert isinstance(result, Bumped)
    broken = new_failures(result.gates_before, result.gates_after)
    facts = VersionFacts(
        changed=result.change is not None, note=result.note, broken=tuple(described(run) for run in broken)
    )
    return Evidence(facts, Opinions(), Claims())


def leave(f: VersionFacts, o: Opinions, c: Claims) -> Verdict:
    return Stop(because=joined(f.broken) or f.note or "nothing to bump")


def join(f: VersionFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_version",
    question="May the new version join the line?",
    gather=gather,
    rules=(
        Rule("there is nothing to bump", lambda f, o, c: not f.changed, leave),
        Rule("a gate goes red over it", lambda f, o, c: bool(f.broken), leave),
        Rule("otherwise", lambda f, o, c: True, join),
    ),
    kinds=(VersionFacts, Opinions, Claims),
)
