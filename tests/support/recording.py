"""Records whole runs, typed as a user types them: what they print, keep, ask and show, ready to be compared."""

import difflib
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import autopilot
from autopilot.agents.scripted import ScriptedAgent
from autopilot.cli.main import main
from autopilot.domain.agent_call import Call, Reply
from autopilot.engine.perform.run_log import Streams
from autopilot.journal.clock import FixedClock, SystemClock, TickingClock
from autopilot.journal.codec import decode
from autopilot.journal.memory import MemoryJournal
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.state.build_state import Projection, state_text
from support import goldens
from support.processes import PowerCut
from support.runs import MEMORY
from support.trusting import trust

SOURCE = Path(autopilot.__file__).parent
# A look at the clock moves it on by so much: a run never takes long, however slow the machine is.
TICK_S = 0.001
KEPT = ("PATH", "LANG", "LC_ALL", "COVERAGE_PROCESS_START", "COV_CORE_DATAFILE", "COV_CORE_SOURCE", "COV_CORE_CONFIG")
ROWS = "select stream, number, body, version, at from entries order by seq"
# Databases and repositories; and the state before the last one, which depends on how often it is written.
LEFT_OUT = re.compile(r"(^|/)(repo\.git|[^/]*\.lock|[^/]*\.db|[^/]*\.db-\w+|journal\.head|state\.json\.backup)(/|$)")
STATE = re.compile(r"state\.json|run-[\d-]+\.json")

# What no two runs have in common, and what stands for it. This list is all that a comparison is blind to.
PLACEHOLDERS: tuple[tuple[str, str], ...] = (
    # What is installed here, and how this Python tells of an error.
    (r'(?<="tools":)( ?)\{[^}]*\}', r'\1"<tools>"'),
    (r'"(?:[^"\\\n]|\\.)*Traceback \(most recent call last\)(?:[^"\\\n]|\\.)*"', '"<traceback>"'),
    (r"Traceback \(most recent call last\):\n(?: .*\n)+", "<traceback>\n"),
    (r"/[\w./-]*/python[\d.]*(?=:)", "<python>"),
    (r'("(?:seconds|begin|end|pid|\w*duration_(?:minutes|seconds|ms))": ?)\d+(?:\.\d+)?(?:e-?\d+)?', r'\1"<number>"'),
    (r'("minutes": ?\{\s*"used": ?)\d+(?:\.\d+)?', r'\1"<number>"'),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<boot>"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?", "<time>"),
    (r"\b\d{4}-\d\d-\d\d-\d{4}\b", "<minute>"),
    (r"\b\d{4}-\d\d-\d\d\b", "<date>"),
    (r"\b\d\d:\d\d(:\d\d)?\b", "<clock>"),
    (r"\b(?=[0-9]*[a-f])[0-9a-f]{7,64}\b", "<hash>"),
    (r'(?<!":)(?<!": )\b\d{7,64}\b', "<hash>"),  # one without letters; a number in JSON is none
    (r"\b\d+(\.\d+)?( ?)(s|ms|m|min|h)\b", r"<n>\2\3"),
    (re.escape(autopilot.__version__), "<version>"),
)
# What is shorter is repeated as it is.
LONG = 60
EMPTY: tuple[Any, ...] = (None, False, "", [], {}, "<hash>", "<time>", "<number>", "<boot>", "<tools>")


def placed(text: str, names: Mapping[str, str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, names[name])
    for pattern, word in PLACEHOLDERS:
        text = re.sub(pattern, word, text)
    return text


class Shortened:
    """
    Leaves out what was there before, word for word, and puts a hash of it in its place: a difference still shows.

    Of text that is a run of lines, of JSON that is one line any part of it; there what is empty, or stands
    for something, is left out too, for the hash of the whole stands before it.
    """

    def __init__(self) -> None:
        templates = (path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("prompts/*.md")))
        self._lines, self._parts = {line for text in templates for line in text.splitlines()}, set[str]()

    def text(self, text: str) -> str:
        told, known = list[str](), list[str]()
        for line in text.split("\n"):
            short = self._line(line)
            if line in self._lines:
                known.append(line)
                continue
            told += [*_left_out(known), short]
            known = []
            self._lines.add(line)
        return "\n".join([*told, *_left_out(known)])

    def _line(self, line: str) -> str:
        head, brace, rest = line.partition("{")
        try:
            held = json.loads(brace + rest)
        except ValueError:
            return line
        return f"{head}{_hash(_compact(held))} {_compact(self._value(held))}"

    def _value(self, held: Any) -> Any:
        text = _compact(held)
        if len(text) >= LONG and text in self._parts:
            return f"<as before: {_hash(text)}>"
        self._parts.add(text)
        match held:
            case dict():
                return {key: self._value(value) for key, value in held.items() if value not in EMPTY}
            case list():
                return [self._value(value) for value in held]
        return held


