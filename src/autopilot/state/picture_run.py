"""How each entry of the journal changes the picture of its run. Pure; a picture may be begun in the middle of a run."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec

from autopilot.domain.events import (
    CompletionFinished,
    CompletionStarted,
    Entry,
    MergeRefused,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    VerdictGiven,
    stream_of,
)
from autopilot.domain.phase import RoadmapTaken
from autopilot.domain.results import COMPLETION, EXECUTE, heading_of
from autopilot.domain.rework import Before
from autopilot.domain.settings import capped, known_model
from autopilot.domain.verdict import Advance, AskHuman, Outcome, Stop, Verdict, takes_a_word
from autopilot.history.record import RunRecord
from autopilot.history.timeline import settled
from autopilot.policy.loops import BREAKER
from autopilot.policy.outcomes import NOTHING_BUILT, described, outcome_of
from autopilot.state.build_state import run_status
from autopilot.state.picture import Caution, OpenPass, PhaseRow, Picture, Tally, Wait
from autopilot.state.picture_attempt import after_step, happened, kept_short, opened
from autopilot.state.picture_waits import of_wait, resumed
from autopilot.state.wait_words import note_line
from autopilot.text.clean import clean
from autopilot.text.times import iso, seconds_between

MOST_CAUTIONS = 40
# What people were asked before a run has streams of its own, which are no runs.
ASKING = "asking/"
RESUME = "autopilot resume"
END = "the run's end"
MENDING = frozenset({"quality", "gaps"})


def picture_of(entries: Iterable[tuple[str, Entry]]) -> Picture:
    picture = Picture()
    for stream, entry in entries:
        picture = after(picture, stream, entry)
    return picture


def after(picture: Picture, stream: str, entry: Entry) -> Picture:
    """The picture with the entry in it. Entries of a run come in the order in which they were written."""
    return kept_short(grown(picture, stream, entry), stream)


def grown(picture: Picture, stream: str, entry: Entry) -> Picture:
    """As `after`, with every step and call of open passes: it grows with the run."""
    if stream.startswith(ASKING):
        return picture
    picture = _timed(picture, stream, entry)
    if "/" in stream:
        return cautioned(*after_step(picture, stream, entry))
    for part in (_of_run, _of_phase, _of_line, _of_end, of_wait):
        picture = part(picture, entry)
    return cautioned(picture, _cautions(picture, entry))


def cautioned(picture: Picture, more: tuple[Caution, ...]) -> Picture:
    return changed(picture, cautions=(*picture.cautions, *more)[-MOST_CAUTIONS:]) if more else picture


def changed(picture: Picture, **fields: object) -> Picture:
    return msgspec.structs.replace(picture, **fields)


def _timed(picture: Picture, stream: str, entry: Entry) -> Picture:
    """While nobody worked, no time passed for the run, and its open passes were paused."""
    pause = seconds_between(picture.last, entry.at) if picture.last else 0.0
    timed = changed(picture, run=stream.partition("/")[0], began=picture.began or entry.at, last=entry.at)
    if not isinstance(entry.event, RunResumed):
        return changed(timed, worked=picture.worked + (0.0 if picture.lies_still else pause))
    paused = {key: resumed(known, pause, entry.at) for key, known in picture.passes.items()}
    return changed(timed, passes=paused, resumed=entry.at)


def _of_run(picture: Picture, entry: Entry) -> Picture:
    match entry.event:
        case RunStarted() as event:
            return _begun(event, entry.at)
        case RunResumed() as event:
            known = _edited(picture.phases, event.roadmap) if event.roadmap else picture.phases
            rows = {n: _again(r) if n in event.retry else r for n, r in known.items()}
            limits = capped(picture.limits, event.caps)
            # What an earlier process waited for, this one waits for too.
            waits = tuple(wait for wait in picture.waits if wait.call)
            return changed(picture, state="running", reason="", do="", phases=rows, limits=limits, waits=waits)
        case RunStopped(reason=reason, do=do) as event:
            waits = (*picture.waits, *_cooling(picture, event, entry.at))
            paused = {"state": "paused", "reason": clean(reason), "do": clean(do or RESUME)}
            return changed(picture, **paused, waits=waits, calls={})
        case RunFinished(reason=reason, do=do):
            state = run_status(RunRecord(entries=(entry,)))
            return changed(picture, state=state, reason=clean(reason), do=clean(do), calls={}, passes={})
    return picture


def _cooling(picture: Picture, event: RunStopped, at: str) -> Iterator[Wait]:
    """A breaker that has opened lets nothing begin for a while."""
    if event.exit_code == BREAKER:
        until = iso(datetime.fromisoformat(at) + timedelta(seconds=picture.limits.cooldown_seconds))
        yield Wait(what="a circuit breaker cools down", stream=picture.run, until=until, kind="breaker")


def _of_end(picture: Picture, entry: Entry) -> Picture:
    match entry.event:
        case CompletionStarted(brief=brief):
            began = OpenPass(phase=COMPLETION, name=END, began=entry.at, number=brief.number)
            passes = {**picture.passes, stream_of(picture.run, COMPLETION, brief.number): began}
            return changed(_row(picture, COMPLETION, state="in_progress", begun=brief.number + 1), passes=passes)
        case CompletionFinished():
            over = _row(picture, COMPLETION, state="completed")
            return changed(over, passes={k: p for k, p in picture.passes.items() if p.phase != COMPLETION})
    return picture


def _begun(event: RunStarted, at: str) -> Picture:
    done, settings = set(event.completed) - set(event.targets), event.settings
    rows = {
        phase.id: PhaseRow(
            id=phase.id,
            name=clean(phase.name, 80),
            state="completed" if phase.id in done else _stood(event, phase.id, phase.status),
            target=phase.id in event.targets,
            needs=phase.depends_on,
            score=event.before[phase.id].score if phase.id in event.before else None,
            best=_standing(event.before.get(phase.id)),
        )
        for phase in event.phases
    }
    return Picture(
        run=event.run,
        agent=agent_name(settings.agent),
        model=clean(known_model(settings.agent, settings.model) or "", 60),
        branch=clean(event.branch or "", 60),
        jobs=1 if settings.modes.sequential else max(1, settings.modes.jobs),
        began=at,
        last=at,
        limits=settings.limits,
        threshold=settings.pass_threshold,
        phases=rows,
    )


def _edited(rows: Mapping[str, PhaseRow], taken: RoadmapTaken) -> dict[str, PhaseRow]:
    """The rows by a roadmap that was edited; a phase that never started and is gone has none."""
    known = {phase.id: phase for phase in taken.phases}
    kept = {name: row for name, row in rows.items() if name in known or row.state != "not_started"}
    new = {name: PhaseRow(id=name, name="", state=phase.status) for name, phase in known.items() if name not in rows}
    return {
        name: msgspec.structs.replace(
            row, name=clean(known[name].name, 80), needs=known[name].depends_on, target=name in taken.targets
        )
        if name in known
        else row
        for name, row in (kept | new).items()
    }


def _standing(before: Before | None) -> float | None:
    """What an earlier run left that passes which are to mend it are measured by."""
    return before.score if before and before.stands else None


def agent_name(told: str) -> str:
    """Without the folders of the files it names: `exec:python3 agent.py`. What only contains a path stays whole."""
    kind, colon, rest = clean(told, 400).partition(":")
    try:
        words = [_without_folders(word) for word in shlex.split(rest)]
    except ValueError:
        return clean(f"{kind}{colon}{rest}", 40)
    shown = (word if set(word).isdisjoint(" \t'\"") else shlex.quote(word) for word in words)
    return clean(f"{kind}{colon}{' '.join(shown)}", 40)


def _without_folders(word: str) -> str:
    """Of a file or `--option=file`; a URL and a script of a shell are neither."""
    option, equals, file = word.rpartition("=") if word.startswith("-") else ("", "", word)
    plain = file.startswith(("/", "./", "../", "~/")) and not set(file) & set("|;&<>$")
    return f"{option}{equals}{file.rpartition('/')[2] or file}" if plain else word


def _stood(event: RunStarted, phase: str, marked: str) -> str:
    """How a phase stood before the run: a target as earlier runs left it, any other as the roadmap marks it."""
    if phase in event.before:
        return event.before[phase].status
    return "not_started" if phase in event.targets else marked


def _again(row: PhaseRow) -> PhaseRow:
    return msgspec.structs.replace(row, state="not_started", remark="", question="")


def _of_phase(picture: Picture, entry: Entry) -> Picture:
    match entry.event:
        case PhaseStarted(brief=brief):
            stream = stream_of(picture.run, brief.phase.id, brief.number)
            known = _with_part(picture, brief.phase.id, brief.parent)
            named = {"name": clean(brief.phase.name, 80), "needs": brief.phase.depends_on}
            fields = {"state": "in_progress", "target": True, "begun": brief.number + 1, "question": ""}
            drawn = _row(known, brief.phase.id, **named, **fields)
            return changed(drawn, passes={**drawn.passes, stream: opened(brief, entry.at)})
        case PhaseFinished() as event:
            return _finished(picture, event, entry.at)
        case PhaseSkipped(phase=phase, reason=reason, blocking_phase=blocking):
            behind = blocking or reason.partition("blocked_by_phase_")[2]
            remark = f"behind phase {clean(behind, 40)}" if behind else clean(reason).replace("_", " ")
            done = reason == "already_completed"
            state = "completed" if done else "blocked" if behind else "skipped"
            return _row(picture, phase, state=state, remark="" if done else remark)
    return picture


def _of_line(picture: Picture, entry: Entry) -> Picture:
    """What became of a phase behind its last pass."""
    match entry.event:
        case PhaseLanded(phase=phase, landed=landed, commit=commit) if phase != COMPLETION:
            where = f"landed as {commit[:8]}" if landed else "left on its branch"
            return happened(_row(picture, phase, landed=landed), entry.at, f"Phase {phase}: {where}")
        case MergeRefused(phase=phase, because=because):
            return _row(picture, phase, state="not_started", remark=clean(because))
        case VerdictGiven() as event:
            return _decided(picture, event, entry.at)
    return picture


def _decided(picture: Picture, event: VerdictGiven, at: str) -> Picture:
    """What a person said of a phase that waited for them."""
    state = "completed" if event.verdict == "pass" else "failed"
    remark = "" if event.verdict == "pass" else clean("; ".join(event.issues) or "a person did not accept it")
    waits = tuple(wait for wait in picture.waits if wait.stream != stream_of("", event.phase, 0))
    row = picture.phases.get(event.phase)
    score = row.best if row and row.best is not None and event.verdict == "pass" else row.score if row else None
    drawn = changed(_row(picture, event.phase, state=state, remark=remark, question="", score=score), waits=waits)
    return happened(drawn, at, f"Phase {event.phase}: a person said {event.verdict.replace('_', ' ')}")


def _with_part(picture: Picture, phase: str, parent: str) -> Picture:
    """A part of a phase stands behind it and behind the parts before."""
    if phase in picture.phases or parent not in picture.phases:
        return picture
    rows = list(picture.phases.items())
    behind = max(n for n, (name, _) in enumerate(rows) if name == parent or name.startswith(f"{parent}."))
    rows.insert(behind + 1, (phase, PhaseRow(id=phase, name="", target=True, parent=parent)))
    return changed(picture, phases=dict(rows))


def _row(picture: Picture, phase: str, **fields: object) -> Picture:
    """The picture with a phase's row changed; a phase that has none gets one."""
    if phase == COMPLETION:
        return changed(picture, end=msgspec.structs.replace(picture.end or PhaseRow(id=phase, name=END), **fields))
    row = picture.phases.get(phase) or PhaseRow(id=phase, name="", target=True)
    return changed(picture, phases={**picture.phases, phase: msgspec.structs.replace(row, **fields)})


