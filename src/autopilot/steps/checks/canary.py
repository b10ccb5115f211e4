"""Does the test command notice a failing test at all? Asked once a phase, with a test of our own that must fail."""

from autopilot.domain.evidence import Change, CommandRun, Finding, Severity
from autopilot.domain.value import Value
from autopilot.ports.agents import Tools
from autopilot.steps.checks.gate_facts import GateFacts


class Sung(Value, frozen=True, kw_only=True):
    findings: tuple[Finding, ...] = ()
    runs: tuple[CommandRun, ...] = ()


def canary(tools: Tools, change: Change, gates: GateFacts) -> Sung:
    """
    Only a green command can be put to the test.

    One that stays green though it went red before the work blocks; one that never did is the user's own, and told.
    """
    green = next((run for run in gates.after if run.check == "test" and run.passed), None)
    if green is None:
        return Sung()
    seen = tools.facts.canary(change.commit, green.command)
    if seen is None:
        return Sung(findings=(_finding(green, "canary: not possible, no form of test is known for it", "info"),))
    if seen.run.passed:
        return Sung(runs=(seen.run,))
    was_green = any(run.check == "test" and run.passed for run in gates.before)
    first = tools.facts.canary(change.base, green.command) if was_green else None
    runs = (seen.run, *((first.run,) if first else ()))
    if first.run.passed if first else seen.direct:
        what = f"stays green beside a test that must fail ({seen.run.what})"
        return Sung(findings=(_finding(green, what, "blocker"),), runs=runs)
    what = "does not notice a failing test, and did not before the work either: look at the command itself"
    return Sung(findings=(_finding(green, what, "warning"),), runs=runs)


def _finding(run: CommandRun, what: str, severity: Severity) -> Finding:
    return Finding(rule="canary", where=run.command, what=what, severity=severity)
