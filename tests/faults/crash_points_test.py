"""SIGKILL before, amid and after everything a run does to the world: resumed, it ends as if nothing had happened."""

import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from support.faults import full, record, seed
from support.victims import condemned, room, wrongs
from support.weather import SplitLetters

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is left is found through /proc"),
    pytest.mark.timeout(600),
]
SHARES = 8 if full() else 1
FEW = 5
NAMED = (
    "journal append",
    "journal head",
    "spawn of an agent",
    "command",
    "commit",
    "ref move",
    "state write",
    "landing",
)


@dataclass(frozen=True)
class Spared:
    """The run nobody kills: the points it passed, by their names, and the line it left."""

    points: tuple[str, ...]
    line: list[tuple[str, str]]


@pytest.fixture(scope="session")
def spared() -> Spared:
    with room() as place:
        letters = SplitLetters(place)
        assert condemned(letters, place).wait() == 0
        return Spared(tuple((place / "points").read_text(encoding="utf-8").splitlines()), letters.line())


def wanted(points: tuple[str, ...]) -> list[int]:
    """The numbers to die at: all of them, or a few of different kinds."""
    numbers = list(range(1, len(points) + 1))
    if full():
        return numbers
    random.Random(seed()).shuffle(numbers)
    first_of_each = {points[number - 1]: number for number in reversed(numbers)}
    return list(first_of_each.values())[-FEW:]


def died_at(number: int, spared: Spared) -> Iterator[str]:
    """Everything wrong with a run that died at that point and was resumed."""
    with room() as place:
        letters = SplitLetters(place)
        before = letters.mine()
        code = condemned(letters, place, last=number).wait()
        name = (place / "points").read_text(encoding="utf-8").splitlines()[-1]
        if code != -signal.SIGKILL or name != spared.points[number - 1]:
            yield f"point {number} ({name}): came to {code} instead of dying at {spared.points[number - 1]!r}"
            return
        again = condemned(letters, place).wait()
        found = [*([f"resumed, it ended with {again}"] if again else []), *wrongs(letters, place, spared.line, before)]
        yield from (f"point {number} ({name}): {what}" for what in found)


def test_a_run_passes_points_of_every_kind(spared: Spared) -> None:
    kinds = Counter(spared.points)

    assert [name for name in NAMED if not kinds[f"before {name}"]] == []
    assert [name for name in NAMED if name != "journal head" and not kinds[f"after {name}"]] == []


@pytest.mark.parametrize("share", range(SHARES))
def test_death_at_any_point_changes_nothing(spared: Spared, share: int) -> None:
    points = wanted(spared.points)[share::SHARES]

    wrong = [what for number in points for what in died_at(number, spared)]

    record("crash points", {"killed": len(points), "wrong": len(wrong)})
    assert wrong == []
