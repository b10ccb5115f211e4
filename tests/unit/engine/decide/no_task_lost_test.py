"""
No accepted task disappears without a verdict of its own, and verification covers every accepted plan.

Real steps, gates and decisions, on a journal in memory and a world in which a commit is the list of what was written.
Agents run out of context, answer nonsense or do nothing at any call; the process is killed and the run resumed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import msgspec
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from autopilot.domain.agent_call import Answered, Question, Worked
from autopilot.domain.answers import FixClaim, WorkClaim
from autopilot.domain.codemap import NO_ATLAS
from autopilot.domain.errors import NoAnswer
from autopilot.domain.events import (
    PhaseFinished,
    PhaseLanded,
    PhaseStarted,
    RunFinished,
    RunResumed,
    StepFinished,
    StepStarted,
    stream_of,
)
from autopilot.domain.evidence import Change, CommandRun, FileChange
from autopilot.domain.phase import Criterion, Plan
from autopilot.domain.results import PlanChecked, Unanswered, Verified
from autopilot.domain.verdict import Advance, Stop
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.next_move import Continue, End, Land, Skip, Spawn, next_phase, second_chances
from autopilot.engine.decide.next_step import Finish, Run, next_move
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.perform.step import judged
from autopilot.engine.run.briefs import brief_for
from autopilot.engine.run.moves import judged as judged_pass
from autopilot.engine.run.moves import noted
from autopilot.history.record import PhaseRecord
from autopilot.journal.clock import TickingClock
from autopilot.journal.memory import MemoryJournal
from autopilot.planning.plan.problems import PlanReader
from autopilot.policy.task_progress import auto_tasks, task_states
from support.project import LOOKED, plan_answer, rate_answer, reviews
from support.records import RUN, SPEC, TREE, phase, ran, started
from support.tools import SaidFacts, SaidPlanning, SaidWorkspace, tools

WANTS = re.compile(r"grep -q (\w+) ([\w.]+)")
HONEST = {answer["role"]: answer["result"] for answer in reviews()}
MOST_MOVES, MOST_RESUMES = 400, 6


class Killed(Exception):
    """The process is gone."""


@dataclass(slots=True)
class WorldFacts(SaidFacts):
    """A command holds if the commit has the file with the word; a test file says itself what it looks for."""

    def check(self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        return tuple(
            ran(c.id, command=c.command, passed=_holds(commit, c.command, files), what=c.text)
            for c in criteria
            if c.command
        )

    def repeated(
        self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str], times: int
    ) -> tuple[CommandRun, ...]:
        return ()


def _holds(commit: str, command: str, files: Mapping[str, str]) -> bool:
    text = next((text for path, text in files.items() if path in command), command)
    found = WANTS.search(text)
    return found is not None and f"{found[2]}={found[1]}" in commit.split("|")


class WorldSpace(SaidWorkspace):
    def change(self, base: str, commit: str) -> Change:
        new = [word for word in commit.split("|") if word not in base.split("|")]
        files = tuple(FileChange(path=word.partition("=")[0], status="A") for word in new)
        return Change(base=base, commit=commit, tree=TREE, files=files, added=len(files))

    def read(self, commit: str, path: str) -> str | None:
        return "x\n"


@dataclass(slots=True)
class World:
    """Agents of all moods, and the run they are asked in."""

    data: st.DataObject
    journal: MemoryJournal = field(default_factory=lambda: MemoryJournal(TickingClock()))
    phase: str = "1"
    plans: int = 0
    moves: int = 0

    def mood(self, *moods: str) -> str:
        """Mostly the first, so that runs get somewhere."""
        drawn = self.data.draw(st.sampled_from([*([moods[0]] * 5), *moods[1:], "killed"]))
        if drawn == "killed":
            raise Killed
        return drawn

    def ask(self, question: Question[Any]) -> Answered[Any]:
        mood = self.mood("fine", "silent", "poor")
        if mood == "silent":
            raise NoAnswer("bad_output", "prose")
        answer, wrote = dict(HONEST.get(question.role, {})), dict[str, str]()
        if question.role == "verify":
            answer = {"pass": True, "autonomous_confidence": 9, **LOOKED}
        if question.role == "rate" and mood == "poor":
            answer = rate_answer(6.2)["result"]
        if question.role == "plan":
            wrote = self.plan()
        return Answered(value=msgspec.convert(answer, question.answer, strict=False), wrote=wrote, seconds=200.0)

    def plan(self) -> dict[str, str]:
        """Another plan every time, with task ids that every plan has."""
        self.plans += 1
        tasks = self.data.draw(st.integers(1, 4))
        # The criterion of the roadmap is what the first task of every plan is about.
        files = [
            (f"letter{self.phase}.txt", "done"),
            *((f"file{self.plans}x{n}.txt", f"word{n}") for n in range(1, tasks)),
        ]
        made = plan_answer(self.phase, files)["write"]
        return {path.replace("{dir}", folder(self.phase)): text for path, text in made.items()}

    def work(self, question: Question[Any], message: str, onto: str) -> Worked[Any]:
        mood = self.mood("done", "exhausted", "silent", "idle")
        if mood == "exhausted":
            raise NoAnswer("context_exhausted", "")
        if mood == "silent":
            raise NoAnswer("bad_output", "prose")
        commit, task = onto, question.task
        if mood == "done" and task is not None:
            found = WANTS.search(task.criteria[0].command or "")
            assert found is not None
            commit = "|".join(dict.fromkeys([*onto.split("|"), f"{found[2]}={found[1]}"]))
        claim = WorkClaim() if question.answer is WorkClaim else FixClaim(fixed=True)
        return Worked(value=claim, change=WorldSpace().change(onto, commit), findings=())


def folder(name: str) -> str:
    return f".planning/phases/0{name}-letter-{name}"


def drive(world: World, streams: Streams) -> RunFinished:
    """To the end of the run, in one process."""
    while True:
        world.moves += 1
        assert world.moves < MOST_MOVES, "the run does not come to an end"
        run = streams.run()
        match next_phase(run):
            case Spawn() as spawn:
                hands = SimpleNamespace(atlas=NO_ATLAS, workspace=SaidWorkspace(), planning=PlanReader())
                made = brief_for(spawn, run, streams.passes(spawn.phase.id), cast("Any", hands))
                streams.append_run(PhaseStarted(brief=msgspec.structs.replace(made, dir=folder(spawn.phase.id))))
            case Continue(brief=brief):
                record, end = run_pass(world, streams, streams.phase(brief))
                finished = judged_pass(outcome_of(record, end), brief, run, streams.passes(brief.phase.id))
                check(world, streams, record, finished)
                streams.append_run(finished)
            case Land(phase=name, commit=commit):
                streams.append_run(PhaseLanded(phase=name, commit=commit, landed=True))
            case (Skip() | End()) as told:
                event = noted(told)
                streams.append_run(event)
                if isinstance(event, RunFinished):
                    return event
            case other:
                raise AssertionError(other)


def run_pass(world: World, streams: Streams, record: PhaseRecord) -> tuple[PhaseRecord, Finish]:
    around = tools(
        agents=world, facts=WorldFacts(), workspace=cast("Any", WorldSpace()), planning=SaidPlanning()
    )  # fmt: skip
    world.phase = record.phase.id
    while not isinstance(move := next_move(record), Finish):
        world.moves += 1
        assert world.moves < MOST_MOVES, "the pass does not come to an end"
        assert isinstance(move, Run)
        stream = stream_of(RUN, record.phase.id, record.brief.number)
        if record.open_step is None:
            step = StepStarted(step=move.stage.name, n=move.n, base=record.commit, nonce="", boot="boot")
            streams.append(stream, step)
            record = streams.phase(record.brief)
        try:
            result = move.stage.step(record, around)
        except NoAnswer as silence:
            result = Unanswered(role=move.stage.name, outcome=silence.outcome, detail=silence.detail)
        streams.append(stream, judged(move, record, result))
        record = streams.phase(record.brief)
    return record, move


def check(world: World, streams: Streams, record: PhaseRecord, finished: PhaseFinished) -> None:
    """What must be true of a phase that passes."""
    del world
    if not isinstance(finished.verdict, Advance) or finished.outcome.status != "completed":
        return
    passes = (*streams.passes(record.phase.id)[:-1], record)
    plans = tuple(accepted(passes))
    if not plans:
        return
    in_force = record.plan
    assert in_force == plans[-1], "another plan than the last one that was accepted is in force"
    tasks = {task.id for task in in_force.tasks}
    assert {task.id for task in auto_tasks(record)} == tasks, "a task disappeared"
    assert tasks <= set(task_states(record)), f"no verdict on {tasks - set(task_states(record))}"
    seen = record.find(Verified)
    assert seen is not None
    commands = {c.command for plan in plans for task in plan.tasks for c in task.criteria if c.command}
    assert commands <= {run.command for run in seen.checks}, "verification left out what a plan asks for"
    made = set(record.commit.split("|"))
    missing = {f"{found[2]}={found[1]}" for command in commands if (found := WANTS.search(command))} - made
    assert not missing, f"passed, though {missing} was never built"


def accepted(passes: Sequence[PhaseRecord]) -> Iterator[Plan]:
    """The plans that count: those accepted since the phase was last given up by a verdict on its work."""
    plans: list[Plan] = []
    for record in passes:
        own = [entry.event for entry in record.entries if isinstance(entry.event, StepFinished)]
        found = [s.result.plan for s in own if isinstance(s.result, PlanChecked) and isinstance(s.verdict, Advance)]
        plans += [plan for plan in found if plan not in plans]
        if own and isinstance(own[-1].verdict, Stop) and not isinstance(own[-1].result, Unanswered):
            plans.clear()
    return iter(plans)


def resume(streams: Streams) -> None:
    streams.append_run(RunResumed(pid=1, spec=SPEC, retry=second_chances(streams.run())))


def wanted(name: str) -> Criterion:
    return Criterion(id="SC-1", text="the letter", command=f"grep -q done letter{name}.txt", source="roadmap")


@settings(max_examples=100, phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink), print_blob=True)
@given(st.data())
def test_no_accepted_task_disappears_without_a_verdict(data: st.DataObject) -> None:
    phases = [phase(name, criteria=(wanted(name),)) for name in ("1", "2")][: data.draw(st.integers(1, 2))]
    world = World(data)
    streams = Streams(world.journal, RUN, ())
    streams.append_run(started(*phases, integration_check=False, self_audit=False, version_bump=False))
    for _ in range(MOST_RESUMES):
        try:
            end = drive(world, streams)
        except Killed:
            # What was in memory is gone; the journal is all that is left.
            streams = Streams(world.journal, RUN, ())
            resume(streams)
            continue
        if end.status != "failed":
            return
        resume(streams)
