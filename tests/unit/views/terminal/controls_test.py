"""No letter a terminal acts upon gets out, whatever agents, commands and file names say, by whichever way it is shown."""

import io
import json
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from autopilot.cli import console
from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.events import AgentAnswered, Entry, Event, PhaseLanded, PhaseSkipped, RunFinished, RunStopped
from autopilot.domain.evidence import Usage
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.request import PhaseEnd, RunEnd
from autopilot.domain.settings import Limits
from autopilot.engine.perform.agent_calls import _value
from autopilot.evidence.facts import CommandFacts
from autopilot.history.record import PhaseRecord
from autopilot.journal.earlier_runs import read_ledger
from autopilot.pipeline import artifacts
from autopilot.planning.plan import read_plan as plan
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from autopilot.state.build_state import state_of, state_text
from autopilot.state.picture_run import picture_of
from autopilot.text.clean import ACTED_UPON, harmless
from autopilot.views.lines import overview
from autopilot.views.lines.plain import PlainView
from autopilot.views.lines.retelling import account
from autopilot.views.markdown.handover import handover
from autopilot.views.terminal.agent_activity import Glance
from autopilot.views.terminal.frame import frame
from autopilot.views.terminal.painter import Drawn
from autopilot.views.terminal.screen import Screen
from support.records import criterion, whole
from support.workspaces import ENV, make_bench
from unit.journal.run_examples import RUN, Tape, whole_phase

T = TypeVar("T")
SEQUENCES = (
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x1b]52;c;aGk=\x1b\\",
    "\x9b31m",
    "\u202etxt.exe",
    "\r\x1b[A",
    "\x85",
    "\x08",
    "\u2066",
)
nasty = st.lists(st.sampled_from([*SEQUENCES, *sorted(ACTED_UPON), "word", " "]), min_size=1, max_size=6).map("".join)
# What ties a record together, or is one of a few words.
TIES = frozenset({
    "id", "phase", "task", "step", "run", "call", "commit", "base", "tree", "check", "at", "role", "judged", "branch", "sha256",
    "dir", "agent", "blocking_phase", "source", "mode",
})  # fmt: skip


def infected(value: T, text: str) -> T:
    """The same value with the text behind every free text in it."""
    if isinstance(value, msgspec.Struct):
        hints = get_type_hints(type(value))
        changed = {
            name: _said(getattr(value, name), hints[name], text) for name in value.__struct_fields__ if name not in TIES
        }
        return msgspec.structs.replace(value, **changed)
    return value


def _said(value: Any, hint: Any, text: str) -> Any:
    free = hint is str or str in get_args(hint)
    match value:
        case str():
            return f"{value}{text}" if free else value
        case tuple():
            return tuple(_said(item, str if free else None, text) for item in value)
        case msgspec.Struct():
            return infected(value, text)
    return value


def leaks(shown: str) -> set[str]:
    return set(shown) & ACTED_UPON


@given(st.text(), nasty)
def test_the_one_place_leaves_nothing_and_only_words_stay(text: str, bad: str) -> None:
    assert leaks(harmless(text + bad + text)) == set()
    assert harmless("naïve 漢字 \u200d✓\n\tx") == "naïve 漢字 \u200d✓\n\tx"


def told(text: str) -> Tape:
    """A whole run, every free word of it infected."""
    clean, tape = Tape(1), Tape(1)
    whole_phase(clean)
    tape.journal = type(tape.journal)(tape.journal._clock)
    for stream in clean.journal.streams():
        for number, entry in enumerate(clean.journal.load(stream)):
            tape.journal.append(stream, number, infected(entry.event, text))
    tape.briefs = {phase: [infected(brief, text) for brief in briefs] for phase, briefs in clean.briefs.items()}
    return tape


@given(nasty)
def test_the_terminal_gets_no_control_codes_from_any_event(text: str) -> None:
    out, tape = io.StringIO(), told(text)
    view = PlainView(out)
    for stream in tape.journal.streams():
        for entry in tape.journal.load(stream):
            view(stream, entry)
    last: tuple[Event, ...] = (
        PhaseLanded(phase="1", commit="c", landed=False, note=text), PhaseSkipped(phase="2", reason=text),
        RunStopped(exit_code=1, reason=text), RunFinished(status="failed", exit_code=10, reason=text),
    )  # fmt: skip
    for number, event in enumerate(last):
        view(RUN, Entry(number=90 + number, at="2026-01-01T12:00:00.000Z", event=event))
    for code in (0, 10, 20):
        view.announce(RunEnd(run=RUN, exit=code, reason=text, phases={"1": PhaseEnd(status="failed", reason=text)}))

    assert out.getvalue().count("\n") > 10
    assert leaks(out.getvalue()) == set()


