"""The n-th change of a file fails: every store survives or says so, and nothing that it acknowledged is gone."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fault_layer import KINDS, FaultLayer, layer_or_skip
from support.faults import full, record, seed
from support.runs import playground
from support.striking import told_in_child
from support.struck_runs import StruckProject

# So many faults a store, 0 for every operation with every kind; and so many runs that are struck somewhere.
A_STORE, RUNS = (0, 300) if full() else (60, 3)


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> FaultLayer:
    return layer_or_skip(tmp_path_factory.mktemp("layer"))


@pytest.fixture
def place() -> Iterator[Path]:
    with playground() as folder:
        yield folder / "place"


def test_no_fault_of_the_disk_costs_what_a_store_acknowledged(layer: FaultLayer, place: Path) -> None:
    told = told_in_child(layer, "strike", place, str(A_STORE), str(seed()))

    record("n-th fault: stores", **told["counts"])
    assert told["violations"] == []
    assert told["counts"]["told"] > told["counts"]["survived"] > 0


def test_a_store_that_believes_every_write_is_found_out(layer: FaultLayer, place: Path) -> None:
    told = told_in_child(layer, "strike", place, "0", str(seed()), "naive")

    assert told["counts"]["violation"] > 10


def struck(layer: FaultLayer, place: Path, chance: random.Random) -> tuple[str, list[str]]:
    """A run struck somewhere, and taken up again where it stopped: what happened, and what is wrong with it."""
    project = StruckProject.made(place)
    fault = chance.choice(KINDS)
    path = f"{layer.git_below(place.parent / 'bin')}{os.pathsep}{os.environ['PATH']}"
    layer.arm(place, chance.randint(1, 2_800), fault)
    ended = project.run(env={**layer.env, "PATH": path})
    _, hits = layer.disarm()
    wrong = [ended.said] if ended.crashed or (ended.code and not ended.in_three_lines) else []
    if ended.code:
        again = project.go_on()
        wrong += [again.said] if again.code else []
    came = "unmet" if not hits else "told" if ended.code else "survived"
    return came, [*wrong, *project.troubles()]


@pytest.mark.timeout(600)
def test_a_run_that_the_disk_fails_stops_in_three_lines_and_goes_on_later(layer: FaultLayer) -> None:
    chance, came, wrong = random.Random(seed()), list[str](), dict[int, list[str]]()
    for number in range(RUNS):
        with playground() as folder:
            what, found = struck(layer, folder / "place", chance)
        came.append(what)
        wrong |= {number: found} if found else {}
    record("n-th fault: runs", **{what: came.count(what) for what in ("told", "survived", "unmet")})
    assert wrong == {}
