"""One step's questions to agents, such that a crash at any instant asks nothing twice and loses no work."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from autopilot.domain.agent_call import Answered, Call, PhaseRef, Question, Reply, TaskRef, Worked, schema_of
from autopilot.domain.codemap import SHOWN_PATH
from autopilot.domain.errors import NoAnswer
from autopilot.domain.events import AgentAnswered, AgentStarted, StepStarted
from autopilot.domain.evidence import Finding
from autopilot.domain.results import COMPLETION
from autopilot.domain.settings import model_of, portable
from autopilot.engine.decide.brakes import Tripped, over_cap, seconds_left, usd_left
from autopilot.engine.perform.agent_waits import Turns
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.perform.visibility import MAPPED, visible, writable
from autopilot.engine.perform.workplaces import Checkouts, Place, Workplace
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import fitted
from autopilot.policy.budget import Ingested, answers, debit, ingest, summary
from autopilot.policy.failover import TROUBLES
from autopilot.policy.task_progress import EXHAUSTED, says_exhausted
from autopilot.ports.agents import Journal
from autopilot.text.clean import harmless

A = TypeVar("A", bound=msgspec.Struct)

ANSWERS = frozenset({"ok", "bad_output"})
REPAIR = (
    "Your last answer could not be used: {problem}\nDo not redo the work. Answer with one JSON object as asked.\n\n"
)
AGAIN = "Your last answer could not be used: {problem}\nDo the work as asked and answer with one JSON object.\n\n"
Heard = tuple[AgentAnswered, ...]


class StepAgents:
    """Implements `Asking` for one execution of one step. `resumed`: an earlier process began it and did not finish."""

    def __init__(self, hands: Hands, streams: Streams, record: PhaseRecord, *, stream: str, resumed: bool) -> None:
        assert record.open_step is not None
        self._hands, self._streams, self._record = hands, streams, record
        self._stream, self._resumed = stream, resumed
        self._started: StepStarted = record.open_step
        self._snapshot = hands.workspace.planning_files()
        self._heed_journal = True
        self._turns = Turns(hands, streams, record.brief, stream, self._started.step)

    @property
    def waited(self) -> float:
        """The seconds in which nobody could be asked."""
        return self._turns.waited

    @property
    def step_id(self) -> str:
        """`<run>/<phase>/<step>/<n>`: the same for every try at this execution of the step."""
        return f"{self._record.start.run}/{self._record.phase.id}/{self._started.step}/{self._started.n}"

    def ask(self, question: Question[A]) -> Answered[A]:
        files = self._files(question)
        with Checkouts(lambda call, prompt: self._checkout(call, prompt, files)) as place:
            value, events, issues = self._settle(question, place)
        wrote = {path: text for event in events for path, text in event.wrote.items()}
        seconds = round(sum(event.seconds for event in events), 3)
        return Answered(value=value, wrote=wrote, seconds=seconds, observed=_observed(events), issues=issues)

    def _checkout(self, call: str, prompt: str, files: Mapping[str, str]) -> AbstractContextManager[str]:
        """A new one, or that of the same call which goes on there though the process that made it is gone."""
        workspace, held = self._hands.workspace, self._hands.keeping.place(call, prompt)
        return workspace.taken_up(held) if held else workspace.checkout(self._record.commit, files)

    def work(self, question: Question[A], message: str, onto: str) -> Worked[A]:
        workspace = self._hands.workspace
        files = self._files(question)
        change = workspace.sealed(onto, self.step_id) if self._resumed else None
        found = "" if change else self._found(self._first_prompt(question))
        place = Workplace(workspace, self._record.commit, self.step_id, files, found)
        try:
            value, events = self._finished_work(question, place)
        except NoAnswer:
            place.leave()
            raise
        if change is None:
            trailers = f"Autopilot-Run: {self._record.start.run}\nAutopilot-Step: {self.step_id}"
            change = workspace.seal(place.at, onto, f"{message}\n\n{trailers}\n")
        touched = sorted({path for event in events for path in event.touched})
        findings = (*map(_touched, touched), *map(_left_out, change.left_out))
        return Worked(value=value, change=change, findings=findings)

    def _finished_work(self, question: Question[A], place: Place) -> tuple[A, Heard]:
        """CTXE-01: work its agent had to leave off is no answer."""
        value, events, _ = self._settle(question, place)
        if says_exhausted(value):
            raise NoAnswer(EXHAUSTED, "the agent says that its context is used up")
        return value, events

    def _files(self, question: Question[A]) -> dict[str, str]:
        known = visible(question.role, self._record, self._snapshot, self._hands.diagnostics.learnings())
        if question.role in MAPPED and self._record.brief.repo_map_path:
            paper = self._hands.atlas.paper(self._record.commit)
            return known | ({SHOWN_PATH: paper} if paper else {})
        return known

    def _found(self, prompt: str) -> str:
        """
        The agent's folder as it was left; empty when a new one is due. It is taken as it is after a crash that came
        behind the answer, when the work is whole, or that the agent outlived, when it is still being done; and where
        too much was written, for the next try to clear away what does not belong there.

        Not so after a reboot, when files may be torn: then, as in any other crash, what is there is kept aside.
        """
        workspace = self._hands.workspace
        if self._record.swollen and not self._resumed:
            return workspace.reopen() or ""
        if self._resumed:
            folder = workspace.reopen()
            if folder and self._same_boot() and (self._heard(self.step_id) or self._is_held(prompt, folder)):
                return folder
            self._hands.keeping.release(self.step_id)
            if folder:
                workspace.keep_interrupted(folder, self._record.commit, self.step_id)
            self._heed_journal = False
        return ""

    def _is_held(self, prompt: str, folder: str) -> bool:
        return self._hands.keeping.place(self.step_id, prompt) == folder

    def _same_boot(self) -> bool:
        return bool(self._hands.boot) and self._started.boot == self._hands.boot

    def _heard(self, call: str) -> AgentAnswered | None:
        """What the journal says was answered. An agent that was not to be had has answered nothing."""
        event = self._record.answered(call) if self._heed_journal else None
        return None if event is None or event.outcome in TROUBLES else event

    def _settle(self, question: Question[A], place: Place) -> tuple[A, Heard, tuple[str, ...]]:
        """The answer as its type, and what is still wrong with it; one repair if it does not fit."""
        heard: Heard = ()
        prompt, problem = self._first_prompt(question), ""
        again = f"{self.step_id}.2"
        for call_id in (self.step_id, again):
            event = self._heard(call_id) or self._answer(question, call_id, prompt, place)
            heard = (*heard, event)
            value, problem = _value(event, question.answer)
            objections = () if value is None else question.objections(_object(event, question.answer))
            if value is not None and (not objections or call_id == again):
                return value, heard, tuple(objection.issue for objection in objections)
            reminders = "\n".join(objection.reminder for objection in objections)
            prompt = (f"{reminders}\n\n" if reminders else REPAIR.format(problem=problem)) + question.prompt
        raise NoAnswer("bad_output", problem)

    def _first_prompt(self, question: Question[A]) -> str:
        """With what was wrong, if the step had an answer before that could not be used."""
        unusable = self._record.unusable
        return (AGAIN.format(problem=unusable) if unusable else "") + question.prompt

    def _answer(self, question: Question[A], call_id: str, prompt: str, place: Place) -> AgentAnswered:
        """
        Ask until somebody is to be had.

        Each time in a clean place: one whose window closed in the middle of its work has left it half done.
        """
        while True:
            backend = self._turns.next(
                call_id, question.role, lambda: self._hands.keeping.place(call_id, prompt) is not None
            )
            call = _call(question, self._record, call_id, place.folder(call_id, prompt))
            usual = backend == self._hands.ladders.of(call.role)[0]
            model = call.model if usual else portable(call.model)
            tries = self._turns.tries(call_id)
            event = self._put(msgspec.structs.replace(call, prompt=prompt, model=model, tries=tries), backend)
            if event.outcome not in TROUBLES:
                return event
            place.leave()

    def _put(self, call: Call, backend: str) -> AgentAnswered:
        """Ask, and have the answer on disk before anybody looks at it."""
        hands = self._hands

        def started(pid: int) -> None:
            event = AgentStarted(call=call.id, role=call.role, pid=pid, birth=hands.birth(pid), backend=backend)
            self._streams.append(self._stream, event)

        call = self._within_caps(call)
        began = hands.clock.monotonic()
        reply = hands.agent_named(backend, call.role).call(call, started)
        seconds = round(max(hands.clock.monotonic() - began, reply.seconds), 3)
        taken = hands.workspace.planning_changes(call.folder)
        event = _answered(call, redacted(reply, hands.redact), seconds)
        event = msgspec.structs.replace(
            event,
            backend=backend,
            wrote={p: t for p, t in taken.changes.items() if t is not None and writable(call.role, self._record, p)},
            touched=(*sorted(p for p in taken.changes if not writable(call.role, self._record, p)), *taken.refused),
        )
        self._streams.append(self._stream, event)
        hands.keeping.release(call.id)
        return event

    def _within_caps(self, call: Call) -> Call:
        """The call with no more time and money than is left. Raises `Tripped` for one that may cost more."""
        run, passes, now = self._streams.run(), self._streams.spending(), self._hands.clock.now()
        # The steps behind the last phase belong to none.
        phase = "" if self._record.phase.id == COMPLETION else self._record.phase.id
        brake = over_cap(run, passes, now, phase, debit(call.role, call.prompt, answers(passes)))
        if brake is not None:
            raise Tripped(brake)
        left = max(1, int(seconds_left(run, passes, now, phase)))
        # A cent, where less is left: no program takes nothing for a cap.
        usd = max(0.01, round(usd_left(run, passes, now, phase), 2))
        return msgspec.structs.replace(call, seconds=min(call.seconds, left), usd=usd)


def heard_calls(journal: Journal, run: str) -> frozenset[str]:
    """The calls of the run whose answers are on record."""
    entries = (entry for stream in journal.streams() if stream.startswith(f"{run}/") for entry in journal.load(stream))
    answered = (entry.event for entry in entries if isinstance(entry.event, AgentAnswered))
    return frozenset(event.call for event in answered if event.outcome not in TROUBLES)


def _call(question: Question[A], record: PhaseRecord, call_id: str, folder: str) -> Call:
    task, settings = question.task, record.start.settings
    return Call(
        id=call_id,
        role=question.role,
        prompt=question.prompt,
        answer_schema=schema_of(question.answer),
        phase=PhaseRef(id=record.phase.id, name=record.phase.name, type=record.phase.type, dir=record.brief.dir),
        task=TaskRef(id=task.id, title=task.title, files=task.files) if task else None,
        attempt=attempt(record, question.role, task.id if task else None, call_id),
        model=model_of(question.role, settings),
        seconds=settings.limits.agent_seconds,
        idle_seconds=settings.limits.idle_seconds,
        turns=settings.limits.agent_turns or None,
        folder=folder,
    )


def attempt(record: PhaseRecord, role: str, task: str | None, call_id: str) -> int:
    """How often the role was put to the task before this call, repairs not counted, plus one."""
    key = attempt_key(role, task)
    before = {
        event.call
        for entry in record.entries
        if isinstance(event := entry.event, AgentAnswered) and attempt_key(event.role, event.task) == key
    }
    own = {call_id, call_id.removesuffix(".2")}
    return record.brief.earlier.get(key, 0) + sum(not c.endswith(".2") for c in before - own) + 1


def attempt_key(role: str, task: str | None) -> str:
    return f"{role}@{task or ''}"


def redacted(reply: Reply, redact: Callable[[str], str]) -> Reply:
    """The same reply without secrets. An answer stays JSON: no secret's pattern reaches beyond a string."""
    return msgspec.structs.replace(
        reply,
        answer=None if reply.answer is None else redact(reply.answer),
        text=redact(reply.text),
        commands=tuple(map(redact, reply.commands)),
    )


