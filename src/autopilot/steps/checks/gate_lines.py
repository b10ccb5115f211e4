"""The project's gates on one task's work, in words: for its log and for whoever has to mend it."""

from collections.abc import Collection

from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.settings import Commands
from autopilot.policy.facts.commands import gate_missing
from autopilot.policy.facts.test_counts import counts_in
from autopilot.policy.task_progress import new_failures

ALWAYS_TOLD = ("compile", "lint", "test")


def gate_lines(work: Work, commands: Commands, unused: Collection[str]) -> str:
    """One line a gate. EXEC-C0: one without a command is told as skipped; that is no error."""
    runs = {run.check: run for run in work.gates_after}
    configured = {name for name, _ in commands.configured()}
    lines = []
    for name in dict.fromkeys((*ALWAYS_TOLD, *runs)):
        if name in runs:
            lines.append(f"  - **{name.title()}:** {_told(runs[name])}")
        elif name not in configured:
            lines.append(f"  - **{name.title()}:** SKIPPED ({gate_missing(name, unused)})")
        else:
            lines.append(f"  - **{name.title()}:** not run")
    return "\n".join(lines)


def gate_words(work: Work) -> str:
    """`compile pass, lint fail, test skipped`. A failure that was there before the task is told as old."""
    runs = {run.check: run for run in work.gates_after}
    new = {run.check for run in new_failures(work.gates_before, work.gates_after)}
    words = []
    for name in dict.fromkeys((*ALWAYS_TOLD, *runs)):
        if name not in runs:
            words.append(f"{name} skipped")
        elif runs[name].passed:
            words.append(f"{name} pass")
        else:
            words.append(f"{name} fail" if name in new else f"{name} fail (as before the task)")
    return ", ".join(words)


def baseline_words(work: Work, unused: Collection[str]) -> str:
    """EXEC-06: how the gates stood before anything was done."""
    runs = {run.check: run for run in work.gates_before}
    words = {name: "does not run here" if name in unused else "not configured" for name in ALWAYS_TOLD}
    words |= {name: "PASS" if run.passed else "FAIL" for name, run in runs.items()}
    return ", ".join(f"{name} {word}" for name, word in words.items())


def _told(run: CommandRun) -> str:
    counts = str(run.tests or counts_in(run.output)) if run.check == "test" else ""
    return f"{'PASS' if run.passed else 'FAIL'} -- `{run.command}` ({run.code}{f', {counts}' if counts else ''})"