def _finished(picture: Picture, event: PhaseFinished, at: str) -> Picture:
    outcome, phase = event.outcome, event.outcome.phase
    mine = {key: p for key, p in picture.passes.items() if p.phase == phase}
    row = picture.phases.get(phase) or PhaseRow(id=phase, name="", target=True)
    seconds = sum(max(0.0, seconds_between(p.began, at) - p.paused) for p in mine.values())
    best = _best(row, event)
    score = best if best is not None and isinstance(event.verdict, Advance) else outcome.alignment_score
    word = outcome_of(event.verdict, score, picture.threshold)
    drawn = _row(
        picture,
        phase,
        state=word or settled(event.verdict),
        score=score if score is not None else row.score,
        best=best,
        question=_question(event.verdict),
        passes=row.passes + 1,
        seconds=row.seconds + seconds,
        remark=clean(_outcome_remark(word, score, picture.threshold) if word else _remark(event)),
    )
    waits = tuple(wait for wait in drawn.waits if wait.stream not in mine)
    if isinstance(event.verdict, AskHuman):
        asked = f"phase {phase}: {clean(event.verdict.question)}"
        waits = (*waits, Wait(what=asked, stream=stream_of("", phase, 0), kind="person"))
    told = f"Phase {phase}: pass over, {outcome.status.replace('_', ' ')}"
    return changed(
        happened(drawn, at, told if outcome.alignment_score is None else f"{told} at {outcome.alignment_score:.1f}"),
        passes={key: p for key, p in drawn.passes.items() if key not in mine},
        calls={key: call for key, call in drawn.calls.items() if call.stream not in mine},
        waits=waits,
        tallies=drawn.tallies | {EXECUTE: _executing(drawn, mine.values())},
    )


