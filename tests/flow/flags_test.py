"""Every flag alone and every pair that may stand together, typed as a user types them, each in a run of its own."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from autopilot.cli.main import main
from autopilot.cli.parser import parse
from autopilot.cli.verbs.run import request_of
from autopilot.domain.attempt import Brief
from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.events import PhaseFinished, PhaseMerged, PhaseStarted, RunStarted, RunStopped, StepFinished
from autopilot.domain.request import RunEnd
from autopilot.domain.results import Verified
from autopilot.domain.settings import CLASHES
from autopilot.planning.config.visual_section import REQUIRED
from support.asking import SaidPerson, gray_areas, paper, questions
from support.project import plan_answer, rate_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, Stage, driven, playground
from support.site import FINE, free_port, needs_browser, server, serving_tier

FLAGS = {
    "--complete": "--complete",
    "--map": "--map",
    "--force": "--force",
    "--quality": "--quality",
    "--gaps": "--gaps",
    "--discuss": "--discuss",
    "--sequential": "--sequential",
    "--checkpoint-every": "--checkpoint-every 1",
    "--jobs": "--jobs 2",
    "--lenient": "--lenient",
    "--visual": "--visual",
}
ILLEGAL = {frozenset(clash.flags): clash for clash in CLASHES}
ALONE = [(flag,) for flag in FLAGS]
LEGAL = [*ALONE, *(pair for pair in combinations(FLAGS, 2) if frozenset(pair) not in ILLEGAL)]
# These work on phases that an earlier run completed, unless they are to complete what is outstanding.
AGAIN = {"--force", "--quality", "--gaps"}
REFINES = {"--quality", "--gaps"}
SAYS_WHICH = {*AGAIN, "--complete", "--discuss"}
SAID: dict[str, str | list[str]] = {
    "Which colour?": "blue", "How long?": "a page", "areas do you want": "1", "Dear or hello?": "a", "With a name?": "b",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of the command line: all it told, the ends of the run and of its resumptions, and whom it asked."""

    flags: frozenset[str]
    drive: Drive
    ends: list[RunEnd]
    person: SaidPerson

    @property
    def phases(self) -> list[str]:
        return list(self.drive.of(RunStarted)[0].targets)

    @property
    def briefs(self) -> list[Brief]:
        return [begun.brief for begun in self.drive.of(PhaseStarted)]

    @property
    def start(self) -> RunStarted:
        (start,) = self.drive.of(RunStarted)
        return start

    def asked_before(self) -> list[str]:
        """The events of people being asked, which the log has before the run's own beginning."""
        log = [line["event"] for line in self.drive.state()["event_log"]]
        return log[: log.index("run_started")]

    def letters(self) -> list[str]:
        return [self.drive.reads(f"letter{phase}.txt") for phase in self.phases]


def words(flags: tuple[str, ...]) -> list[str]:
    """The phases are named where no flag says which; a mapping by itself is left to itself."""
    named = not SAYS_WHICH.intersection(flags) and flags != ("--map",)
    return [*(["all"] if named else []), *(word for flag in flags for word in FLAGS[flag].split())]


def scores(flags: tuple[str, ...]) -> list[float]:
    """What the tries of each phase are rated: as low as the flags let pass, or as high as they strive for."""
    if {"--quality", "--complete"} <= set(flags):
        return [9.2, 9.6]
    if REFINES.intersection(flags):
        return [9.6, 9.8]
    return [7.4] if "--lenient" in flags else [9.2]


def script(phases: str, rated: list[float], text: str = "done") -> list[dict[str, Any]]:
    letters = [
        answer
        for n in phases
        for answer in (
            plan_answer(n, [(f"letter{n}.txt", "done")]),
            work_answer(n, f"0{n}-01", f"letter{n}.txt", f"{text}\n"),
            *(work_answer(n, f"{n}-R{turn}", f"letter{n}.txt", f"done, mended {turn}\n") for turn in (1, 2)),
        )
    ]
    rates = [rate_answer(score, attempt=n) for n, score in enumerate(rated, 1)]
    asking = [questions("Which colour?", "How long?"), gray_areas()]
    return [*reviews(rated[-1]), *rates, *letters, *asking]


@pytest.fixture(scope="module")
def completed() -> Iterator[Stage]:
    """Two letters that an earlier run wrote at 9.2; made once, and brought back for every case."""
    with playground() as folder, playground() as kept:
        place = folder / "place"
        place.mkdir()
        drive = driven(place, script("12", [9.2]), "1", "2")
        assert drive.run().exit == 0
        drive.entries.clear()
        yield Stage.of(place, kept, drive)


