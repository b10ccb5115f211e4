"""What agents' calls cost, by phase, by role and by model. What nobody told is unknown and never nothing."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from autopilot.domain.agent_call import REVIEWERS
from autopilot.domain.events import AgentAnswered
from autopilot.domain.settings import Settings, known_model
from autopilot.domain.value import Value
from autopilot.history.digest import CallDigest, Spent, spent_by
from autopilot.views.report.phase_rows import of_run
from autopilot.views.report.source import Told

UNKNOWN = "unknown"
_Groups = dict[str, list[AgentAnswered]]


class Share(Value, frozen=True, kw_only=True):
    """What fell to one phase, task, role or model. `seconds` is how long its calls took."""

    name: str
    spent: Spent
    seconds: float
    estimated: int | None = None


class Spending(Value, frozen=True, kw_only=True):
    whole: Share
    phases: tuple[Share, ...]
    tasks: tuple[Share, ...]
    roles: tuple[Share, ...]
    models: tuple[Share, ...]


def spending_of(told: Told) -> Spending:
    phases, tasks, roles, models = _Groups(), _Groups(), _Groups(), _Groups()
    estimates: dict[str, int] = {}
    settings = told.run.start.settings
    for record in told.records:
        made = [entry.event for entry in record.entries if isinstance(entry.event, AgentAnswered)]
        name = of_run(record.phase.id)
        if made:
            phases.setdefault(name, []).extend(made)
        if record.brief.estimated_tokens:
            estimates.setdefault(name, record.brief.estimated_tokens)
        for answer in made:
            roles.setdefault(answer.role, []).append(answer)
            models.setdefault(_who(answer, settings), []).append(answer)
            if answer.task:
                tasks.setdefault(f"{name} {answer.task}", []).append(answer)
    whole = _share("whole run", [answer for made in phases.values() for answer in made])
    shares = (replace(share, estimated=estimates.get(share.name)) for share in _shares(phases))
    return Spending(
        whole=replace(whole, estimated=sum(estimates.values()) or None),
        phases=tuple(shares),
        tasks=_shares(tasks),
        roles=_shares(roles),
        models=_shares(models),
    )


def _who(answer: AgentAnswered, settings: Settings) -> str:
    """The program and its model, as it told; as it was asked for where it did not."""
    usual = settings.reviewer or settings.agent if answer.role in REVIEWERS else settings.agent
    agent = answer.backend or usual
    return f"{agent_name(agent)}, model {answer.model or known_model(agent, settings.model) or UNKNOWN}"


def agent_name(agent: str) -> str:
    """The program without its folder and arguments, which may be long and are nobody's model."""
    kind, _, rest = agent.partition(":")
    return f"{kind}:{(rest.split() or [''])[0].rpartition('/')[2]}" if rest else kind


def _shares(groups: Mapping[str, Sequence[AgentAnswered]]) -> tuple[Share, ...]:
    """In the order of the first call of each."""
    return tuple(_share(name, group) for name, group in groups.items())


def _share(name: str, made: Sequence[AgentAnswered]) -> Share:
    calls = [CallDigest(role=answer.role, usage=answer.usage) for answer in made]
    return Share(name=name, spent=spent_by(calls), seconds=sum(answer.seconds for answer in made))


def tokens_told(share: Spent) -> str:
    return _told(None if share.tokens is None else f"{share.tokens:,}", share.untold_tokens)


def dollars_told(share: Spent) -> str:
    by_list = f" ({share.by_list} calls by list price)" if share.by_list else ""
    return _told(None if share.usd is None else f"${share.usd:,.2f}{by_list}", share.untold_usd)


def _told(known: str | None, untold: int) -> str:
    if known is None:
        return UNKNOWN
    return f"{known}, and {untold} calls {UNKNOWN}" if untold else known
