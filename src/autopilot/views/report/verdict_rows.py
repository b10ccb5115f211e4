"""The verdicts on each pass, what people said, and the brakes that stopped the run."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from autopilot.domain.events import (
    MergeRefused,
    Noted,
    PhaseFinished,
    PhaseSkipped,
    RunFinished,
    RunResumed,
    RunStopped,
    VerdictGiven,
)
from autopilot.domain.value import Value
from autopilot.history.active_time import MINUTE
from autopilot.history.record import RunRecord
from autopilot.views.report.gantt import Timeline, how, why
from autopilot.views.report.source import Told
from autopilot.views.report.spending import Share, dollars_told, tokens_told

QUIET = frozenset({"confidence_diagnostic_written"})


class Ruling(Value, frozen=True, kw_only=True):
    """What was decided about a phase, by whom, and why."""

    at: str
    phase: str
    who: str
    what: str
    because: str = ""
    score: float | None = None


class Braked(Value, frozen=True, kw_only=True):
    """An end, a stop or a new start of the run. `brake` is empty where none had a part in it."""

    at: str
    what: str
    brake: str = ""
    because: str = ""
    do: str = ""


class Used(Value, frozen=True, kw_only=True):
    what: str
    used: str
    cap: str


def rulings(told: Told) -> tuple[Ruling, ...]:
    """In order of time."""
    return tuple(_rulings(told))


def _rulings(told: Told) -> Iterator[Ruling]:
    for entry in told.run.entries:
        at = entry.at
        match entry.event:
            case PhaseFinished() as ended:
                yield _ended(at, ended)
            case PhaseSkipped(phase=phase, reason=reason):
                yield Ruling(at=at, phase=phase, who="run", what="skipped", because=reason.replace("_", " "))
            case VerdictGiven(phase=phase, verdict=word, issues=issues):
                said = "; ".join(issues)
                yield Ruling(at=at, phase=phase, who="person", what=word.replace("_", " "), because=said)
            case MergeRefused(phase=phase, because=because):
                yield Ruling(at=at, phase=phase, who="merge", what="to be run on top of other work", because=because)
            case Noted(event=event, phase=str(phase), details=details) if event not in QUIET:
                who = "person" if event.startswith("human_") else "run"
                yield Ruling(at=at, phase=phase, who=who, what=event.replace("_", " "), because=_details(details))


def _ended(at: str, ended: PhaseFinished) -> Ruling:
    outcome = ended.outcome
    return Ruling(
        at=at,
        phase=outcome.phase,
        who="gate" if ended.mode == "initial" else f"gate, --{ended.mode}",
        what=f"{outcome.status.replace('_', ' ')}: {how(ended.verdict)}",
        because=why(ended.verdict) or outcome.reason,
        score=outcome.alignment_score,
    )


def _details(details: Mapping[str, Any]) -> str:
    told = (f"{key}: {value if isinstance(value, str) else _json(value)}" for key, value in details.items())
    return "; ".join(told)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def brakes(told: Told) -> tuple[Braked, ...]:
    """Every time the run ended, stopped or went on."""
    return tuple(_brakes(told))


def _brakes(told: Told) -> Iterator[Braked]:
    for entry in told.run.entries:
        match entry.event:
            case RunStopped() | RunFinished() as end:
                word = "stopped" if isinstance(end, RunStopped) else f"ended, {end.status}"
                what = f"{word}, exit code {end.exit_code}"
                yield Braked(at=entry.at, what=what, brake=end.brake, because=end.reason, do=end.do)
            case RunResumed(retry=retry):
                again = f"another chance for {', '.join(retry)}" if retry else ""
                yield Braked(at=entry.at, what="taken up again", because=again)
            case Noted(event=event, phase=None, details=details):
                yield Braked(at=entry.at, what=event.replace("_", " "), because=_details(details))


def _tokens(cap: int | None) -> str:
    return "no cap" if cap is None else f"{cap:,}"


def used(run: RunRecord, whole: Share, times: Timeline) -> tuple[Used, ...]:
    """What the run has used of what it may."""
    limits, told = run.limits, whole.spent
    minutes = (times.seconds - sum(pause.end - pause.begin for pause in times.pauses)) / MINUTE
    return (
        Used(what="dollars", used=dollars_told(told), cap=f"${limits.usd_per_run:,.2f}"),
        Used(what="tokens", used=tokens_told(told), cap=_tokens(limits.tokens_per_run)),
        Used(what="minutes", used=f"{minutes:,.1f}", cap=f"{limits.minutes_per_run:,g}"),
    )