def drive_for(flags: tuple[str, ...], place: Path, completed: Stage) -> Drive:
    if AGAIN.intersection(flags) and "--complete" not in flags:
        drive = completed.again()
        drive.rewrite(script("12", scores(flags), "done, anew"))
        return drive
    # Of two phases at work at a time none is left to pause before.
    phases = "123" if {"--jobs", "--checkpoint-every"} <= set(flags) else "12"
    return driven(place, script(phases, scores(flags)), *phases)


def typed(drive: Drive, flags: tuple[str, ...], **more: Any) -> Seen:
    """Run what the words ask for, and go on as long as it pauses."""
    request, person = request_of(parse("run", words(flags)), folder=str(drive.root)), SaidPerson(SAID)
    fields = {"modes": request.modes, "lenient": request.lenient, "visual": request.visual, **more}
    ends = [drive.run(request.phases, person=person, **fields)]
    while ends[-1].exit == 11 and len(ends) < 4:
        ends.append(drive.resume())
    return Seen(frozenset(flags), drive, ends, person)


def complete(seen: Seen) -> None:
    report = seen.drive.reads(".autopilot/completion-report.md")
    given = " ".join(flag for flag in FLAGS if flag in seen.flags)
    assert "**Project completion:** 100% (2/2 phases)" in report
    assert sorted(report.partition("**Mode:** ")[2].splitlines()[0].split()) == sorted(given.split())


def mapped(seen: Seen) -> None:
    held = paper(seen.drive, "context-map.json")["phases"]
    answers = {name: [question["answer"] for question in phase["questions"]] for name, phase in held.items()}
    assert answers == {"1": ["blue", "a page"], "2": ["blue", "a page"]}
    assert len(seen.person.batches) == 1
    if seen.flags == {"--map"}:
        assert seen.drive.entries == []
        return
    assert seen.asked_before()[-2:] == ["context_mapping_started", "context_mapping_completed"]
    assert all(len(seen.start.contexts[phase].mapped) == 2 for phase in seen.phases)


def discussed(seen: Seen) -> None:
    assert list(paper(seen.drive, "discuss-context.json")["phases"]) == seen.phases
    assert seen.asked_before()[:3] == ["discuss_session_started", *["discuss_answers_recorded"] * 2]
    told = [answer.answer for phase in seen.phases for answer in seen.start.contexts[phase].discussed]
    assert told == ["Dear", "Hello"] * len(seen.phases)


def forced(seen: Seen) -> None:
    assert [(brief.mode, brief.plan, brief.cycle) for brief in seen.briefs] == [("force", None, 0)] * 2
    assert seen.letters() == ["done, anew\n"] * 2
    assert seen.drive.steps.count("plan") == 2


def refined(seen: Seen) -> None:
    own = [brief for brief in seen.briefs if brief.mode == "quality"]
    assert [(brief.phase.id, brief.turn, brief.cycle) for brief in sorted(own, key=lambda b: b.phase.id)] == [
        ("1", 1, 1), ("2", 1, 1),
    ]  # fmt: skip
    assert {brief.pass_threshold for brief in own} == {9.5}
    assert seen.drive.state()["_meta"]["pass_threshold"] == 9.5
    assert all(end.score is not None and end.score >= 9.5 for end in seen.ends[-1].phases.values())


def closed(seen: Seen) -> None:
    own = sorted((brief for brief in seen.briefs if brief.mode == "gaps"), key=lambda brief: brief.phase.id)
    # FLAG-05: behind the loop of --quality, which has brought each phase to its bar, only the last gap is left.
    bar, cycle = (9.8, 2) if "--quality" in seen.flags else (9.5, 1)
    assert [(b.phase.id, b.turn, b.cycle, b.pass_threshold) for b in own] == [
        ("1", 1, cycle, bar),
        ("2", 1, cycle, bar),
    ]
    assert all(brief.deficiency is not None for brief in own)
    assert seen.letters() == [f"done, mended {cycle}\n"] * 2


