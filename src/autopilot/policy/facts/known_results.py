"""Finds the last result of each command in what was recorded, so that a look at the project need not run it. Pure."""

from collections.abc import Iterable, Iterator

from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Executed, Fixed, Verified

SHORT = 8


def last_runs(results: Iterable[object]) -> dict[str, CommandRun]:
    """By command; `results` are those of finished steps, oldest first."""
    return {run.command: run for result in results for run in _runs(result)}


def told(command: str, known: dict[str, CommandRun], tree: str) -> str:
    """In a few words, with the tree it was run on: another one may end otherwise."""
    run = known.get(command)
    if run is None:
        return "not tried"
    how = "passed" if run.passed else run.ended
    return f"{how} on {'this tree' if run.tree == tree else 'an earlier tree'} ({run.tree[:SHORT]})"


def _runs(result: object) -> Iterator[CommandRun]:
    match result:
        case Executed(work=work) | Fixed(work=work):
            yield from (*work.before, *work.gates_before, *work.after, *work.gates_after)
        case Verified(checks=checks, gates=gates):
            yield from (*checks, *gates)
