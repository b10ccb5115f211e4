"""All that is asked before a run: the discussion first, then the mapping (FLAG-06, FLAG-14)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autopilot.app.consult.consultation import Around, sitting
from autopilot.app.consult.discuss import ContextFile, Discussed, Discussion
from autopilot.app.consult.map_context import ContextMapping, Mapped, Target
from autopilot.domain.attempt import Brief
from autopilot.domain.errors import AgentUnavailable, AskingStopped, Interrupted, UsageInvalid, UsageLimited
from autopilot.domain.events import RunStarted
from autopilot.domain.phase import Phase
from autopilot.domain.request import RunEnd
from autopilot.domain.user_answers import Consulted, UserContext
from autopilot.engine.decide.brakes import Tripped
from autopilot.engine.perform.consultation import Consultation, close
from autopilot.history.digest import digest_of
from autopilot.journal.answer_files import CONTEXT_MAP, DISCUSSION, QUESTIONS, AskedFile, write_open
from autopilot.journal.clock import SystemClock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.planning.start import consulted as planning
from autopilot.planning.start.answers_file import WrittenAnswers, read
from autopilot.planning.start.build_forecast import dependencies
from autopilot.planning.start.sufficiency import Context, low_summary, quick
from autopilot.policy.budget import spent
from autopilot.workspace.user_files import read_bytes

WAITING = 11
AGAIN = "Run the same command again: it goes on where it was left."


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came of it. `end` is set when nothing may follow: a cap was reached, or questions wait for somebody."""

    consulted: tuple[Consulted, ...] = ()
    words: tuple[str, ...] = ()
    end: RunEnd | None = None
    usd: float | None = None
    tokens: int | None = None


def before_run(around: Around, chosen: tuple[Phase, ...]) -> Heard:
    """Ask before a run, which tells on its own how it is confined."""
    return ask(replace(around, warn=lambda _: None), chosen)


def ask(around: Around, chosen: tuple[Phase, ...]) -> Heard:
    """Ask what the flags ask for; all that is said is in the files of `.autopilot` when this returns."""
    modes, told = around.request.modes, list[Consulted]()
    words, waiting, costs = list[str](), list[Any](), list[Heard]()
    try:
        with gently():
            if modes.discuss is not None:
                discussed = discuss(around, _targets(modes.discuss, around, chosen), told, costs)
                waiting += discussed.waiting
                words.append(_discussed_words(discussed))
            if modes.map is not None:
                mapped = map_context(around, _targets(modes.map, around, chosen), told, costs)
                waiting += mapped.waiting
                words.append(_mapped_words(mapped))
    except Tripped as stop:
        return Heard(end=RunEnd(run="", exit=stop.brake.exit_code, reason=stop.brake.reason))
    write_open(around.home, waiting, SystemClock().now())
    usd, tokens = (_sum([getattr(cost, name) for cost in costs]) for name in ("usd", "tokens"))
    end = _unanswered(len(waiting)) if waiting and not around.person.there else None
    return Heard(
        consulted=tuple(told), words=tuple(words), end=end, usd=usd, tokens=None if tokens is None else int(tokens)
    )


def only(around: Around, chosen: tuple[Phase, ...]) -> RunEnd:
    """The same where no run follows: what was said is kept for the runs to come."""
    heard = ask(around, chosen)
    if heard.end is not None:
        return heard.end
    for session in {one.session for one in heard.consulted}:
        with SqliteJournal(around.home / "journal.db", SystemClock()) as journal:
            close(journal, session)
    return RunEnd(run="", exit=0, reason=" ".join(heard.words), usd=heard.usd, tokens=heard.tokens)


def discuss(around: Around, phases: tuple[Phase, ...], told: list[Consulted], costs: list[Heard]) -> Discussed:
    if not phases:
        return Discussed(details={}, waiting=())
    with sitting("discuss", around, phases) as held:
        file = AskedFile(around.home, DISCUSSION)
        file.read()
        ids = [phase.id for phase in phases]
        told.append(Consulted(session=held.name, event="discuss_session_started", details={"target_phases": ids}))
        first = around.first(phases)
        found = Discussion(held, file, ContextFile(around.root)).run([brief_of(phase, first) for phase in phases])
        told += [
            Consulted(session=held.name, event="discuss_answers_recorded", details=dict(details))
            for details in found.details.values()
        ]
        costs.append(_cost(held))
    return found


