"""A phase a debugger has worked on is asked as a whole what its criteria prove."""

from collections.abc import Mapping, Sequence

import pytest

from autopilot.domain.evidence import Change, CommandRun
from autopilot.domain.phase import Criterion
from autopilot.domain.results import Debugged, Verified
from autopilot.domain.verdict import Advance
from autopilot.ports.agents import Part, Variant
from autopilot.steps.checks.probes import hollow_tasks
from support.records import DONE, TREE, Story, change, ran, work
from support.tools import SaidFacts, tools


class Bare(SaidFacts):
    """A phase whose only source is the file the task names; on the tree without it the commands hold as told."""

    def variant(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        return Variant(commit="bare", paths=("letter.txt",))

    def check(self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        assert commit == "bare"
        return super().check(commit, criteria, files)


@pytest.mark.parametrize(
    ("debugged", "holding", "hollow"),
    [(True, {DONE}, ["task 01-01"]), (True, set(), []), (False, {DONE}, [])],
    ids=["holds without the sources", "notices", "nobody debugged"],
)
def test_a_task_that_holds_without_the_sources_is_hollow(debugged: bool, holding: set[str], hollow: list[str]) -> None:
    told = Story().planned().executed()
    if debugged:
        told.step("debug", Debugged(work=work("1-debug")), Advance(to="verify"))
    seen = Verified(commit="c1", tree=TREE, checks=(ran(),))

    found = hollow_tasks(told.record, tools(facts=Bare(frozenset(holding))), change("base", "c1"), seen)

    assert [f.where for f in found] == hollow
    assert {f.severity for f in found} <= {"blocker"}
