"""The frozen parts of a plan as files to lay over a checkout: whatever the workspace holds, these are what is run."""

from autopilot.domain.phase import Plan
from autopilot.history.record import PhaseRecord


def frozen_tests(record: PhaseRecord, plan: Plan | None) -> dict[str, str]:
    own = {f"{record.brief.dir}/{test.path}": test.text for test in plan.tests} if plan else {}
    return {path: text for path, text in record.shown.items() if "/tests/" in path} | own