def _best(row: PhaseRow, event: PhaseFinished) -> float | None:
    """AMB-37: a worse pass takes nothing away; what an earlier run left counts for passes that were to mend it."""
    stood = row.best if row.passes or event.mode in MENDING else None
    whole = event.outcome.status == "completed" and not event.outcome.rollback
    return max((s for s in (stood, event.outcome.alignment_score if whole else None) if s is not None), default=None)


def _question(verdict: Verdict) -> str:
    """What a person may decide; empty where there is nothing to."""
    if isinstance(verdict, AskHuman):
        return clean(verdict.question, 300)
    return f"{NOTHING_BUILT}. Is that right?" if takes_a_word(verdict) else ""


def _outcome_remark(word: Outcome, score: float | None, bar: float) -> str:
    """What the state does not say already."""
    return described(word, score, bar).removeprefix("already satisfied: ").removeprefix("passed below the bar, ")


def _remark(event: PhaseFinished) -> str:
    """Why a phase did not simply pass."""
    match event.verdict:
        case Stop(because=because):
            return _in_words(event.outcome.reason or because)
        case AskHuman(question=question):
            return question
        case verdict:
            unanchored = "unanchored" if event.outcome.unanchored else ""
            parts = (_in_words(verdict.because), unanchored, *map(clean, event.outcome.caveats))
            return "; ".join(part for part in parts if part)


