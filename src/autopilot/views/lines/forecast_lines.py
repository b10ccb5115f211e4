"""A forecast as lines for a terminal."""

from collections.abc import Iterator, Sequence

from autopilot.domain.forecast import Dollars, Forecast, PhaseForecast
from autopilot.domain.phase import PlanOnDisk
from autopilot.text.clean import clean

_NAME = 28
_MOST = 10


def lines(forecast: Forecast) -> list[str]:
    """Every line of `run --dry-run`. Whatever comes from the project is made fit for a line first."""
    return [
        "Dry run: nothing is started, written or spent.",
        *_start(forecast),
        *(line for phase in forecast.phases for line in _phase(phase)),
        *_left_out(forecast),
        *_estimates(forecast),
        *_surroundings(forecast),
        *_warnings(forecast),
    ]


def _start(forecast: Forecast) -> Iterator[str]:
    if forecast.resumes:
        yield f"The unfinished run {clean(forecast.resumes)} would go on."
    if not forecast.phases:
        yield "No phase would run."
        return
    names = ", ".join(phase.id for phase in forecast.phases)
    yield f"{_count(len(forecast.phases), 'phase')} would run, in this order: {names}"


def _phase(phase: PhaseForecast) -> Iterator[str]:
    found = phase.sufficiency
    factors = f"{found.criteria} criteria, {found.requirements} requirements, {found.docs} docs, {found.deps} deps"
    prompts = "".join(f"{step} {count:,} tokens; " for step, count in phase.prompts.items())
    yield ""
    yield f"Phase {phase.id}: {clean(phase.name)} ({phase.type})"
    yield f"  plan      {_plan(phase)}"
    if phase.plan_files:
        named = ", ".join(f"{clean(plan.file)}{_state(plan)}" for plan in phase.plan_files)
        yield f"  files     {plan_counts(phase.plan_files)}: {named}"
    yield f"  route     {f'without {phase.skipped}' if phase.skipped else 'every step'}"
    if phase.waits_for:
        yield f"  blocked   phase {', '.join(phase.waits_for)} is neither completed nor part of this run"
    yield f"  criteria  {f'{phase.runnable} runnable' if phase.runnable else 'unanchored: none has a command'}"
    yield f"  context   {phase.confidence.score}/10 ({phase.confidence.reason or factors})"
    yield f"  prompts   {prompts}the {'others depend' if prompts else 'prompts depend'} on the plan"


def _plan(phase: PhaseForecast) -> str:
    if not phase.plan:
        return "none yet"
    tasks = phase.tasks
    count = tasks.simple + tasks.medium + tasks.complex
    sizes = f"{tasks.simple} simple, {tasks.medium} medium, {tasks.complex} complex"
    return f"{_count(count, 'task')}: {sizes} ({phase.task_types})"


def _state(plan: PlanOnDisk) -> str:
    if plan.done:
        return " (done)"
    return "" if plan.tasks else " (no task that can be read)"


def plan_counts(plans: Sequence[PlanOnDisk]) -> str:
    return f"{_count(len(plans), 'plan')} on disk, {sum(plan.done for plan in plans)} done"


def _left_out(forecast: Forecast) -> Iterator[str]:
    if forecast.left_out:
        yield ""
        yield "Left out"
    for phase in forecast.left_out:
        plans = f"; {plan_counts(phase.plan_files)}" if phase.plan_files else ""
        yield f"  {phase.id:<6} {clean(phase.name, _NAME):<{_NAME}}  {phase.why}{plans}"
    if forecast.other_plans:
        yield ""
        yield f"{_count(len(forecast.other_plans), 'plan')} in folders of no phase in the roadmap, left alone:"
        yield from (f"  {clean(path)}" for path in forecast.other_plans[:_MOST])
        if len(forecast.other_plans) > _MOST:
            yield f"  and {len(forecast.other_plans) - _MOST} more"


def _estimates(forecast: Forecast) -> Iterator[str]:
    if not forecast.phases:
        return
    yield ""
    yield f"{'Estimate, in tokens':<22}{'low':>12}{'expected':>12}{'worst':>12}  USD"
    for phase in forecast.phases:
        tokens = phase.tokens
        yield _row(f"  phase {phase.id}", (tokens.low, tokens.expected, tokens.worst), phase.usd)
    total = forecast.tokens
    yield _row("  total", (total.low, total.expected, total.worst), forecast.usd)
    if forecast.token_note:
        yield f"  {clean(forecast.token_note, 200)}"
    yield f"  {clean(forecast.price_note, 200)}"


def _row(name: str, tokens: tuple[int, int, int], usd: Dollars | None) -> str:
    counts = "".join(f"{count:>12,}" for count in tokens)
    return f"{name:<22}{counts}  {dollars(usd)}"


def dollars(usd: Dollars | None) -> str:
    """Unknown is said in a word; it is never shown as nothing."""
    return "unknown" if usd is None else f"{usd.low:,.2f} / {usd.expected:,.2f} / {usd.worst:,.2f}"


def _surroundings(forecast: Forecast) -> Iterator[str]:
    project = forecast.project
    yield ""
    yield f"Project: {clean(project.type)} ({clean(project.manifest or 'no manifest')})"
    for name, command in project.commands.items():
        shown = clean(command.command, 90) if command.command else "none, its gate is skipped"
        broken = f" -- does not run here: {clean(command.broken, 200)}" if command.broken else ""
        last = f", {clean(command.last)}" if command.last else ""
        yield f"  {name:<8} {shown} ({command.source}{last}){broken}"
    reviewer = f", reviewer {clean(forecast.reviewer)}" if forecast.reviewer else ""
    yield f"Agent: {clean(forecast.agent)}{reviewer}, model {clean(forecast.model or 'its own')}"
    yield f"Sandbox: {clean(forecast.sandbox, 300)}"
    for number, line in enumerate(forecast.reach):
        yield f"{'' if number else 'Network:':<8} {clean(line, 300)}"
    if forecast.consent:
        yield ""
        yield "A run asks for your consent first."
        # The table has wrapped its lines and written out what a terminal would act upon.
        yield from forecast.consent


def _warnings(forecast: Forecast) -> Iterator[str]:
    told = [phase.warning for phase in forecast.phases if phase.warning]
    if forecast.context_warning:
        told.append(
            f"{forecast.context_warning} Say in the roadmap what they are for, which requirements they serve "
            "and by which commands they are verified."
        )
    told += forecast.notes
    yield from (f"warning: {clean(text, 500)}" for text in told)
    yield from (f"would not start: {clean(text, 500)}" for text in forecast.problems)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
