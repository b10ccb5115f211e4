"""The run as one frozen picture, worked out from the journal's entries as they come. Pure: it has no clock."""

from typing import Literal

from autopilot.domain.phase import NEVER_RUN
from autopilot.domain.results import COMPLETION
from autopilot.domain.settings import Limits
from autopilot.domain.value import Value

StepEnd = Literal["", "done", "back", "stopped", "person"]
TaskState = Literal["waiting", "working", "reviewing", "fixing", "verified", "failed"]
WaitKind = Literal["limit", "person", "breaker"]
RunState = Literal["running", "paused", "completed", "failed", "interrupted"]
OVER = frozenset(
    {
        "completed",
        "already_satisfied",
        "below_bar",
        "failed",
        "skipped",
        "blocked",
        "needs_human_verification",
        *NEVER_RUN,
    }
)


class PhaseRow(Value, frozen=True, kw_only=True):
    """
    A phase of the roadmap. `state` is the word of state.json: its outcome where it has one, else its status.

    `begun` counts the passes that were started, `passes` those that are over, and `seconds` is the time of these.
    `score` is that of the pass that counts, `best` the highest so far of one that came out whole. `remark` is why it
    did not simply pass, `question` what a person is asked; `landed` None: not tried. `parent` is the phase it is a part
    of; a part is shown and not counted. `tokens` and `usd` None: no agent told.
    """

    id: str
    name: str
    state: str = "not_started"
    target: bool = False
    score: float | None = None
    best: float | None = None
    begun: int = 0
    passes: int = 0
    seconds: float = 0.0
    remark: str = ""
    question: str = ""
    landed: bool | None = None
    parent: str = ""
    needs: tuple[str, ...] = ()
    tokens: int | None = None
    usd: float | None = None


class CallRow(Value, frozen=True, kw_only=True):
    """One call of an agent; `entry` is its newest number in the pass's stream. `seconds` None: it goes on."""

    call: str
    entry: int
    role: str
    began: str
    seconds: float | None = None
    outcome: str = ""
    tokens: int | None = None
    usd: float | None = None


class StepRow(Value, frozen=True, kw_only=True):
    """
    `seconds` None: under way since `began`, waits of `waited` seconds included; it waits since `waits_since`.

    `because` is what the gate said to it.
    """

    step: str
    began: str
    task: str = ""
    seconds: float | None = None
    ended: StepEnd = ""
    because: str = ""
    calls: tuple[CallRow, ...] = ()
    waited: float = 0.0
    waits_since: str = ""


class TaskRow(Value, frozen=True, kw_only=True):
    id: str
    title: str
    state: TaskState = "waiting"


class OpenPass(Value, frozen=True, kw_only=True):
    """
    A pass that is being worked on, the `number`th of its phase. `paused` is for how long of it the run lay still or
    waited for an agent.

    `waits_since` is empty while it does not wait for one. `steps` and their calls are the newest, as far as anything is
    shown of them; `took` is how many seconds all finished steps took, by name.
    """

    phase: str
    name: str
    began: str
    number: int = 0
    cycle: int = 0
    mode: str = "initial"
    steps: tuple[StepRow, ...] = ()
    took: dict[str, float] = {}
    tasks: tuple[TaskRow, ...] = ()
    paused: float = 0.0
    waits_since: str = ""

    @property
    def step(self) -> StepRow | None:
        """The step under way, or the newest."""
        return self.steps[-1] if self.steps else None


class AgentCall(Value, frozen=True, kw_only=True):
    """A call that has not been answered. `pid` and `birth` tell its process from any other."""

    call: str
    stream: str
    role: str
    phase: str
    task: str
    began: str
    pid: int
    birth: str


class Wait(Value, frozen=True, kw_only=True):
    """What is waited for, and until when if that is known. `stream` is whose wait it is, `call` which goes on then."""

    what: str
    stream: str
    until: str = ""
    kind: WaitKind = "limit"
    call: str = ""


class Caution(Value, frozen=True, kw_only=True):
    """Something a person may want to look at."""

    at: str
    text: str
    phase: str = ""


class Happened(Value, frozen=True, kw_only=True):
    """One thing that was brought to its end."""

    at: str
    text: str


class Scorecard(Value, frozen=True, kw_only=True):
    """The newest rating."""

    phase: str
    score: float
    rows: tuple[tuple[str, float], ...] = ()


class Used(Value, frozen=True, kw_only=True):
    """What agents said their calls cost; None: nobody said. `untold` counts the calls without a price."""

    calls: int = 0
    tokens: int | None = None
    usd: float | None = None
    untold: int = 0


class Tally(Value, frozen=True, kw_only=True):
    """How long something took, all times together."""

    count: int = 0
    seconds: float = 0.0

    @property
    def mean(self) -> float:
        return self.seconds / self.count if self.count else 0.0


class Picture(Value, frozen=True, kw_only=True):
    """
    All that is shown of a run, wherever it is shown: terminal, another terminal, dashboard, replay.

    `threshold` is the score a phase needs, `end` the row of the steps behind the last phase. `passes` are the open ones
    by stream, `calls` the unanswered ones by id, `tallies` how long finished steps took by name, `recent` what came to
    its end last. `worked` counts the seconds up to `last`, the time of the newest entry, without those in which the
    run lay still; `resumed` is when it was taken up again.
    """

    run: str = ""
    state: RunState = "running"
    reason: str = ""
    do: str = ""
    agent: str = ""
    model: str = ""
    branch: str = ""
    jobs: int = 1
    threshold: float = 0.0
    began: str = ""
    last: str = ""
    resumed: str = ""
    worked: float = 0.0
    limits: Limits = Limits()
    phases: dict[str, PhaseRow] = {}
    end: PhaseRow | None = None
    passes: dict[str, OpenPass] = {}
    calls: dict[str, AgentCall] = {}
    waits: tuple[Wait, ...] = ()
    cautions: tuple[Caution, ...] = ()
    recent: tuple[Happened, ...] = ()
    scorecard: Scorecard | None = None
    used: Used = Used()
    tallies: dict[str, Tally] = {}

    def row(self, phase: str) -> PhaseRow | None:
        return self.end if phase == COMPLETION else self.phases.get(phase)

    @property
    def over(self) -> bool:
        return self.state != "running"

    @property
    def lies_still(self) -> bool:
        """Whether all that is open waits for an agent."""
        waiting = {wait.stream for wait in self.waits if wait.call}
        return bool(waiting) and self.passes.keys() <= waiting

    @property
    def targets(self) -> tuple[PhaseRow, ...]:
        return tuple(row for row in self.phases.values() if row.target and not row.parent)