def one_at_a_time(seen: Seen) -> None:
    order = [type(e.event) for _, e in seen.drive.entries if isinstance(e.event, PhaseStarted | PhaseFinished)]
    assert order == [PhaseStarted, PhaseFinished] * (len(order) // 2)
    assert order
    assert seen.drive.of(PhaseMerged) == []


def several(seen: Seen) -> None:
    order = [type(e.event) for _, e in seen.drive.entries if isinstance(e.event, PhaseStarted | PhaseFinished)]
    assert order[:2] == [PhaseStarted, PhaseStarted]
    assert sorted(merged.phase for merged in seen.drive.of(PhaseMerged)) == seen.phases


def paused(seen: Seen) -> None:
    first = 2 if "--jobs" in seen.flags else 1
    assert [end.exit for end in seen.ends] == [11, 0]
    assert [stop.checkpoint for stop in seen.drive.of(RunStopped)] == [first]
    assert seen.ends[0].do == "autopilot resume"


def lenient(seen: Seen) -> None:
    bar = 9.5 if seen.flags & REFINES else 7.0
    assert (seen.start.settings.lenient, seen.drive.state()["_meta"]["pass_threshold"]) == (True, bar)
    assert seen.flags & REFINES or {brief.cycle for brief in seen.briefs} == {0}


PROMISES: dict[str, Callable[[Seen], None]] = {
    "--complete": complete,
    "--map": mapped,
    "--force": forced,
    "--quality": refined,
    "--gaps": closed,
    "--discuss": discussed,
    "--sequential": one_at_a_time,
    "--checkpoint-every": paused,
    "--jobs": several,
    "--lenient": lenient,
}


@pytest.mark.slow
@pytest.mark.parametrize("flags", [f for f in LEGAL if "--visual" not in f], ids=" ".join)
def test_flags_that_may_stand_together_both_keep_their_promise(
    flags: tuple[str, ...], place: Path, completed: Stage
) -> None:
    """FLAG-05, FLAG-06, FLAG-07, FLAG-08, FLAG-09, FLAG-10, FLAG-11, FLAG-12, FLAG-13, FLAG-14, FLAG-15, FLAG-16."""
    seen = typed(drive_for(flags, place, completed), flags)

    assert seen.ends[-1].exit == 0
    for flag in flags:
        PROMISES[flag](seen)


@pytest.mark.parametrize("flags", [f for f in LEGAL if "--visual" in f], ids=" ".join)
def test_visual_without_its_section_is_refused_beside_any_flag_before_anything_happens(
    flags: tuple[str, ...], place: Path, completed: Stage
) -> None:
    drive = drive_for(flags, place, completed)
    head = git(drive.root, "rev-parse", "HEAD")

    with pytest.raises(ConfigInvalid, match=r"project\.visual_testing") as caught:
        typed(drive, flags)

    assert (caught.value.what, caught.value.exit_code, drive.entries) == (REQUIRED, 2, [])
    assert git(drive.root, "rev-parse", "HEAD") == head


@pytest.mark.sandbox
@needs_browser
@pytest.mark.slow
def test_visual_and_complete_look_at_every_phase(place: Path) -> None:
    port = free_port()
    drive = driven(place, script("12", [9.2]), "1", "2")
    section = {
        "launch_command": server(port), "launch_wait_ms": 0, "base_url": f"http://localhost:{port}",
        "routes": [{"path": "/", "name": "home", "wait_ms": 0}],
    }  # fmt: skip
    write(
        drive.root, {".planning/config.json": json.dumps({"project": {"visual_testing": section}}), "index.html": FINE}
    )
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-qm", "a site")

    seen = typed(drive, ("--complete", "--visual"), sandbox=serving_tier())

    looks = [step.result.visual for step in drive.of(StepFinished) if isinstance(step.result, Verified)]
    assert (seen.ends[-1].exit, [look.blocking for look in looks if look]) == (0, [(), ()])


@pytest.mark.parametrize("pair", sorted(tuple(sorted(pair)) for pair in ILLEGAL), ids=" ".join)
@pytest.mark.parametrize("turned", [False, True], ids=["as listed", "the other way round"])
def test_flags_that_exclude_each_other_end_with_2_and_words_of_their_own(
    pair: tuple[str, str], turned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """FLAG-01, FLAG-02, FLAG-03, FLAG-04."""
    clash = ILLEGAL[frozenset(pair)]

    assert main([word for flag in (pair[::-1] if turned else pair) for word in FLAGS[flag].split()]) == 2

    told = " ".join(capsys.readouterr().err.split())
    assert all(part in told for part in (clash.what, clash.why, clash.do))


def test_every_pair_of_flags_is_either_run_or_refused() -> None:
    assert len(LEGAL) - len(ALONE) + len(ILLEGAL) == len(FLAGS) * (len(FLAGS) - 1) // 2
    assert {*PROMISES, "--visual"} == set(FLAGS)