def map_context(around: Around, phases: tuple[Phase, ...], told: list[Consulted], costs: list[Heard]) -> Mapped:
    """CMAP-06."""
    if not phases:
        return Mapped(details={"questions_generated": 0, "questions_answered": 0, "phases_scored": 0}, waiting=())
    with sitting("map", around, phases) as held:
        first, ids = around.first(phases), [phase.id for phase in phases]
        mode = f"--map {around.request.modes.map}".strip()
        details = {"target_phases": ids, "mode": mode}
        told.append(Consulted(session=held.name, event="context_mapping_started", details=details))
        targets = [Target(brief=brief_of(phase, first), context=context_of(phase, around, first)) for phase in phases]
        found = ContextMapping(held, AskedFile(around.home, CONTEXT_MAP)).run(targets)
        told.append(Consulted(session=held.name, event="context_mapping_completed", details=dict(found.details)))
        costs.append(_cost(held))
    return found


def low_confidence(around: Around, phases: tuple[Phase, ...], known: Mapping[str, UserContext]) -> tuple[str, ...]:
    """CMAP-05, AMB-08: one warning for all phases that say too little, those left out that people spoke of."""
    if around.request.modes.map is not None:
        return ()
    first = around.first(phases)
    found = {p.id: quick(context_of(p, around, first)) for p in phases if p.id not in known}
    return tuple(filter(None, (low_summary(found),)))


def brief_of(phase: Phase, first: RunStarted) -> Brief:
    return Brief(
        phase=phase,
        dir=first.folders[phase.id],
        base=first.base,
        position=1,
        total=1,
        requirements=first.requirements.get(phase.id, ()),
    )


def context_of(phase: Phase, around: Around, first: RunStarted) -> Context:
    return Context(
        phase=phase,
        requirements=first.requirements.get(phase.id, ()),
        about=around.project.about,
        dependencies=dependencies(phase, first),
    )


def contexts(around: Around, phases: tuple[Phase, ...]) -> dict[str, UserContext]:
    """What people said about the phases, in this sitting or before it (CMAP-04, DISC-12)."""
    mapped, discussed = (AskedFile(around.home, name).read() for name in (CONTEXT_MAP, DISCUSSION))
    return planning.contexts(phases, around.project, ContextFile(around.root).read, mapped, discussed)


def answering(file: str, folder: Path, tell: Callable[[str], None]) -> WrittenAnswers:
    """The person of `--answers`; the file is looked for from where the user stands."""
    content = read_bytes(folder / file)
    if content is None:
        raise UsageInvalid(
            f"There is no file {file} with answers.",
            why="Every question would stay open. Nothing was asked.",
            do="Name a file of answers; docs/verbs.md has its form.",
        )
    return WrittenAnswers(read(content, file), tell)


@contextmanager
def gently() -> Iterator[None]:
    """Leaving the questions is no accident, and no run is there to be resumed."""
    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        raise AskingStopped("Stopped.", why="What was answered is kept.", do=AGAIN) from None
    except (UsageLimited, AgentUnavailable) as error:
        raise type(error)(
            error.what, why=error.why, do=error.do.replace("`autopilot resume`", "the command again")
        ) from error


def _targets(named: str, around: Around, chosen: tuple[Phase, ...]) -> tuple[Phase, ...]:
    return planning.targets(named, around.request, around.project, around.done, chosen)


def _cost(held: Consultation) -> Heard:
    paid = spent(map(digest_of, held.passes()))
    return Heard(usd=paid.usd, tokens=paid.tokens)


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _unanswered(count: int) -> RunEnd:
    what = "1 question waits" if count == 1 else f"{count} questions wait"
    reason = f"{what} for an answer in .autopilot/{QUESTIONS}: answer at a terminal, or in a file given with --answers."
    return RunEnd(run="", exit=WAITING, reason=reason)


def _discussed_words(found: Discussed) -> str:
    count = len(found.details)
    return f"Discussed {count} phase{'s' * (count != 1)}."


def _mapped_words(found: Mapped) -> str:
    scored, asked, given = (
        found.details[name] for name in ("phases_scored", "questions_generated", "questions_answered")
    )
    return f"Mapped {scored} phase{'s' * (scored != 1)}: {given} of {asked} questions answered."
