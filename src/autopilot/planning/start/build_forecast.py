"""What a run would do, phase by phase, and what it may cost: computed from what is known before it starts."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Literal

from autopilot.domain.attempt import Brief
from autopilot.domain.errors import AutopilotError
from autopilot.domain.events import RunStarted
from autopilot.domain.forecast import CommandSource, Dollars, Forecast, Habits, LeftOut, PhaseForecast, ProjectFacts
from autopilot.domain.phase import NEVER_RUN, Phase, PlanOnDisk, task_types
from autopilot.domain.rework import Mode, first_mode
from autopilot.domain.settings import Limits, known_model
from autopilot.domain.value import Value
from autopilot.history.record import PhaseRecord
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config.read_config import COMMANDS
from autopilot.planning.start import estimate, sufficiency
from autopilot.planning.start.read_project import Project
from autopilot.policy.budget import cap_warning, estimated_tokens, session_warning, usd_warning

BEFORE = ("preflight", "triage")
STEPS = ("research", "plan", "plan_check", "execute", "mini_verify", "verify", "judge", "judge_divergence", "rate")
LETTERS_A_TOKEN = 4
RESEARCH = "RESEARCH.md"
# QUAL-00: from here on finished work is refined.
REFINED = 9.5

Prompts = Callable[[PhaseRecord], dict[str, str]]
"""The prompts that can be written from a record without results, by step."""


class Surroundings(Value, frozen=True, kw_only=True):
    """
    What was found around the project: prices, sandbox, an open run, reasons not to start.

    `broken` says by its name why a command does not run here, `last` how it ended the last time. `consent` is what a
    run would ask first, `reach` who reaches which hosts.
    """

    per_million: float | None = None
    price_note: str = ""
    habits: Habits = Habits()
    sandbox: str = ""
    broken: Mapping[str, str] = {}
    last: Mapping[str, str] = {}
    resumes: str | None = None
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()
    reach: tuple[str, ...] = ()


def forecast(project: Project, first: RunStarted, prompts: Prompts, around: Surroundings) -> Forecast:
    """`first` is the event the run would begin with; nothing is asked, run or written."""
    by_id = {phase.id: phase for phase in first.phases}
    phases = tuple(_phase(by_id[name], project, first, prompts, around) for name in first.targets)
    tokens = estimate.total([phase.tokens for phase in phases])
    low = {phase.id: phase.confidence for phase in phases}
    return Forecast(
        phases=phases,
        left_out=tuple(_left_out(first, project)),
        tokens=tokens,
        usd=estimate.priced(tokens, around.per_million),
        price_note=around.price_note,
        token_note=estimate.token_note(around.habits),
        project=project_facts(project, around.broken, around.last),
        agent=first.settings.agent,
        reviewer=first.settings.reviewer,
        model=known_model(first.settings.agent, first.settings.model),
        sandbox=around.sandbox,
        resumes=around.resumes,
        context_warning=sufficiency.low_summary(low),
        notes=around.notes,
        problems=around.problems,
        consent=around.consent,
        reach=around.reach,
        other_plans=project.other_plans,
    )


def beforehand(project: Project, first: RunStarted) -> Iterator[str]:
    """CTX-05: what a run that refines or redoes says once, before its first phase; it holds nothing back."""
    by_id = {phase.id: phase for phase in first.phases}
    again = first.settings.modes.force is not None or first.settings.pass_threshold >= REFINED
    chosen = [by_id[name] for name in first.targets] if again else []
    expected = {phase.id: estimated_tokens(phase, project.plans.get(phase.id)) for phase in chosen}
    return filter(None, (session_warning(expected),))


def _context(phase: Phase, project: Project, first: RunStarted) -> sufficiency.Context:
    return sufficiency.Context(
        phase=phase,
        requirements=first.requirements.get(phase.id, ()),
        about=project.about,
        dependencies=dependencies(phase, first),
    )


def project_facts(
    project: Project, broken: Mapping[str, str] = MappingProxyType({}), last: Mapping[str, str] = MappingProxyType({})
) -> ProjectFacts:
    sources = detect.sources(project.config, project.detected)
    return ProjectFacts(
        type=project.detected.type,
        manifest=project.detected.manifest,
        commands={
            name: CommandSource(
                command=getattr(project.commands, name),
                source=sources[name],
                broken=broken.get(name, ""),
                last=last.get(name, ""),
            )
            for name in COMMANDS
        },
    )


def _phase(phase: Phase, project: Project, first: RunStarted, prompts: Prompts, around: Surroundings) -> PhaseForecast:
    mode = first_mode(first.settings.modes, first.before.get(phase.id))
    plan = project.plans.get(phase.id) if mode != "force" else None
    record = PhaseRecord(start=first, brief=_brief(phase, project, first))
    brought = research_of(project, phase) if mode != "force" else ""
    route, skipped = _route(mode, planned=plan is not None, brought=brought, research=first.settings.research)
    texts = {step: text for step, text in prompts(record).items() if step in route}
    context = _context(phase, project, first)
    usual = mode in {"initial", "force"}
    plain = estimate.estimate(phase, plan, first.settings) if usual else estimate.of_mending(first.settings)
    tokens = estimate.scaled(plain, estimate.scale(around.habits))
    usd = estimate.priced(tokens, around.per_million)
    runnable = sum(criterion.command is not None for criterion in phase.criteria)
    return PhaseForecast(
        id=phase.id,
        name=phase.name,
        type=phase.type,
        plan=plan is not None,
        route=route,
        skipped=skipped,
        runnable=runnable,
        unanchored=not runnable,
        waits_for=record.brief.unmet,
        sufficiency=sufficiency.sufficiency(context),
        confidence=sufficiency.quick(context),
        prompts={step: _tokens_of(text) for step, text in texts.items()},
        tasks=estimate.task_counts(plan),
        task_types=task_types(plan),
        tokens=tokens,
        usd=usd,
        warning=_warning(phase.id, plain.expected, usd, first.settings.limits),
        plan_files=_plan_files(project, phase),
    )


def _warning(phase: str, tokens: int, usd: Dollars | None, limits: Limits) -> str:
    """MTRC-02c: of the cap in tokens, where the user set one; of the cap in dollars, where the price is known."""
    said = cap_warning(phase, tokens, limits.tokens_per_phase) if limits.tokens_per_phase is not None else ""
    return said or (usd_warning(phase, usd.expected, limits.usd_per_phase) if usd else "")


def _brief(phase: Phase, project: Project, first: RunStarted) -> Brief:
    return Brief(
        phase=phase,
        dir=first.folders.get(phase.id, f".planning/phases/{phase.id}"),
        base=first.base,
        position=first.targets.index(phase.id) + 1,
        total=len(first.targets),
        plan=project.plans.get(phase.id),
        research=research_of(project, phase),
        skip_research=not first.settings.research,
        pass_threshold=first.settings.pass_threshold,
        requirements=first.requirements.get(phase.id, ()),
        unmet=_unmet(phase, first),
    )


def research_of(project: Project, phase: Phase) -> str:
    """The research the user brought, as `03-RESEARCH.md`; our own is made again."""
    found = project.phase_files.get(phase.id)
    return found.research if found and found.research != RESEARCH else ""


def _route(mode: Mode, *, planned: bool, brought: str, research: bool) -> tuple[tuple[str, ...], str]:
    if mode in {"quality", "gaps"}:
        return (*BEFORE, *STEPS[3:]), f"research, plan and plan-check, since --{mode} mends what is there"
    if planned:
        return (*BEFORE, *STEPS[2:]), "research and plan, since there is a plan"
    if not research:
        return (*BEFORE, *STEPS[1:]), "research, which the config switches off"
    if brought:
        return (*BEFORE, *STEPS[1:]), f"research, since there is {brought}"
    return (*BEFORE, *STEPS), ""


def _unmet(phase: Phase, first: RunStarted) -> tuple[str, ...]:
    """AMB-27: dependencies neither done before this run nor to be done in it."""
    known = {p.id for p in first.phases}
    done = {*first.completed, *first.satisfied, *first.targets}
    return tuple(need for need in phase.depends_on if need in known and need not in done)


def dependencies(phase: Phase, first: RunStarted) -> Literal["met", "pending", "missing"]:
    known = {p.id for p in first.phases}
    if any(need not in known for need in phase.depends_on):
        return "missing"
    return "met" if set(phase.depends_on) <= {*first.completed, *first.satisfied} else "pending"


def _plan_files(project: Project, phase: Phase) -> tuple[PlanOnDisk, ...]:
    found = project.phase_files.get(phase.id)
    return found.plans if found else ()


def _left_out(first: RunStarted, project: Project) -> list[LeftOut]:
    completed, targets = set(first.completed), set(first.targets)
    return [
        LeftOut(
            id=phase.id,
            name=phase.name,
            why=_why_left_out(phase, completed),
            plan_files=_plan_files(project, phase),
        )
        for phase in first.phases
        if phase.id not in targets
    ]


def _why_left_out(phase: Phase, completed: AbstractSet[str]) -> str:
    if phase.id in completed:
        return "already completed"
    if phase.status in NEVER_RUN:
        return f"{phase.status} in the roadmap" + (f" by phase {phase.successor}" if phase.successor else "")
    waits = [need for need in phase.depends_on if need not in completed]
    return f"not asked for; waits for phase {', '.join(waits)}" if waits else "not asked for"


def _tokens_of(text: str) -> int:
    return -(-len(text) // LETTERS_A_TOKEN)


def troubles(*attempts: Callable[[], object]) -> tuple[str, ...]:
    """What each attempt that fails has to say."""
    told = []
    for attempt in attempts:
        try:
            attempt()
        except AutopilotError as error:
            told.append(f"{error.what} ({error.do})")
    return tuple(told)
