"""The command as a process: exit codes, streams, and how little it loads when little is asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autopilot import __version__
from autopilot.authority.places import grant_name
from autopilot.authority.user_folder import user_folder_path
from autopilot.cli import help as usage
from screens.states import phase, state, write_state

HEAVY = {"argparse", "dataclasses", "msgspec", "pathlib", "typing", "subprocess", "inspect", "sqlite3", "datetime"}
SOURCE = str(Path(usage.__file__).parents[2])
REPORT = """
import sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
from autopilot.cli.main import main
main(sys.argv[2:])
print(*(set(sys.modules) - before), file=sys.stderr)
"""


def autopilot(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "autopilot", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def shell(line: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """A shell line in which `autopilot` is the command."""
    whole = f'autopilot() {{ "{sys.executable}" -m autopilot "$@"; }}; {line}'
    return subprocess.run(["bash", "-c", whole], cwd=cwd, capture_output=True, text=True, check=False)


def imported(*words: str, cwd: Path) -> set[str]:
    """The modules a command loads; `-S` keeps the environment from loading any of its own."""
    command = [sys.executable, "-S", "-c", REPORT, SOURCE, *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["run", "--help"], ["bogus", "--help"]], ids=" ".join)
def test_help_is_printed_wherever_it_is_asked_for(words: list[str], tmp_path: Path) -> None:
    done = autopilot(*words, cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, usage.HELP, "")


def test_the_version_is_printed(tmp_path: Path) -> None:
    assert autopilot("--version", cwd=tmp_path).stdout == f"autopilot {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["status"], ["status", "--json"]], ids=" ".join)
def test_what_must_be_fast_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    shown = state(phases={"1": phase("completed")})
    write_state(tmp_path, shown)
    grant = user_folder_path() / grant_name(str(shown["_meta"]["run_id"]), str(tmp_path.resolve()))
    grant.parent.mkdir(parents=True, exist_ok=True)
    grant.touch()

    assert not imported(*words, cwd=tmp_path) & HEAVY


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["status"], 2, ["autopilot: No run found.", "  There is no", "  Start one"]),
        (["status", "--follow"], 2, ["autopilot: Unknown option '--follow' after 'status'.", "  It is not", "  Options of"]),
        (["frobnicate"], 2, ["autopilot: Unknown verb 'frobnicate'.", "  Autopilot does", "  Verbs: "]),
        (["3", "--fast"], 2, ["autopilot: Unknown option '--fast' after 'run'.", "  It is not", "  Options of"]),
        (["rebuild"], 2, ["autopilot: ", "  ", "  "]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_an_error_is_three_lines_and_an_exit_code(words: list[str], code: int, told: list[str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    done = autopilot(*words, cwd=tmp_path)
    shown = done.stderr.splitlines()

    assert (done.returncode, done.stdout, len(shown)) == (code, "", 3)
    assert all(line.startswith(start) for line, start in zip(shown, told, strict=True))


def test_explain_prints_the_tables_in_force(tmp_path: Path) -> None:
    done = autopilot("explain", cwd=tmp_path)

    assert done.returncode == 0
    assert "after_verify: Do all criteria and gates hold" in done.stdout
    assert json.loads(autopilot("explain", "--json", cwd=tmp_path).stdout)["stages"]


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    write_state(tmp_path, state(phases={str(n): phase("completed") for n in range(3000)}))
    done = shell("autopilot status | head -1; echo ${PIPESTATUS[0]}", tmp_path)

    assert (done.stdout.splitlines()[-1], done.stderr) == ("0", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    done = shell("autopilot --help > /dev/full", tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("autopilot: Cannot write to standard output: No space left on device.\n")


def test_closed_streams_are_survived(tmp_path: Path) -> None:
    assert shell("autopilot --version >&- 2>&-", tmp_path).returncode == 0


def test_a_terminal_without_the_letters_shows_question_marks(tmp_path: Path) -> None:
    write_state(tmp_path, state(phases={"1": phase("failed", name="gr\u00f6\u00dfe")}))
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "autopilot", "status"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)

    assert "gr??e" in done.stdout