def _left_out(lines: list[str]) -> list[str]:
    text = "\n".join(lines)
    return [f"<{len(lines)} lines as before: {_hash(text)}>"] if len(text) >= LONG else lines


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Clock(TickingClock):
    """Ticks a little at every look at it, and goes on by as long as somebody rests."""

    def __init__(self, start: str) -> None:
        super().__init__(start, TICK_S)
        self._rested = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self._rested

    def rest(self, seconds: float) -> None:
        self._rested += seconds


class WrittenClock(FixedClock):
    """Says the time that was written down last."""

    at = ""

    def now(self) -> str:
        return self.at


@dataclass(slots=True)
class Recording:
    """One project and everything that was typed in it. `at_call` sees every call before the agent answers it."""

    place: Path
    said: list[str] = field(default_factory=list)
    asked: list[tuple[str, Call]] = field(default_factory=list)
    at_call: Callable[[Call], None] = lambda _: None
    ordered: bool = True
    shown: dict[str, str] = field(default_factory=dict)
    _known: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def day(self) -> str:
        """Every recording starts at noon of today."""
        return datetime.now(UTC).date().isoformat()

    @property
    def root(self) -> Path:
        return self.place / "project"

    def type(self, *words: str) -> int | str:
        """The command in the project's folder; its exit code, or "killed"."""
        if self.root.exists():
            trust(self.root)
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        before, exit_code = Path.cwd(), "killed"
        os.chdir(self.root if self.root.exists() else self.place)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                exit_code = str(main(list(words)))
        except PowerCut:
            pass
        finally:
            os.chdir(before)
        told = [(name, stream.buffer.getvalue().decode()) for name, stream in (("out", out), ("err", err))]
        parts = [f"--- {name}\n{text}" for name, text in told if text]
        self.said.append("".join([f"$ autopilot {' '.join(words)}\n", *parts, f"--- exit {exit_code}\n\n"]))
        return int(exit_code) if exit_code.isdigit() else exit_code

    def look(self, *words: str) -> None:
        """Type a command that changes nothing; what it prints gets a file of its own."""
        before = len(self.said)
        self.type(*words)
        self.shown[f"shown/{'-'.join(word.strip('-') for word in words if not word.isdigit())}.txt"] = self.said[before]
        del self.said[before:]

    def files(self) -> dict[str, str]:
        """Everything, by the name of the golden file it belongs to."""
        names = self.names()
        found = {
            "said.txt": "".join(self.said),
            "journal.jsonl": self.journal(),
            "prompts.md": self.prompts(),
            **{name: text for top in (".planning", ".autopilot") for name, text in self._below(top)},
            **self.shown,
        }
        return {**{placed(name, names): placed(text, names) for name, text in found.items()}, **self.states(names)}

    def check(self, folder: str) -> None:
        goldens.check_folder(folder, self.files(), self._shortened)

    def _shortened(self, found: Mapping[str, str]) -> dict[str, str]:
        short = Shortened()
        names = sorted(found, key=lambda name: (name.count("/") > 1, name))
        return {name: short.text(self._in_order(name, found[name])) for name in names}

    def _in_order(self, name: str, text: str) -> str:
        """States as what changed; with several phases at a time, the lines that are printed come in any order."""
        if name.endswith("states.diff"):
            return _changes(text)
        if self.ordered or not name.partition("/")[2].startswith(("said", "shown")):
            return text
        return "".join(f"{line}\n" for line in sorted(text.splitlines()))

    def names(self) -> dict[str, str]:
        """What is called otherwise in every recording: the runs by their number, and where things are."""
        runs = list(dict.fromkeys(row[0].partition("/")[0] for row in self.rows()))
        numbers = {run: f"run-{number}" for number, run in enumerate(runs, 1)}
        bare = {run.removeprefix("run-"): name.removeprefix("run-") for run, name in numbers.items()}
        return {
            **numbers, **bare,
            str(self.place): "<place>", str(SOURCE): "<source>", sys.executable: "<python>",
        }  # fmt: skip

    def rows(self) -> list[tuple[str, int, str, int, str]]:
        path = self.root / ".autopilot" / "journal.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return list(db.execute(ROWS))

    def journal(self) -> str:
        rows = self.rows() if self.ordered else sorted(self.rows())
        return "".join(f"{stream} {number} {body}\n" for stream, number, body, *_ in rows)

    def prompts(self) -> str:
        asked = self.asked if self.ordered else sorted(self.asked, key=lambda one: one[1].id)
        return "".join(f"=== {call.role} {call.id} attempt {call.attempt}\n{call.prompt}\n" for _, call in asked)

    def states(self, names: Mapping[str, str]) -> dict[str, str]:
        """What state.json is behind every entry."""
        told = (placed(f"== {entry}\n{_rows(state)}", names) for entry, state in self._states())
        return {"states.diff": "".join(told)} if self.ordered else {}

    def _states(self) -> list[tuple[str, dict[str, Any]]]:
        """Entry by entry, worked out from the journal alone."""
        rows = self.rows()
        if len(rows) != len(self._known):
            clock, runs = WrittenClock(), dict[str, tuple[Streams, Projection]]()
            journal = MemoryJournal(clock)
            self._known = []
            for stream, number, body, version, clock.at in rows:
                run = stream.partition("/")[0]
                own, projection = runs.setdefault(run, (Streams(journal, run, ()), Projection(events=None)))
                own.append(stream, decode(body, version))
                self._known.append((f"{stream} {number}", projection.state(own.run(), own)))
        return self._known

    def _below(self, top: str) -> Iterator[tuple[str, str]]:
        for path in sorted((self.root / top).rglob("*")):
            name = str(path.relative_to(self.root))
            if path.is_file() and not path.is_symlink() and not LEFT_OUT.search(name):
                yield f"files/{name}", self._content(path)

    def _content(self, path: Path) -> str:
        """The file; of a state only what is not in the last one of its run, or with its log in an order."""
        text = path.read_text(encoding="utf-8", errors="replace")
        if not STATE.fullmatch(path.name):
            return text
        held = json.loads(text)
        if not self.ordered:
            held["event_log"].sort(key=lambda line: str(line.get("phase")))
            return json.dumps(held, indent=2) + "\n"
        run, names = held["_meta"]["run_id"], self.names()
        last = [state for entry, state in self._states() if entry.partition(" ")[0].partition("/")[0] == run][-1]
        known, own = (placed(each, names).splitlines() for each in (state_text(last).decode(), text))
        return "".join(
            f"{line}\n" for line in difflib.unified_diff(known, own, "the last state", "the file", lineterm="")
        )


