"""Twelve phases over three runs, each of them killed and resumed: what is told in the end is what was worked out."""

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.domain.events import AgentAnswered, StepFinished
from autopilot.journal.sqlite import SqliteJournal
from support import road
from support.repos import git, write
from support.runs import Drive, driven, playground

GOLDEN = Path(__file__).parents[1] / "data" / "long_road"
DYING = Path(__file__).parents[1] / "support" / "dying_run.py"
pytestmark = pytest.mark.slow


def killed(drive: Drive, behind: str, *words: str) -> None:
    """The command in a process of its own, dead behind that step."""
    asked = [*words, "--agent", f"scripted:{drive.script}", "--sandbox", "none"]
    run = subprocess.run(
        [sys.executable, str(DYING), str(drive.root), behind, *asked], capture_output=True, check=False
    )
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()


@pytest.fixture(scope="module")
def walked() -> Iterator[Drive]:
    with playground() as place:
        drive = driven(place, road.first_run(), *road.PHASES)
        write(drive.root, {".planning/config.json": json.dumps(road.CONFIG)})
        git(drive.root, "add", "-A")
        git(drive.root, "commit", "-qm", "limits")
        killed(drive, "3b execute", "--complete", "--sequential")
        assert drive.resume().reason == "failed or blocked: 7, 8, 9, 10"
        assert drive.verdict("5", "pass").landed == ("5", "6", "11", "12")
        assert drive.resume().reason == "failed or blocked: 9, 10"
        drive.rewrite(road.force_run())
        killed(drive, "6 debug", "--force", "6")
        assert drive.resume().exit == 0
        drive.rewrite(road.gaps_run())
        killed(drive, "4 end", "--gaps", "4")
        assert drive.resume().exit == 0
        yield drive


def runs(drive: Drive) -> list[str]:
    streams = SqliteJournal.read_only(drive.root / ".autopilot" / "journal.db").streams()
    return [stream for stream in streams if "/" not in stream]


def normalised(drive: Drive, path: str) -> str:
    """The file with runs by their number, and without moments, durations and hashes."""
    text = drive.reads(f".autopilot/{path}")
    for name, number in sorted(((run, n) for n, run in enumerate(runs(drive), 1)), key=lambda p: -len(p[0])):
        text = text.replace(name, f"run-{number}").replace(name.removeprefix("run-"), str(number))
    for pattern, word in (
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>"),
        (r"\d{4}-\d\d-\d\d", "<date>"),
        (r"\b[0-9a-f]{8}\b", "<hash>"),
        (r"\b\d+(\.\d+)?m\b", "<minutes>"),
        (r'(?<=duration_minutes": )\d+(\.\d+)?', '"<minutes>"'),
    ):
        text = re.sub(pattern, word, text)
    return text


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_report_of_each_run_says_what_became_of_its_phases(walked: Drive, number: int) -> None:
    """RPT-01, MTRC-03a, MTRC-03b, MTRC-03c."""
    name = runs(walked)[number - 1].removeprefix("run-")

    told = normalised(walked, f"completion-{name}.md")

    assert told == (GOLDEN / f"completion-run-{number}.md").read_text(encoding="utf-8")


def test_the_report_of_the_batch_says_how_far_the_roadmap_is(walked: Drive) -> None:
    """CMPL-04b, CMPL-04c, CMPL-04d, CMPL-04e, CMPL-04f."""
    told = normalised(walked, "completion-report.md")

    assert told == (GOLDEN / "completion-report.md").read_text(encoding="utf-8")


def test_the_numbers_of_all_runs_are_kept(walked: Drive) -> None:
    """MTRC-01a, MTRC-01b."""
    told = json.loads(normalised(walked, "archive/metrics.json"))

    assert told == json.loads((GOLDEN / "metrics.json").read_text(encoding="utf-8"))


def test_no_step_was_done_twice_and_no_call_was_paid_twice(walked: Drive) -> None:
    journal = SqliteJournal.read_only(walked.root / ".autopilot" / "journal.db")
    entries = [(stream, entry.event) for stream in journal.streams() for entry in journal.load(stream)]

    done = Counter((stream, e.step, e.n) for stream, e in entries if isinstance(e, StepFinished))
    asked = Counter((stream, e.call) for stream, e in entries if isinstance(e, AgentAnswered))

    assert max(done.values()) == max(asked.values()) == 1


def test_what_the_users_branch_has_in_the_end_is_the_best_of_it_all(walked: Drive) -> None:
    held = {n: walked.reads(f"letter{n}.txt") for n in range(1, 13) if (walked.root / f"letter{n}.txt").exists()}

    own = {2: "done, mended 1\n", 4: "done, gap 2\n", 6: "done, anew, dear\n"}
    assert held == {n: own.get(n, "done\n") for n in range(1, 13) if n not in {9, 10}}
    assert git(walked.root, "fsck", "--no-dangling") == ""
