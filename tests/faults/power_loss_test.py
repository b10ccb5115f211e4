"""The power fails at any instant: whatever that leaves on the disk, nothing acknowledged is lost and the run ends well."""

import os
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import AutopilotError, UsageInvalid
from autopilot.domain.request import RunRequest
from autopilot.journal import head
from autopilot.journal.chain import Tip
from autopilot.journal.clock import SystemClock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from support import power
from support.fault_layer import FaultLayer, layer_or_skip
from support.faults import full, record, seed
from support.power import CHOICES, Cut, Operation, Recording
from support.runs import playground
from support.stores import EVERY, STORES
from support.striking import told_in_child
from support.struck_runs import StruckProject

# The whole run again from each of these states; and the look at the journal alone, from those.
RESUMED, LOOKED_AT = (1_000, 1_000) if full() else (5, 80)
# A checkout that git itself writes at an agent's behest, and throws away; the map, which can be made anew at any time.
UNHEARD = re.compile(r"trees/0/\.git/index$|-shm$|/place/cache(/[^/]+)?$|/repo-map\.")


@dataclass(frozen=True, slots=True)
class Told:
    """A run that went well, everything it did to the disk, and when it acknowledged which entry."""

    project: StruckProject
    recording: Recording
    acknowledged: tuple[tuple[int, Tip], ...]

    def promised(self, cut: Cut) -> list[Tip]:
        return [tip for at, tip in self.acknowledged if at <= cut.at]


def entries_of(done: list[Operation]) -> Iterator[tuple[int, Tip]]:
    """HEAD is waited for behind the entry it names, and only then does anybody hear of the entry."""
    written: Tip | None = None
    for at, one in enumerate(done, start=1):
        if one.path.endswith("journal.head") and one.kind == "W":
            slot = head._parsed(one.data[: head._LINE_BYTES], 0)
            written = slot.tip if slot else None
        if one.path.endswith("journal.head") and one.kind == "D" and written and written.seq:
            yield at, written


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> FaultLayer:
    return layer_or_skip(tmp_path_factory.mktemp("layer"))


@pytest.fixture(scope="module")
def told(layer: FaultLayer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """The run is of an earlier boot of the machine than those that come after the cut."""
    aside = tmp_path_factory.mktemp("aside")
    (aside / "boot").write_text("an earlier boot\n", encoding="ascii")
    with playground() as folder:
        project = StruckProject.made(folder / "place")
        recording, log = power.snapshot(project.place), aside / "log"
        layer.arm(project.place)
        path = f"{layer.git_below(aside / 'bin', log)}{os.pathsep}{os.environ['PATH']}"
        env = {**layer.env, "FAULT_LOG": str(log), "FAULT_BOOT": str(aside / "boot"), "PATH": path}
        assert project.run(env=env).code == 0
        layer.disarm()
        done = list(power.operations(log))
        recording.heard(done)
        os.environ["AUTOPILOT_CACHE"] = str(project.place / "cache")
        yield Told(project, recording, tuple(entries_of(done)))


def cuts(told: Told, most: int) -> Iterator[Cut]:
    chance = random.Random(seed())
    for number in range(most):
        yield Cut(chance.randint(1, told.recording.length), CHOICES[number % len(CHOICES)], number)


def lost(told: Told, cut: Cut) -> str:
    """Which acknowledged entry the journal no longer has; an error in words when it does not open."""
    promised = told.promised(cut)
    if not promised:
        return ""
    try:
        with SqliteJournal(told.project.root / ".autopilot" / "journal.db", SystemClock()) as journal:
            there = dict(journal._db.execute("select seq, hash from entries").fetchall())
        StateFile(told.project.root / ".autopilot").read()
    except AutopilotError as error:
        return f"{error.what} {error.why}"
    return " ".join(str(tip.seq) for tip in promised if there.get(tip.seq) != tip.hash)


def gone_on(project: StruckProject) -> int:
    """`autopilot resume`, or the same command again when the run had not even begun."""
    try:
        return app.resume(str(project.root), lambda *_: None, lambda _: None).exit
    except UsageInvalid:
        request = RunRequest(
            folder=str(project.root), phases="all", agent=f"scripted:{project.root}.toml", sandbox="none"
        )
        return app.start(request, lambda *_: None, lambda _: None).exit


def after(told: Told, cut: Cut) -> str:
    try:
        code = gone_on(told.project)
        return f"exit {code}" if code else "; ".join(told.project.troubles())
    except (AutopilotError, AssertionError) as error:
        return f"{error} {getattr(error, 'why', '')}"


def broken_by_cuts(layer: FaultLayer, name: str, aside: Path, most: int) -> tuple[int, dict[Cut, str]]:
    """How many states there were, and those from which something acknowledged is gone or nothing can be read."""
    folder, log = aside / "place" / "home", aside / "log"
    folder.parent.mkdir()
    recording = power.snapshot(folder.parent)
    acknowledged = told_in_child(layer, "work", folder, name, log=log)
    done = list(power.operations(log))
    recording.heard(done)
    every = [Cut(at, choice, number) for at in range(1, len(done) + 1) for number, choice in enumerate(CHOICES)]
    chosen = every if full() or most >= len(every) else random.Random(seed()).sample(every, most)
    broken = {}
    for cut in chosen:
        power.lay_out(recording, cut)
        promised = {what for end, what in acknowledged if end <= done[cut.at - 1].end}
        try:
            missing = promised - set(EVERY[name].held(folder))
        except AutopilotError as error:
            missing = {error.what} if promised else set()
        if missing:
            broken[cut] = str(sorted(missing))
    return len(chosen), broken


# Of the others nothing is asked after a power cut: who was alive then, and what can be had again.
LASTING = [name for name in STORES if name not in {"lock", "registry", "transcripts"}]


@pytest.mark.parametrize("name", LASTING)
def test_what_a_store_acknowledged_is_there_after_every_cut(layer: FaultLayer, tmp_path: Path, name: str) -> None:
    states, broken = broken_by_cuts(layer, name, tmp_path, 50)

    record(f"power loss: {name}", states=states, violations=len(broken))
    assert broken == {}


def test_a_store_that_does_not_wait_for_the_disk_is_found_out(layer: FaultLayer, tmp_path: Path) -> None:
    states, broken = broken_by_cuts(layer, "naive", tmp_path, 50)

    assert len(broken) > states // 10


def broken_in(told: Told, most: int, wrong: Callable[[Told, Cut], str], only: str = "") -> dict[Cut, str]:
    broken = {}
    for cut in cuts(told, most):
        power.lay_out(told.recording, cut, only)
        if found := wrong(told, cut):
            broken[cut] = found
    return broken


@pytest.mark.timeout(600)
def test_nothing_acknowledged_is_lost_and_the_run_goes_on_to_its_end_after_any_cut(told: Told) -> None:
    assert len(told.acknowledged) > 20
    unfaithful = power.difference(told.recording, UNHEARD)
    looked = broken_in(told, LOOKED_AT, lost, only=".autopilot/")
    resumed = broken_in(told, RESUMED, lambda told, cut: lost(told, cut) or after(told, cut))

    record("power loss: journal of a run", states=LOOKED_AT, violations=len(looked))
    record("power loss: run", states=RESUMED, violations=len(resumed))
    assert (unfaithful, looked, resumed) == ([], {}, {})
