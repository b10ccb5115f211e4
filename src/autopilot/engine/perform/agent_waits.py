"""Who is asked for a call: the first agent that can be; where none can, it is waited for, or the run stops."""

from collections.abc import Callable
from typing import Literal

from autopilot.domain.agent_call import Role
from autopilot.domain.attempt import Brief
from autopilot.domain.errors import AgentUnavailable, UsageLimited
from autopilot.domain.events import AgentAnswered, AgentStarted, Noted, WaitEnded, WaitStarted
from autopilot.domain.settings import FAILED_OVER
from autopilot.engine.decide.brakes import Brake, Tripped
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import PhaseRecord
from autopilot.history.waits import Waited
from autopilot.policy.failover import Ask, Halt, Hold, Scene, Turn, moments_of, troubles_of, turn
from autopilot.policy.loops import BREAKER, INTERRUPTIONS, OVERLOADS
from autopilot.text.times import elapsed

SLICE_S = 1.0
"""Between two looks at the clocks and at what a person wants: a machine that wakes goes on within it."""
End = Literal["due", "retried", "failed_over"]


class Turns:
    """For one execution of one step. `waited` counts the seconds in which nobody could be asked."""

    def __init__(self, hands: Hands, streams: Streams, brief: Brief, stream: str, step: str) -> None:
        self._hands, self._streams, self._brief = hands, streams, brief
        self._stream, self._step = stream, step
        self.waited = 0.0

    def next(self, call: str, role: Role, held: Callable[[], bool]) -> str:
        """
        The agent to ask now; waits as long as it takes, and the same step goes on.

        `held`: whether a call made by an earlier process goes on. Raises `UsageLimited` when the wait would be too
        long or is not wanted, `AgentUnavailable` when nobody is signed in, `Tripped` when a service stays in trouble.
        """
        if (begun := self._begun(call, role, held)) is not None:
            return begun
        due = self._turn(role)
        if isinstance(due, Halt):
            raise self._stop(due)
        if isinstance(due, Ask):
            self._over(call, due.backend)
        backend = self._hold(call, role, due) if isinstance(due, Hold) else due.backend
        self._tell(call, role, backend)
        return backend

    @property
    def _record(self) -> PhaseRecord:
        return self._streams.phase(self._brief)

    def tries(self, call: str) -> int:
        """The how manieth time the call is put now."""
        answers = (entry.event for entry in self._record.entries if isinstance(entry.event, AgentAnswered))
        return sum(answer.call == call for answer in answers) + 1

    def _begun(self, call: str, role: Role, held: Callable[[], bool]) -> str | None:
        """Who answers a call that is held. One of nobody knows whom is let go: another's answer would be misread."""
        ladder = self._hands.ladders.of(role)
        if len(ladder) == 1 or not held():
            return None
        for entry in reversed(self._record.entries):
            match entry.event:
                case AgentAnswered(call=name) if name == call:
                    break
                case AgentStarted(call=name, backend=backend) if name == call and backend in ladder:
                    return backend
        self._hands.keeping.release(call)
        return None

    def _turn(self, role: Role) -> Turn:
        ladder, troubles = self._hands.ladders.of(role), troubles_of(self._record.entries)
        if ladder[0] not in troubles:
            return Ask(ladder[0])
        run = self._streams.run()
        return turn(
            Scene(
                ladder=ladder,
                troubles=troubles,
                moments=moments_of(run),
                limits=run.limits,
                now=self._hands.clock.now(),
                wait=self._hands.waits,
                chance=self._hands.chance(),
            )
        )

    def _going_on(self, call: str) -> Waited | None:
        """The wait for this call that has not ended, be it an earlier process's."""
        return next((wait for wait in self._streams.run().waits if not wait.end and wait.event.call == call), None)

    def _hold(self, call: str, role: Role, due: Hold) -> str:
        """Until the same moment, however often the run was taken up meanwhile; then whom to ask."""
        known = self._going_on(call)
        if known is None or known.event.backend != due.backend:
            known = self._begin(call, role, due)
        hurried = self._rest(known)
        self._streams.append_run(WaitEnded(call=call, backend=known.event.backend, how="retried" if hurried else "due"))
        # Who was waited for is asked, whatever the clock says now; a person in a hurry means the first of all.
        now = self._turn(role) if hurried else None
        return now.backend if isinstance(now, Ask) else known.event.backend

    def _begin(self, call: str, role: Role, due: Hold) -> Waited:
        self._streams.append_run(
            WaitStarted(
                call=call,
                stream=self._stream,
                phase=self._brief.phase.id,
                step=self._step,
                role=role,
                backend=due.backend,
                outcome=due.outcome,
                until=due.until,
                attempt=due.attempt,
                told=due.told,
            )
        )
        return next(wait for wait in reversed(self._streams.run().waits) if wait.event.call == call)

    def _rest(self, wait: Waited) -> bool:
        """
        Whether a person wants to go on before the time has come.

        The wall clock ends it, also when the machine slept; the other one does where the wall clock was put back.
        """
        clock, until = self._hands.clock, wait.event.until
        began, now = clock.monotonic(), clock.now()
        most = elapsed(now, until)
        try:
            while now < until and (gone := clock.monotonic() - began) < most:
                if self._hands.hurried(wait.id):
                    return True
                self._hands.rest(min(SLICE_S, most - gone, elapsed(now, until)))
                now = clock.now()
            return False
        finally:
            self.waited += clock.monotonic() - began

    def _over(self, call: str, backend: str) -> None:
        """End a wait of an earlier process that need not go on."""
        known = self._going_on(call)
        if known is None:
            return
        anew = moments_of(self._streams.run()).asked_anew >= known.begin
        same = known.event.backend == backend
        how: End = "retried" if anew else "due" if same else "failed_over"
        self._streams.append_run(WaitEnded(call=call, backend=backend, how=how))

    def _tell(self, call: str, role: Role, backend: str) -> None:
        """Once for each call and agent that stands in."""
        last = next((e.event for e in reversed(self._record.entries) if isinstance(e.event, AgentAnswered)), None)
        if last is None or last.call != call or last.backend == backend:
            return
        until = f" until {last.resets_at}" if last.resets_at else ""
        why = last.outcome.replace("_", " ")
        details = {
            "call": call,
            "role": role,
            "from": last.backend,
            "to": backend,
            "outcome": last.outcome,
            "message": f"{last.backend} is not to be had ({why}{until}): {backend} is asked in its place",
        }
        note = Noted(event=FAILED_OVER, phase=self._brief.phase.id, step=self._step, details=details)
        if note not in self._streams.run().of(Noted):
            self._streams.append_run(note)

    def _stop(self, due: Halt) -> UsageLimited | AgentUnavailable | Tripped:
        match due.outcome:
            case "usage_limited":
                return limited(due, waits=self._hands.waits)
            case "auth":
                return not_signed_in(due, self._hands.sign_in(due.backend))
            case "cancelled":
                return interrupted(due)
        why = f"{due.attempt} calls in a row met trouble at the service of {due.backend} ({due.outcome})"
        said = f"; last: {due.text.strip()[-200:]}" if due.text.strip() else ""
        reason = f"{OVERLOADS}: {why}{said}"
        return Tripped(Brake(name=OVERLOADS, exit_code=BREAKER, reason=reason, do="autopilot resume --now"))


