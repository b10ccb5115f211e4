"""How a batch is shared out among its tasks (PVRF-01h)."""

import msgspec
import pytest

from autopilot.domain.answers import TaskEvidence, WorkClaim
from autopilot.domain.evidence import Change, FileChange
from autopilot.domain.phase import Task
from autopilot.domain.results import Batch, Executed
from autopilot.policy.task_progress import batch_of, batched, claim_for, share
from support.records import Story, plan, task, work

TASKS = tuple(msgspec.structs.replace(task(f"01-0{n}"), files=(f"{n}.txt", "shared.txt")) for n in range(1, 10))
WHOLE = Change(
    base="base",
    commit="w",
    tree="t",
    files=tuple(FileChange(path=p, status="A") for p in ("1.txt", "5.txt", "9.txt", "nobody.txt", "shared.txt")),
)


def told(tasks: tuple[Task, ...] = TASKS) -> Story:
    return Story().planned(plan(*tasks))


def test_pvrf_01h_only_more_than_eight_tasks_are_a_batch() -> None:
    person = msgspec.structs.replace(TASKS[8], type="checkpoint:human-verify")

    assert batched(told().record)
    assert not batched(told(TASKS[:8]).record)
    assert not batched(told((*TASKS[:8], person)).record)


def test_a_file_of_several_tasks_or_of_none_goes_to_the_last() -> None:
    record = told().record
    shares = {t.id: share(record, t, WHOLE) for t in TASKS}

    assert shares["01-01"] == ("1.txt",)
    assert shares["01-02"] == ()
    assert shares["01-09"] == ("9.txt", "nobody.txt", "shared.txt")


@pytest.mark.parametrize(
    ("said", "blamed"),
    [("0/9", ["01-09"]), ("2/9", ["01-09"]), ("01-03, 01-04", ["01-03", "01-04"])],
    ids=["none", "a number", "by name"],
)
def test_an_admission_stays_with_the_tasks_it_names(said: str, blamed: list[str]) -> None:
    claim = WorkClaim(tasks_failed=said, evidence=(TaskEvidence(task_id="01-03"),))
    claims = {t.id: claim_for(told().record, t, claim) for t in TASKS}

    assert [name for name, own in claims.items() if own.tasks_failed] == blamed
    assert [name for name, own in claims.items() if own.evidence] == ["01-03"]


def test_the_batch_is_known_once_its_first_task_is_done() -> None:
    story = told()
    assert batch_of(story.record) is None

    story.step("execute", Executed(work=work(), batch=Batch(change=WHOLE)), commit="c1")
    assert batch_of(story.record) == Batch(change=WHOLE)
