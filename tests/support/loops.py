"""A loop played from a script: each answer once, the last again and again, and a clock that only sessions move."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from autopilot.sessions.files.loop_record import LoopRecord
from autopilot.sessions.flags import bounded
from autopilot.sessions.loop import LoopEnd, LoopPlan, Ports, SessionRequest, run_loop
from autopilot.sessions.machine.resources import Assessment
from autopilot.sessions.selector import Recommendation

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass(slots=True)
class Play:
    """
    `modes`, `sessions`, `verdicts` and `peers` are scripted answers; `{"throw": words}` raises. None: no such part.

    `abort` is "before", or a map of `duringSession` or `duringMode` to the number of the call.
    """

    modes: Sequence[Any] | None = None
    sessions: Sequence[Any] | None = None
    verdicts: Sequence[Any] | None = None
    peers: Sequence[Any] | None = None
    abort: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    now: datetime = START
    aborted: bool = False
    calls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("mode", "session", "verdict", "peers"), 0))
    requests: list[SessionRequest] = field(default_factory=list)
    written: list[LoopRecord] = field(default_factory=list)
    opened: list[LoopRecord] = field(default_factory=list)

    def run(self) -> LoopEnd:
        self.aborted = self.abort == "before"
        plan = LoopPlan(
            flags=bounded(
                max_sessions=self.options.get("maxSessions"),
                max_hours=self.options.get("maxHours"),
                confidence_threshold=self.options.get("confidenceThreshold"),
                max_tokens=self.options.get("maxTokens"),
                dry_run=bool(self.options.get("dryRun")),
            ),
            branch=self.options.get("branch"),
        )
        return run_loop(plan, self.ports())

    def ports(self) -> Ports:
        return Ports(
            now=lambda: self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            selector=None if self.modes is None else self._select,
            runner=None if self.sessions is None else self._session,
            evaluator=None if self.verdicts is None else self._evaluate,
            peers=None if self.peers is None else lambda: self._next("peers", self.peers),
            aborted=lambda: self.aborted,
            opened=self.opened.append,
            closed=self.written.append,
        )

    def _select(self) -> Recommendation | None:
        said = self._next("mode", self.modes)
        self._meddle("duringMode", "mode")
        return None if said is None else Recommendation(mode=said.get("mode"), confidence=said.get("confidence") or 0.0)

    def _session(self, request: SessionRequest) -> Any:
        self.requests.append(request)
        said = self._next("session", self.sessions, lambda step: self._pass(step.get("minutes", 0)))
        self._meddle("duringSession", "session")
        return said.get("result")

    def _evaluate(self) -> Assessment | None:
        said = self._next("verdict", self.verdicts)
        return Assessment(verdict=said["verdict"]) if isinstance(said.get("verdict"), str) else None

    def _pass(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)

    def _next(self, name: str, answers: Sequence[Any] | None, first: Callable[[Any], None] = lambda _: None) -> Any:
        answers = answers or [{}]
        said = answers[min(self.calls[name], len(answers) - 1)]
        self.calls[name] += 1
        first(said)
        if isinstance(said, Mapping) and "throw" in said:
            raise RuntimeError(said["throw"])
        return said

    def _meddle(self, when: str, name: str) -> None:
        if isinstance(self.abort, Mapping) and self.abort.get(when) == self.calls[name]:
            self.aborted = True
