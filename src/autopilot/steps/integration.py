"""Run everything the run's phases promised on the finished tree, and ask a reviewer whether they hold together."""

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import IntegrationOpinion
from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Integrated
from autopilot.history.record import PhaseRecord
from autopilot.policy.audit_gaps import covers
from autopilot.policy.task_progress import new_failures
from autopilot.ports.agents import Tools
from autopilot.steps.checks.test_specs import frozen_tests
from autopilot.steps.prompt import bullets, render

COMMANDS_SHOWN = 30


def run(record: PhaseRecord, tools: Tools) -> Integrated:
    runnable = tuple(c for c in record.phase.criteria if c.command)
    checks = tools.facts.check(record.commit, runnable, frozen_tests(record, None))
    commands = record.start.settings.commands
    before, gates = tools.facts.gates(record.start.base, commands), tools.facts.gates(record.commit, commands)
    new = new_failures(before, gates)
    failing = tuple(r for r in (*checks, *new) if not r.passed)
    question = Question(role="integration", prompt=prompt(record, failing), answer=IntegrationOpinion)
    return Integrated(
        commit=record.commit,
        tree=tools.workspace.tree(record.commit),
        opinion=tools.agents.ask(question).value,
        checks=checks,
        gates=gates,
        old_failures=tuple(r.check for r in gates if not r.passed and r not in new),
    )


def prompt(record: PhaseRecord, failing: tuple[CommandRun, ...]) -> str:
    return render(
        "integration",
        phases=phase_lines(record),
        base=record.start.base,
        failing=bullets((f"`{r.command}` ({r.what})" for r in failing[:COMMANDS_SHOWN]), "- nothing"),
    )


def phase_lines(record: PhaseRecord) -> str:
    """The phases that are looked at, with the folder of their plan."""
    start = record.start
    targets = (phase for phase in start.phases if phase.id in covers(record))
    return bullets(
        (f"Phase {p.id}: {p.name}. {p.goal} Plan: `{start.folders.get(p.id, '.planning')}/PLAN.md`" for p in targets),
        "- none",
    )