def _answered(call: Call, reply: Reply, seconds: float) -> AgentAnswered:
    kept = _ingested(call, reply)
    return AgentAnswered(
        call=call.id,
        role=call.role,
        task=call.task.id if call.task else None,
        outcome=reply.outcome,
        answer=reply.answer,
        text=kept.text,
        usage=reply.usage,
        commands=reply.commands,
        seconds=seconds,
        observes=reply.observes,
        resets_at=_moment(reply.resets_at),
        issues=(*kept.issues, *reply.issues),
        model=reply.model,
        thread=reply.thread,
        tries=reply.tries,
    )


def _moment(told: str | None) -> str | None:
    """The moment in UTC, as the journal writes it; what is none is not kept."""
    try:
        moment = datetime.fromisoformat(told) if told else None
        return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None
    except (ValueError, OverflowError):
        return None


def _ingested(call: Call, reply: Reply) -> Ingested:
    """BUD-02. The budget is for answers: what a breakdown printed is not one."""
    if reply.outcome not in ANSWERS:
        return Ingested(text=reply.text)
    step = call.id.split("/")[-2] if "/" in call.id else call.role
    return ingest(call.role, step, reply.text, reply.lines, answered=reply.answer is not None)


def _value(event: AgentAnswered, answer: type[A]) -> tuple[A | None, str]:
    """The typed answer, or why there is none. What no repair can mend is raised."""
    if event.outcome not in ANSWERS:
        raise NoAnswer(event.outcome, summary(event.role, event.text)[-500:])
    if event.answer is None:
        return None, "there was no JSON object in it"
    try:
        # All of it, fields included that nobody asked for: a number no program can hold makes it unusable.
        given = msgspec.json.decode(event.answer)
        plain = "\\" not in event.answer and event.answer.isprintable()
        return _converted(given if plain else _harmless(given), answer), ""
    except msgspec.ValidationError as error:
        return None, str(error)
    except (msgspec.DecodeError, RecursionError) as error:
        return None, f"it is no valid JSON: {error}"


