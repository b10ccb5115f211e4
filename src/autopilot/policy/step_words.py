"""The words for how a step ended (RET-05): the same in a phase's return, in state.json and in every view."""

from autopilot.domain.events import StepFinished
from autopilot.domain.results import Planned, Researched, Triaged, Unanswered
from autopilot.domain.verdict import Advance, AskHuman
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import failed_tasks


def step_word(record: PhaseRecord, heading: str, done: StepFinished) -> str:
    """Of the newest step below a heading (`plan_check`, `execute`, ...). One without a usable answer was not done."""
    match done.result:
        case Triaged(routing=routing):
            return routing
        case Unanswered() if heading in {"research", "plan"}:
            return "skipped"
        case _ if heading == "execute":
            return "partial" if failed_tasks(record) or isinstance(done.result, Unanswered) else "completed"
        case Researched():
            return "completed"
        case Planned(plan=plan):
            return "completed" if plan else "skipped"
        case _:
            return "pass" if isinstance(done.verdict, Advance | AskHuman) else "fail"
