"""What a phase's work stands on: the passes below it in the line, back to what the user's branch has. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from autopilot.domain.events import PhaseFinished, PhaseLanded, PhaseMerged, PhaseStarted, VerdictGiven
from autopilot.domain.verdict import Advance, AskHuman, Stop, takes_a_word
from autopilot.history.record import RunRecord
from autopilot.history.run_index import judged


@dataclass(frozen=True, slots=True)
class Pass:
    """The end of a pass and the commit it had begun from."""

    base: str
    end: PhaseFinished


def accepted(run: RunRecord, phase: str) -> bool:
    """Whether the phase counts as done, by the gates or by a person."""
    standing = run.standing(phase)
    return bool(standing) and isinstance(standing[-1].verdict, Advance)


def has_waited(run: RunRecord, phase: str) -> bool:
    return any(isinstance(end.verdict, AskHuman) for end in run.passes(phase))


def ended(run: RunRecord) -> Iterator[Pass]:
    bases: dict[str, str] = {}
    for entry in run.entries:
        match entry.event:
            case PhaseStarted(brief=brief):
                bases[brief.phase.id] = brief.base
            case PhaseFinished(outcome=outcome) as end:
                yield Pass(bases.get(outcome.phase, run.start.base), end)
            case _:
                pass


def below(run: RunRecord, commit: str) -> Iterator[Pass]:
    """The passes whose work is in the commit and has not been landed, newest first."""
    landed = {landing.commit for landing in run.of(PhaseLanded)}
    by_commit = {found.end.outcome.commit: found for found in ended(run)}
    while commit not in landed and (found := by_commit.pop(commit, None)):
        yield found
        commit = found.base


def refusal(run: RunRecord, phase: str) -> VerdictGiven | None:
    """The word of a person who did not accept the phase's newest pass."""
    passes = run.passes(phase)
    if not passes or not takes_a_word(passes[-1].verdict):
        return None
    last = [end for end in judged(e.event for e in run.entries) if end.outcome.phase == phase][-1]
    return run.verdict_on(phase) if isinstance(last.verdict, Stop) else None


def stands_on_refused(run: RunRecord, commit: str) -> bool:
    """
    Whether the commit has work in it that a person did not accept and that nobody has mended since.

    What failed is no part of the line; what was built on it before the person spoke lands with the mending.
    """
    waited = (p.end.outcome.phase for p in below(run, commit) if isinstance(p.end.verdict, AskHuman))
    return any(not accepted(run, phase) for phase in waited)


def built_upon(run: RunRecord, commit: str) -> bool:
    """Whether accepted work began from the very commit or was merged onto it: papers on top would part the two."""
    begun = (p.end.outcome.phase for p in ended(run) if p.base == commit)
    merged = (m.phase for m in run.of(PhaseMerged) if m.onto == commit)
    return any(accepted(run, phase) for phase in (*begun, *merged))


def in_line(run: RunRecord, phase: str, best: str) -> str:
    """The commit by which the phase's work is part of the line: its own, or the one it was merged by."""
    merged = run.merged(phase)
    return merged.commit if merged else best


def to_mend(run: RunRecord, phase: str, line: str) -> str | None:
    """Where a refused pass can be mended: the line, if the pass is in it; itself, if it stands on it; else nowhere."""
    own = run.passes(phase)[-1]
    if own.outcome.satisfied:
        return None  # nothing was built: there is nothing to mend, and the phase is done from its beginning
    merged = any(merge.phase == phase for merge in run.of(PhaseMerged))
    if merged or any(found.end is own for found in below(run, line)):
        return line
    beneath = tuple(below(run, own.outcome.commit))
    return own.outcome.commit if beneath and beneath[-1].base == line else None