def _changes(states: str) -> str:
    """A hash of every state, and behind an entry of the run itself all that has changed since the last one."""
    told, before = list[str](), list[str]()
    for part in re.split(r"^== ", states, flags=re.MULTILINE)[1:]:
        entry, _, text = part.partition("\n")
        told.append(f"== {entry} {_hash(text)}")
        if "/" not in entry:
            after = text.splitlines()
            changes = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
            told += [line for line in changes if not line.startswith("@@")]
            before = after
    return "".join(f"{line}\n" for line in told)


def _rows(state: dict[str, Any]) -> str:
    """A line a field, but a line of the log is one line."""
    log = "".join(f"{_compact(line)}\n" for line in state["event_log"])
    return json.dumps({**state, "event_log": []}, indent=1, ensure_ascii=False) + "\n" + log


@contextmanager
def recording(*, ordered: bool = True) -> Iterator[Recording]:
    """A place of its own for a project, with nothing of the machine's in it, and a clock that ticks."""
    usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    place = Path(tempfile.mkdtemp(prefix="autopilot-golden-", dir=MEMORY if usable else None))
    made = Recording(place, ordered=ordered)
    homes = {
        name: str(place / folder)
        for name, folder in (
            ("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"), ("XDG_CACHE_HOME", "cache"),
            ("AUTOPILOT_CACHE", "cache"), ("AUTOPILOT_SESSIONS", "active"), ("TMPDIR", "tmp"),
        )
    }  # fmt: skip
    fixed = {"TZ": "UTC", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "COLUMNS": "120"}
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - set(KEPT):
            patch.delenv(name)
        for name, value in {**homes, **fixed}.items():
            patch.setenv(name, value)
        for folder in homes.values():
            Path(folder).mkdir(exist_ok=True)
        patch.setattr(ScriptedAgent, ScriptedAgent.call.__name__, _heard(made))
        clock = Clock(f"{made.day}T12:00:00.000Z")
        patch.setattr(SystemClock, SystemClock.now.__name__, lambda _: clock.now())
        patch.setattr(SystemClock, SystemClock.monotonic.__name__, lambda _: clock.monotonic())
        patch.setattr(ChildProcesses, ChildProcesses.rest.__name__, lambda _, seconds: clock.rest(seconds))
        try:
            yield made
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _heard(made: Recording) -> Callable[..., Reply]:
    answer = ScriptedAgent.call

    def call(self: ScriptedAgent, call: Call, started: Callable[[int], None]) -> Reply:
        made.at_call(call)
        made.asked.append((call.role, call))
        return answer(self, call, started)

    return call
