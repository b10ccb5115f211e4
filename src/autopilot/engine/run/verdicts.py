"""Applies the verdicts people give while a run works, pauses or has ended."""

from autopilot.domain.errors import Interrupted
from autopilot.domain.events import Noted, RunFinished, RunStopped, VerdictGiven
from autopilot.domain.people import Inbox, Person, Said, Waiting
from autopilot.domain.verdict import AskHuman, takes_a_word
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import RunRecord
from autopilot.policy.deferral import due_notes
from autopilot.policy.outcomes import NOTHING_BUILT

REFUSED = "human_verdict_refused"


def waiting_phases(run: RunRecord) -> tuple[Waiting, ...]:
    """The phases on which a person may decide, in the order of the targets: they wait, or nothing was built."""
    names = {phase.id: phase.name for phase in run.start.phases}
    found = []
    for target in run.start.targets:
        standing = run.standing(target)
        verdict = standing[-1].verdict if standing else None
        if verdict is None or not takes_a_word(verdict):
            continue
        outcome = standing[-1].outcome
        reason = outcome.human_verify_justification
        found.append(
            Waiting(
                phase=target,
                name=names.get(target, ""),
                question=verdict.question if isinstance(verdict, AskHuman) else f"{NOTHING_BUILT}. Is that right?",
                task=f"{reason.checkpoint_task_id} {reason.task_description}" if reason else "",
                done=outcome.tasks_completed,
                unresolved=reason.unresolved_criteria if reason else (),
            )
        )
    return tuple(found)


def attend(inbox: Inbox, streams: Streams) -> None:
    """Between two moves of a run: what a person said, and what the phases so far ask to be noted about deferrals."""
    take_in(inbox, streams)
    with streams.turn:
        for note in due_notes(streams.run()):
            streams.append_run(note)


def take_in(inbox: Inbox, streams: Streams) -> None:
    """Write down what arrived for this run, then remove it: cut off between the two, it is removed the next time."""
    for said in inbox.waiting():
        with streams.turn:
            run = streams.run()
            if said.run != run.start.run:
                continue
            event = entry_for(said, run)
            if event is not None:
                streams.append_run(event)
        inbox.remove(said)


def entry_for(said: Said, run: RunRecord) -> VerdictGiven | Noted | None:
    """None when it has been written down before."""
    given = {word.id for word in run.of(VerdictGiven)}
    refused = {note.details.get("id") for note in run.of(Noted) if note.event == REFUSED}
    if said.id in given | refused:
        return None
    if any(waiting.phase == said.phase for waiting in waiting_phases(run)):
        return VerdictGiven(id=said.id, phase=said.phase, verdict=said.verdict, issues=said.issues)
    details = {"id": said.id, "verdict": said.verdict, "reason": "the phase does not wait for a verdict"}
    return Noted(event=REFUSED, phase=said.phase, details=details)


def asked(person: Person, streams: Streams, finished: RunFinished | RunStopped) -> bool:
    """Whether their word lets the run go on. One who leaves the question leaves the run as it is."""
    try:
        if isinstance(finished, RunStopped):
            return bool(finished.checkpoint) and person.goes_on(finished.reason)
        return _verdicts(person, streams) > 0
    except Interrupted:
        return False


def _verdicts(person: Person, streams: Streams) -> int:
    given = 0
    for waiting in waiting_phases(streams.run()):
        word = person.verdict(waiting)
        if word is None:
            continue
        verdict, issues = word
        # Named for its place in the journal: a question at the terminal is put once at each place.
        name = f"terminal-{len(streams.run().entries)}"
        streams.append_run(VerdictGiven(id=name, phase=waiting.phase, verdict=verdict, issues=issues))
        given += 1
    return given
