"""Criteria that hold before any work are found once each, within the time there is."""

import pytest

from autopilot.evidence.held_already import BUDGET_S, held_already
from support.records import BASE, criterion, phase
from support.tools import SaidFacts


def test_each_command_is_run_once_and_what_proves_nothing_is_told() -> None:
    facts = SaidFacts(frozenset({"holds"}))
    phases = (
        phase("1", criteria=(criterion("SC-1", "holds"), criterion("SC-2", "fails"), criterion("SC-3", None))),
        phase("2", criteria=(criterion("SC-1", "holds"),)),
        phase("3", criteria=(criterion("SC-1", "holds"),), kind="refactor"),
    )

    found = list(held_already(facts, BASE, phases))

    assert [(one.phase.id, one.alone) for one in found] == [("1", False), ("2", True)]
    assert found[1].lines == ("Phase 2, SC-1: this criterion holds already and proves nothing new: `holds`",)
    assert [asked[1] for asked in facts.asked] == [("holds",), ("fails",)]


@pytest.mark.parametrize(("step", "count"), [(0.0, 1), (BUDGET_S + 1, 0)], ids=["in time", "too late"])
def test_nobody_waits_longer_than_the_budget(step: float, count: int) -> None:
    moments = iter([0.0, step, step, step])

    found = held_already(
        SaidFacts(frozenset({"holds"})),
        BASE,
        (phase("1", criteria=(criterion("SC-1", "holds"),)),),
        lambda: next(moments),
    )

    assert len(list(found)) == count
