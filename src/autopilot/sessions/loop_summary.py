"""What a loop came to, for scripts as an exit code and for people as a few lines; and what one would do."""

from collections.abc import Iterator

from autopilot.sessions.flags import LoopFlags
from autopilot.sessions.kill_switches import HINTS, Switch
from autopilot.sessions.loop import LoopEnd
from autopilot.sessions.selector import Recommendation
from autopilot.text.numbers import shown

WAITS_FOR_A_PERSON = 11
EXITS: dict[Switch, int] = {
    "max-sessions-reached": 0,
    "max-hours-exceeded": 20,
    "token-budget-exceeded": 20,
    "resource-overload": 21,
    "low-confidence-fallback": 21,
    "spiral": 21,
    "failed-wave": 21,
    "carryover-too-high": 21,
    "stall-timeout": 21,
    "user-abort": 130,
}


def exit_code(end: LoopEnd) -> int:
    """
    0 only when every session that ran ended well and the loop ended as it was meant to.

    A loop that did not dare to choose even once waits for a person, unless nothing was left to do.
    """
    record = end.record
    worst = max(end.exits, default=0)
    if record.dry_run:
        return 0
    if end.trouble is not None:
        return end.trouble
    if end.exhausted:
        return worst
    if record.kill_switch is None:
        return WAITS_FOR_A_PERSON if record.fallback_to_manual else worst
    return EXITS[record.kill_switch] or worst


def summary(end: LoopEnd) -> Iterator[str]:
    record = end.record
    yield f"Loop {record.autopilot_run_id}: {_count(record.iterations_completed)} in {_time(record.duration_seconds)}."
    if record.sessions:
        yield f"  sessions: {', '.join(record.sessions)}"
    if record.total_tokens_used:
        yield f"  tokens: {record.total_tokens_used:,}"
    if end.exhausted:
        yield f"  ended because {end.rationale or 'nothing is left to do'}"
    elif record.kill_switch:
        yield f"  stopped by {record.kill_switch}: {record.kill_switch_detail}"
        yield f"  what to do: {end.advice or HINTS[record.kill_switch]}"
    elif record.fallback_to_manual:
        yield f"  not started: {record.kill_switch_detail}"
        yield f"  what to do: {end.advice or HINTS['low-confidence-fallback']}"
    elif record.kill_switch_detail:
        yield f"  {record.kill_switch_detail}"
    if end.rationale and not end.exhausted:
        yield f"  the selector says: {end.rationale}"


def last_line(end: LoopEnd) -> str:
    """One line for logs."""
    record = end.record
    return (
        f"{record.autopilot_run_id} kill_switch={record.kill_switch or 'none'} "
        f"iterations={record.iterations_completed} sessions=[{', '.join(record.sessions)}] "
        f"duration={record.duration_seconds}s"
    )


def preview(
    flags: LoopFlags, planned: tuple[Recommendation, ...], phases: tuple[tuple[str, ...], ...]
) -> Iterator[str]:
    """What the loop would do if each session finished what it takes on."""
    tokens = f", at most {flags.max_tokens:,} tokens" if flags.max_tokens else ""
    yield (
        f"Planned iterations: at most {flags.max_sessions}, at most {shown(flags.max_hours)} hours{tokens}, "
        f"confidence at least {shown(flags.confidence_threshold)}."
    )
    for number, (choice, chosen) in enumerate(zip(planned, phases, strict=True), start=1):
        if choice.mode is None:
            yield f"  {number}. ends here: {choice.rationale}"
            if not choice.exhausted:
                yield f"     {choice.advice}"
            return
        sure = choice.confidence >= flags.confidence_threshold
        verdict = "would run" if sure else "would be left to you" if number == 1 else "would end the loop"
        named = f"{choice.mode} of phase {', '.join(chosen)}"
        yield f"  {number}. {named}: confidence {shown(choice.confidence)}, {verdict}"
        yield f"     {choice.rationale}"
        for other in choice.alternatives:
            yield f"     or {other.mode}: {shown(other.confidence)}"
        if not sure:
            yield f"     {choice.advice}"
            return


def _count(iterations: int) -> str:
    return f"{iterations} session{'' if iterations == 1 else 's'}"


def _time(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
