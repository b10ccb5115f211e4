"""The verbs, against a program that plays what it is told."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from autopilot.cli.main import main
from autopilot.cli.parser import parse
from autopilot.cli.verbs.run import Warn, demonstrate, perform, warn
from autopilot.domain.errors import AutopilotError, Interrupted, UsageLimited
from autopilot.domain.events import Entry, RunStopped
from autopilot.domain.people import NOBODY, Person
from autopilot.domain.request import PhaseEnd, Resumption, RunEnd, RunRequest
from autopilot.domain.settings import Modes
from autopilot.journal.clock import TickingClock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.ports.agents import Listener
from support.recordings import feast

END = RunEnd(
    run="run-1", exit=10, reason="failed: 2", usd=0.5, phases={"2": PhaseEnd(status="failed", score=6.5, reason="no")}
)


@dataclass
class PlayedApp:
    """Tells one entry, then ends as written."""

    end: RunEnd | BaseException = END
    asked: list[object] = field(default_factory=list)

    def _play(self, listener: Listener, warn: Warn) -> RunEnd:
        warn("the sandbox\x1b[31m is off")
        event = RunStopped(exit_code=130, reason="a test")
        listener("run-1", Entry(number=0, at="2026-02-09T14:30:52.000Z", event=event))
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end

    def start(self, request: RunRequest, listener: Listener, warn: Warn, person: Person = NOBODY) -> RunEnd:
        self.asked.append(request)
        return self._play(listener, warn)

    def debug(self, request: RunRequest, listener: Listener, warn: Warn, person: Person = NOBODY) -> RunEnd:
        self.asked.append(request)
        return self._play(listener, warn)

    def consult(self, request: RunRequest, warn: Warn, person: Person = NOBODY) -> RunEnd:
        self.asked.append(request)
        return RunEnd(run="", exit=11, reason="2 questions wait")

    def resume(
        self,
        folder: str,
        listener: Listener,
        warn: Warn,
        changes: Resumption | None = None,
        person: Person = NOBODY,
    ) -> RunEnd:
        self.asked.append((folder, changes))
        return self._play(listener, warn)

    def stop(self, folder: str, *, now: bool) -> str:
        return f"Stopped, {now=}."

    def retry(self, folder: str) -> str:
        return "Asked again at once."

    def rebuild(self, folder: str) -> str:
        return f"{folder}/.autopilot/state.json"

    def note(self, folder: str, event: str, message: str) -> None:
        self.asked.append((event, message))

    def demo(self, folder: str | None, listener: Listener, warn: Warn) -> tuple[RunEnd, str]:
        self.asked.append(folder)
        return self._play(listener, warn), "What happened.\n"


@pytest.mark.parametrize("verb", ["run", "resume"])
def test_the_last_line_of_standard_output_is_the_result(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    code = perform(parse(verb, ["--json"]), PlayedApp())
    out, err = capfd.readouterr()

    assert code == 10
    assert json.loads(out) == {
        "run": "run-1",
        "exit": 10,
        "reason": "failed: 2",
        "phases": {
            "2": {"status": "failed", "score": 6.5, "reason": "no", "outcome": None, "caveats": [], "branch": ""}
        },
        "usd": 0.5,
        "tokens": None,
    }
    assert "Run stopped: a test\n" in err
    assert "Phases: 0/1 succeeded | 1 failed | 0 skipped" in err


def test_progress_goes_to_standard_output_and_warnings_beside_it(capfd: pytest.CaptureFixture[str]) -> None:
    perform(parse("run", ["3"]), PlayedApp())
    out, err = capfd.readouterr()

    assert out.startswith("Run stopped: a test\n\nAutopilot Failed\n")
    assert err == "autopilot: warning: the sandbox is off\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageLimited("Used up.", why="It is.", do="Wait."), 22), (Interrupted(), 130)],
    ids=["an error", "an interruption"],
)
def test_a_run_that_could_not_end_still_leaves_its_line(
    error: BaseException, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((AutopilotError, Interrupted)):
        perform(parse("run", ["3", "--json"]), PlayedApp(end=error))

    told = json.loads(capfd.readouterr().out)
    assert (told["run"], told["exit"], told["phases"]) == ("run-1", code, {})


def test_a_request_names_the_folder_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = PlayedApp()
    perform(parse("run", ["3-7"]), app)

    assert app.asked == [RunRequest(folder=str(tmp_path), phases="3-7")]


def test_stop_and_rebuild_say_what_they_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    codes = [perform(parse("stop", ["--now"]), PlayedApp()), perform(parse("rebuild", []), PlayedApp())]

    assert codes == [0, 0]
    assert capfd.readouterr().out == f"Stopped, now=True.\nWritten anew: {tmp_path}/.autopilot/state.json\n"


def test_the_demo_ends_with_its_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    app = PlayedApp()

    assert demonstrate(parse("demo", ["--keep", "here"]).keep, app.demo) == 10
    assert app.asked == [str(tmp_path / "here")]
    assert capfd.readouterr().out == "Run stopped: a test\n\nWhat happened.\n"


@pytest.mark.parametrize(("verb", "modes"), [("map", Modes(map="3-7")), ("discuss", Modes(discuss="3-7"))])
def test_a_verb_that_asks_runs_nothing(verb: str, modes: Modes, capfd: pytest.CaptureFixture[str]) -> None:
    app = PlayedApp()
    code = perform(parse(verb, ["3-7", "--answers", "said.toml", "--max-usd", "2"]), app)

    (asked,) = app.asked
    assert isinstance(asked, RunRequest)
    assert (code, asked.modes, asked.wish, asked.answers, asked.caps.usd) == (11, modes, "", "said.toml", 2.0)
    assert capfd.readouterr().out == "2 questions wait\n"


@pytest.mark.parametrize("words", [["replay"], ["status", "--watch"], ["replay", "2026", "--plain"]], ids=" ".join)
def test_a_run_that_is_over_is_told_where_there_is_no_terminal(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".autopilot").mkdir()
    with SqliteJournal(tmp_path / ".autopilot" / "journal.db", TickingClock()) as journal:
        for stream, entry in feast():
            journal.append(stream, entry.number, entry.event)

    assert main(words) == 0
    assert "--- [PHASE 2/4] Complete: 9.4/10 |" in capfd.readouterr().out


def test_debug_hands_over_the_problem_and_the_commands_that_show_it() -> None:
    app = PlayedApp()
    words = ["the", "total", "is wrong", "--check", "make test", "--check", "false", "--max-usd", "2", "--plain"]

    assert perform(parse("debug", words), app) == END.exit
    (request,) = app.asked
    assert isinstance(request, RunRequest)
    assert (request.symptom, request.checks) == ("the total is wrong", ("make test", "false"))
    assert (request.modes.debug, request.caps.usd) == (True, 2)


def test_a_warning_shows_what_a_command_printed_line_by_line(capfd: pytest.CaptureFixture[str]) -> None:
    warn(f"The test command fails. {'x' * 600}\n    error: \x1b[31mno\x1b[0m module\n    {'y' * 600}\n" + "z\n" * 100)
    first, second, third, *rest = capfd.readouterr().err.splitlines()

    assert first == f"autopilot: warning: The test command fails. {'x' * 600}"
    assert second == "    error: no module"
    assert len(third) < 200
    assert len(rest) < 20
