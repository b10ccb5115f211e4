"""What agents' calls cost, by phase, by role and by model. What nobody told is unknown and never nothing."""

from collections.abc import Callable, Iterable

from autopilot.domain.agent import REVIEWERS
from autopilot.domain.digest import CallDigest
from autopilot.domain.events import AgentAnswered
from autopilot.domain.spending import Spent, spent
from autopilot.domain.value import Value
from autopilot.views.report.phases import of_run
from autopilot.views.report.told import Told

UNKNOWN = "unknown"


class Made(Value, frozen=True, kw_only=True):
    """One answered call."""

    phase: str
    role: str
    model: str
    seconds: float
    call: CallDigest


class Share(Value, frozen=True, kw_only=True):
    """What fell to one phase, role or model. `seconds` is how long its calls took."""

    name: str
    spent: Spent
    seconds: float


class Spending(Value, frozen=True, kw_only=True):
    whole: Share
    phases: tuple[Share, ...]
    roles: tuple[Share, ...]
    models: tuple[Share, ...]


def spending_of(told: Told) -> Spending:
    made = tuple(_made(told))
    return Spending(
        whole=_share("whole run", made),
        phases=_by(made, lambda one: one.phase),
        roles=_by(made, lambda one: one.role),
        models=_by(made, lambda one: one.model),
    )


def _made(told: Told) -> Iterable[Made]:
    settings = told.run.start.settings
    model = settings.model or UNKNOWN
    agents = {reviews: f"{_agent(told, reviews=reviews)}, model {model}" for reviews in (True, False)}
    for record in told.records:
        phase = of_run(record.phase.id)
        for entry in record.entries:
            if isinstance(entry.event, AgentAnswered):
                answer = entry.event
                yield Made(
                    phase=phase,
                    role=answer.role,
                    model=agents[answer.role in REVIEWERS],
                    seconds=answer.seconds,
                    call=CallDigest(role=answer.role, usage=answer.usage),
                )


def _agent(told: Told, *, reviews: bool) -> str:
    """The program without its arguments, which may be long and are nobody's model."""
    settings = told.run.start.settings
    name = settings.reviewer if reviews and settings.reviewer else settings.agent
    kind, _, rest = name.partition(":")
    return f"{kind}:{(rest.split() or [''])[0].rpartition('/')[2]}" if rest else kind


def _by(made: tuple[Made, ...], key: Callable[[Made], str]) -> tuple[Share, ...]:
    """In the order of the first call of each."""
    groups: dict[str, list[Made]] = {}
    for one in made:
        groups.setdefault(key(one), []).append(one)
    return tuple(_share(name, group) for name, group in groups.items())


def _share(name: str, made: Iterable[Made]) -> Share:
    calls = tuple(made)
    return Share(name=name, spent=spent(one.call for one in calls), seconds=sum(one.seconds for one in calls))


def tokens_told(share: Spent) -> str:
    return _told(None if share.tokens is None else f"{share.tokens:,}", share.untold_tokens)


def dollars_told(share: Spent) -> str:
    return _told(None if share.usd is None else f"${share.usd:,.2f}", share.untold_usd)


def _told(known: str | None, untold: int) -> str:
    if known is None:
        return UNKNOWN
    return f"{known}, and {untold} calls {UNKNOWN}" if untold else known
