"""When a run pauses or ends and somebody is at the terminal, they are asked (FLAG-12, STAT-05a)."""

from autopilot.domain.errors import Interrupted
from autopilot.domain.events import RunFinished, RunStopped, VerdictGiven
from autopilot.domain.people import Person
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.verdicts import waiting_phases


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