def interrupted(due: Halt) -> Tripped:
    said = due.text.strip().splitlines()
    last = f"; last: {said[-1][-200:]}" if said else ""
    why = f"{due.attempt} calls of {due.backend} were cut off from outside and none was answered in between{last}"
    return Tripped(
        Brake(name=INTERRUPTIONS, exit_code=BREAKER, reason=f"{INTERRUPTIONS}: {why}", do="autopilot resume --now")
    )


def limited(due: Halt, *, waits: bool) -> UsageLimited:
    opens = f" until {due.until}" if due.until else "; when it opens again is not known"
    why = "that is longer than limits.wait_hours lets it wait" if waits else "--no-wait says not to wait for it"
    return UsageLimited(
        f"the usage limit of {due.backend} is reached{opens}",
        why=f"no further call can be made now, and {why}; everything done so far is kept",
        do="run `autopilot resume` once the limit has reset; `autopilot resume --now` asks before that",
    )


def not_signed_in(due: Halt, how: str) -> AgentUnavailable:
    said = f": {due.text.strip()[-200:]}" if due.text.strip() else ""
    return AgentUnavailable(
        f"the agent {due.backend} is not signed in{said}",
        why="no call can be made without it; everything done so far is kept",
        do=f"{how}, then run `autopilot resume`",
    )