@given(nasty, st.sampled_from([(80, 24), (200, 60)]))
def test_the_live_view_draws_none(text: str, size: tuple[int, int]) -> None:
    tape = told(text)
    entries = [(stream, entry) for stream in tape.journal.streams() for entry in tape.journal.load(stream)]
    last = (PhaseLanded(phase="1", commit="c", landed=False, note=text), RunStopped(exit_code=1, reason=text))
    more = [(RUN, Entry(number=90, at="2026-01-01T12:00:00.000Z", event=event)) for event in last]
    for picture in (picture_of(entries[:-3]), picture_of([*entries, *more])):
        glances = {"c": Glance(doing=text, idle=1.0)}
        lines = frame(picture, Screen(width=size[0], height=size[1], now=picture.last, glances=glances))
        shown = list(Console(file=io.StringIO(), color_system=None).render(Drawn(lines)))

        assert leaks("".join(segment.text for segment in shown)) == set()


@given(nasty)
def test_papers_and_state_have_none_either(text: str) -> None:
    tape = told(text)
    record = whole()
    entries = tuple(msgspec.structs.replace(e, event=infected(e.event, text)) for e in record.entries)
    papers = artifacts(PhaseRecord(start=infected(record.start, text), brief=record.brief, entries=entries))
    run = {stream: tape.journal.load(stream) for stream in tape.journal.streams()}

    assert len(papers) > 10
    assert leaks("".join(paper for name, paper in papers.items() if not name.startswith("tests/"))) == set()
    assert leaks(state_text(state_of(tape.run, tape.passes)).decode()) == set()
    assert leaks(account(run[RUN], run)) == set()
    assert (
        leaks(handover(RunEnd(run=RUN, exit=0, reason=text, phases={"1": PhaseEnd(status="failed", reason=text)})))
        == set()
    )


@given(nasty)
def test_an_overview_shows_names_only(text: str) -> None:
    roadmap = Roadmap(path="ROADMAP.md", phases=(Phase(id="1", name=text, goal=text),))
    seen = overview.overview(roadmap, read_ledger(Tape(1).journal, ()), set())

    assert leaks("\n".join(overview.lines(seen))) == set()


@pytest.mark.parametrize("text", SEQUENCES, ids=ascii)
def test_the_command_line_prints_none(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    console.say(f"a{text}b")
    console.warn(f"a{text}b")
    console.complain(text, why=text, do=text)

    out, err = capsys.readouterr()
    assert leaks(out + err) == set()


@given(nasty)
def test_an_answer_has_none_once_it_is_a_value(text: str) -> None:
    """JSON writes them as escapes, which look harmless until they are read."""
    answer = json.dumps({"pass": True, "failures": [text], "autonomous_confidence": 9})
    event = AgentAnswered(
        call="c", role="verify", outcome="ok", answer=answer, text="", usage=Usage(), commands=(), seconds=1.0
    )

    value, problem = _value(event, VerifyOpinion)
    assert (problem, leaks(str(msgspec.to_builtins(value)))) == ("", set())


@given(nasty)
def test_a_plan_has_none_in_what_becomes_titles_and_subjects(text: str) -> None:
    read = plan.read(
        f'<task id="01-01">\n### Task 01-01: Do {text}\n**Action:** {text}\n**Files:** a.py\n</task>\n', {}
    )

    assert leaks("".join(f"{task.title}{task.action}{task.id}" for task in read.tasks)) == set()


def test_facts_keep_no_codes_of_what_a_command_printed(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    sandbox = PlainProcess(ChildProcesses(), look(ENV))
    printing = criterion("c1", r"printf 'a\033[31mb\033]0;t\007c\u202ed\u009b31m\r\n'")

    (run,) = CommandFacts(workspace=bench.workspace, sandbox=sandbox, limits=Limits()).check(bench.base, [printing], {})
    assert run.passed
    assert leaks(run.output) == set()
