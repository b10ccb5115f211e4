"""What a run would do and cost, told before it starts."""

from autopilot.domain.phase import PhaseType, PlanOnDisk
from autopilot.domain.value import Value


class Tokens(Value, frozen=True, kw_only=True):
    low: int = 0
    expected: int = 0
    worst: int = 0


class Dollars(Value, frozen=True, kw_only=True):
    low: float
    expected: float
    worst: float


class Habits(Value, frozen=True, kw_only=True):
    """
    How the calls of one program compare with the plain estimate of MTRC-02.

    `own_prompt` are the tokens it adds to each turn. The rest is from earlier runs here, None before there are any:
    `ratio` is what phases took for each token estimated, `usd_per_million` what a million tokens really cost.
    """

    program: str = ""
    own_prompt: int = 0
    phases: int = 0
    ratio: float | None = None
    usd_per_million: float | None = None


class TaskCounts(Value, frozen=True, kw_only=True):
    """By complexity. A task that does not say counts as medium (AMB-43)."""

    simple: int = 0
    medium: int = 0
    complex: int = 0


class Sufficiency(Value, frozen=True, kw_only=True):
    """CMAP-01: how well a phase is described, 1 to 10, and the four factors it comes from. A stub has none."""

    score: int
    criteria: int = 0
    requirements: int = 0
    docs: int = 0
    deps: int = 0


class Confidence(Value, frozen=True, kw_only=True):
    """CMAP-05: the quick score, and what is missing when it is low."""

    score: int
    reason: str = ""


class PhaseForecast(Value, frozen=True, kw_only=True):
    """
    One phase of the run.

    `route` names the steps expected, `skipped` those left out and why; `prompts` holds the tokens of every prompt that
    can be written before there is a plan. `runnable` counts the roadmap's criteria with a command, `task_types` the
    plan's tasks in the words of PRE-04. `plan_files` are the plans on disk, those already done among them.
    """

    id: str
    name: str
    type: PhaseType
    plan: bool
    route: tuple[str, ...]
    skipped: str
    runnable: int
    unanchored: bool
    waits_for: tuple[str, ...]
    sufficiency: Sufficiency
    confidence: Confidence
    prompts: dict[str, int]
    tasks: TaskCounts
    tokens: Tokens
    task_types: str = ""
    usd: Dollars | None = None
    warning: str = ""
    plan_files: tuple[PlanOnDisk, ...] = ()


class LeftOut(Value, frozen=True, kw_only=True):
    id: str
    name: str
    why: str
    plan_files: tuple[PlanOnDisk, ...] = ()


class CommandSource(Value, frozen=True, kw_only=True):
    """
    A command of the project; None: its gate is skipped. `source` is `user-override` or `auto-detected`.

    `broken` says why it is known not to run here, `last` how it ended the last time it was run.
    """

    command: str | None
    source: str
    broken: str = ""
    last: str = ""


class ProjectFacts(Value, frozen=True, kw_only=True):
    type: str
    manifest: str | None
    commands: dict[str, CommandSource]


class Forecast(Value, frozen=True, kw_only=True):
    """
    `resumes` names the unfinished run that would go on; `problems` are reasons why none would start.

    `other_plans` are plan files in folders that belong to no phase of the roadmap. `consent` are the lines of what a
    run would ask its user first, `reach` tells who reaches which hosts.
    """

    phases: tuple[PhaseForecast, ...]
    left_out: tuple[LeftOut, ...]
    tokens: Tokens
    usd: Dollars | None
    price_note: str
    project: ProjectFacts
    agent: str
    reviewer: str | None
    model: str | None
    sandbox: str
    resumes: str | None = None
    context_warning: str = ""
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    token_note: str = ""
    other_plans: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()
    reach: tuple[str, ...] = ()