def _converted(given: Any, answer: type[A]) -> A:
    """A field that is null where its type has no null counts as left out; a slip in the shape of a text is read."""
    try:
        return msgspec.convert(given, answer, strict=False)
    except msgspec.ValidationError as error:
        try:
            return msgspec.convert(fitted(_without_nulls(given), answer), answer, strict=False)
        except msgspec.ValidationError:
            raise error from None


def _without_nulls(value: Any) -> Any:
    match value:
        case list():
            return [_without_nulls(item) for item in value]
        case dict():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _harmless(value: Any) -> Any:
    """Every text in an answer without what a terminal would act upon: in JSON it hides as an escape."""
    match value:
        case str():
            return harmless(value)
        case list():
            return [_harmless(item) for item in value]
        case dict():
            return {harmless(key): _harmless(item) for key, item in value.items()}
    return value


def _object(event: AgentAnswered, answer: type[A]) -> dict[str, Any]:
    """The answer as it was written, in the shape in which it counts: another shape must hide nothing."""
    decoded = fitted(msgspec.json.decode(event.answer or "{}"), answer)
    return decoded if isinstance(decoded, dict) else {}


def _observed(events: Heard) -> tuple[str, ...] | None:
    """What the agent was seen running; None unless every call of it was watched."""
    if not all(event.observes for event in events):
        return None
    return tuple(command for event in events for command in event.commands)


def _touched(path: str) -> Finding:
    what = "changed by the agent, who may not; the change was left out"
    return Finding(rule="planning-files", where=path, what=what, severity="warning")


def _left_out(path: str) -> Finding:
    what = "no commit can hold it, so the work was looked at without it: remove it or give it another name"
    return Finding(rule="not-committed", where=path, what=what)