def _in_words(reason: str) -> str:
    """A reason that is one of the rules' own names, `spec_changed`, as words; a sentence stays as it is."""
    return reason if " " in reason else reason.replace("_", " ")


def _executing(picture: Picture, passes: Iterable[OpenPass]) -> Tally:
    """With what the tasks of these passes took together, so that a phase without a plan can be reckoned."""
    known = picture.tallies.get(EXECUTE, Tally())
    spent = [sum(took for step, took in p.took.items() if heading_of(step) == EXECUTE) for p in passes]
    worked = [seconds for seconds in spent if seconds]
    return Tally(count=known.count + len(worked), seconds=known.seconds + sum(worked))


def _cautions(picture: Picture, entry: Entry) -> tuple[Caution, ...]:
    told: tuple[str, str] | None = None
    match entry.event:
        case Noted() as event:
            told = event.phase or "", note_line(event)
        case MergeRefused(phase=phase, because=because):
            told = phase, f"Phase {phase} is run again: {clean(because)}"
        case PhaseLanded(phase=phase, landed=False, note=note):
            told = phase, f"Phase {phase} is not on your branch: {clean(note)}"
        case PhaseFinished(outcome=outcome, verdict=Stop()):
            told = outcome.phase, f"Phase {outcome.phase} failed: {clean(outcome.reason)}"
        case PhaseFinished(outcome=outcome) as event:
            return tuple(Caution(at=entry.at, phase=outcome.phase, text=text) for text in _loose_ends(picture, event))
        case RunStarted(remarks=remarks):
            return tuple(Caution(at=entry.at, text=clean(remark)) for remark in remarks)
    return (Caution(at=entry.at, phase=told[0], text=told[1]),) if told else ()


def _loose_ends(picture: Picture, event: PhaseFinished) -> Iterator[str]:
    """What a pass that was let through leaves to look at; what is the same in every phase is told once."""
    phase, outcome = event.outcome.phase, event.outcome
    if outcome.unanchored:
        yield f"Phase {phase} is unanchored: no command of the roadmap shows it is done"
    yield from (f"Phase {phase} passed; {clean(caveat, 300)}" for caveat in outcome.caveats)
    if isinstance(event.verdict, Advance):
        told = {caution.text.partition(": ")[2] for caution in picture.cautions}
        yield from (f"Phase {phase}: {clean(issue)}" for issue in outcome.issues if clean(issue) not in told)
