"""`autopilot phases` and `autopilot init` as a user types them, on real files."""

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.cli.main import main
from support.repos import ENV, git, write
from support.trusting import trust

ROADMAP = """\
# Roadmap: Notes

## Phases

- [x] **Phase 1: Store notes** - Notes are kept
- [ ] **Phase 2: Show notes** - Notes are shown

## Phase Details

### Phase 1: Store notes
**Goal**: Notes are kept
**Depends on**: Nothing
**Requirements**: REQ-01

### Phase 2: Show notes
**Goal**: Notes are shown
**Depends on**: Phase 1
**Success Criteria** (what must be TRUE):
  1. a page is there
"""
STATE = "**By Phase:**\n\n| Phase | Name | Status | Score |\n|---|---|---|---|\n| 2 | Show notes | Not Started | - |\n"
CSV = "Export reports as CSV files"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    write(tmp_path, {".planning/ROADMAP.md": ROADMAP, ".planning/STATE.md": STATE})
    return tmp_path


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


def typed(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, with nobody at the terminal."""
    command = [sys.executable, "-m", "autopilot", *words]
    return subprocess.run(
        command, cwd=root, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def answered(root: Path, answers: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command at a terminal where somebody types the answers."""
    master, slave = pty.openpty()
    try:
        os.write(master, answers.encode())
        command = [sys.executable, "-m", "autopilot", *words]
        return subprocess.run(command, cwd=root, env=ENV, stdin=slave, capture_output=True, text=True, check=False)
    finally:
        os.close(master)
        os.close(slave)


def told(root: Path, *words: str) -> tuple[int, list[str]]:
    """The same without a process of its own: the exit code and the lines on standard error."""
    out, troubles = io.StringIO(), io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(troubles):
        code = main([*words])
    assert not (code and out.getvalue())
    return code, troubles.getvalue().splitlines()


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted((root / ".planning").rglob("*")) if p.is_file()}


def test_list_as_json_has_the_fields_programs_rely_on(root: Path) -> None:
    seen = json.loads(typed(root, "phases", "list", "--json").stdout)

    assert seen["phases"][1] == {
        "id": "2", "name": "Show notes", "goal": "Notes are shown", "status": "not_started",
        "depends_on": ["1"], "requirements": [], "line": 15, "milestone": "", "successor": "", "plans": 0, "plans_done": 0, "plans_unreadable": 0,
    }  # fmt: skip
    assert (seen["phases"][0]["status"], seen["phases"][0]["requirements"]) == ("completed", ["REQ-01"])
    assert seen["findings"] == []


def test_list_is_a_table_that_fits_a_terminal(root: Path) -> None:
    long = ROADMAP.replace("Show notes", "显示笔记 " * 40)
    write(root, {".planning/ROADMAP.md": long})
    done = typed(root, "phases")

    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == [
        "Phase  Status       Needs  Name",
        "1      completed    -      Store notes",
    ]
    assert max(len(line) + sum(ord(letter) > 0x2E80 for letter in line) for line in done.stdout.splitlines()) <= 80


def test_check_tells_every_finding_with_its_line(root: Path) -> None:
    write(root, {".planning/ROADMAP.md": ROADMAP + "\n### Phase 3: Stub\n**Goal**: TBD\n**Depends on**: Phase 9\n"})
    done = typed(root, "phases", "check")

    assert done.returncode == 0
    assert ".planning/ROADMAP.md:21: warning: phase 3 depends on phase 9" in done.stdout
    assert ".planning/ROADMAP.md:21: warning: phase 3 has no goal yet" in done.stdout
    assert ".planning/ROADMAP.md:19: info: phase 2, SC-1 has no command that proves it" in done.stdout


def test_check_leaves_with_2_for_phases_that_wait_for_each_other(root: Path) -> None:
    write(root, {".planning/ROADMAP.md": ROADMAP.replace("Depends on**: Nothing", "Depends on**: Phase 2")})
    done = typed(root, "phases", "check", "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout)["errors"] == 1
    assert any(found["severity"] == "error" and found["line"] for found in json.loads(done.stdout)["findings"])


def test_add_then_remove_gives_both_files_back(root: Path) -> None:
    before = files(root)
    done = typed(root, "phases", "add", CSV, "--depends", "1,2", "--criterion", "3 columns", "--json")
    grown = files(root)
    removed = typed(root, "phases", "remove", "3", "--yes")

    assert json.loads(done.stdout)["phase"]["depends_on"] == ["1", "2"]
    assert json.loads(done.stdout)["files"] == [".planning/ROADMAP.md", ".planning/STATE.md"]
    assert b"| 3 | Export reports as CSV files | Not Started | - |\n" in grown[".planning/STATE.md"]
    assert removed.returncode == 0
    assert files(root) == before


def test_insert_keeps_windows_line_ends(root: Path) -> None:
    content = b"\xef\xbb\xbf" + ROADMAP.replace("\n", "\r\n").encode().rstrip()
    (root / ".planning/ROADMAP.md").write_bytes(content)
    done = typed(root, "phases", "insert", "1", "Urgent repair of storage")
    grown = (root / ".planning/ROADMAP.md").read_bytes()
    typed(root, "phases", "remove", "1.1", "--yes")

    assert done.stdout == "Added phase 1.1: Urgent repair of storage (.planning/ROADMAP.md)\n"
    assert grown.count(b"\n") == grown.count(b"\r\n") > content.count(b"\r\n")
    assert b"\r\n### Phase 1.1: Urgent repair of storage *(INSERTED)*\r\n**Goal**: [To be planned]\r\n" in grown
    assert (root / ".planning/ROADMAP.md").read_bytes() == content


BAD = {
    "no text": (("phases", "add"), "required: TEXT"),
    "one word": (("phases", "add", "Login"), "too short to name a phase"),
    "unknown dependency": (("phases", "add", CSV, "--depends", "7"), "There is no phase '7'"),
    "vague criterion": (("phases", "add", CSV, "--criterion", "works as intended"), "nothing that can be checked"),
    "said already": (("phases", "add", "Notes are kept, store notes"), "Phase 1 (Store notes) already says"),
    "unknown parent": (("phases", "insert", "7", CSV), "There is no phase '7'"),
    "unknown phase": (("phases", "remove", "7", "--yes"), "There is no phase '7'"),
    "nobody confirms": (("phases", "remove", "2"), "nobody confirmed it"),
    "unknown verb": (("phases", "rename", "2"), "Unknown word 'rename' after 'phases'"),
    "unknown option": (("phases", "list", "--yes"), "Unknown option '--yes'"),
    "init over files": (("init", "--goal", "x", "--phase", "y"), "has planning files already"),
}


@pytest.mark.parametrize(("words", "what"), BAD.values(), ids=BAD)
def test_what_cannot_be_done_is_told_in_three_lines_and_changes_nothing(
    root: Path, words: tuple[str, ...], what: str
) -> None:
    before = files(root)
    code, lines = told(root, *words)

    assert (code, len(lines)) == (2, 3)
    assert what in lines[0]
    assert files(root) == before


def test_an_overlap_is_added_when_it_is_meant(root: Path) -> None:
    assert told(root, "phases", "add", "Store notes", "--anyway")[0] == 0


@pytest.mark.parametrize("text", [None, "# Roadmap\n\nSoon.\n"], ids=["no file", "no phases"])
@pytest.mark.parametrize("verb", ["list", "check"])
def test_no_phases_is_an_error(root: Path, text: str | None, verb: str) -> None:
    path = root / ".planning/ROADMAP.md"
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    code, lines = told(root, "phases", verb)

    assert (code, len(lines)) == (2, 3)


def test_the_folder_of_a_removed_phase_is_kept_and_not_inherited(root: Path) -> None:
    write(root, {".planning/phases/03-old/PLAN.md": "old\n"})
    code, lines = told(root, "phases", "add", CSV)

    assert code == 2
    assert "The folder .planning/phases/03-old of an earlier phase 3 still exists" in lines[0]
    assert (root / ".planning/phases/03-old/PLAN.md").exists()


@pytest.mark.parametrize(("answer", "code"), [("yes\n", 0), ("y\n", 2), ("\n", 2)], ids=["yes", "y", "nothing"])
def test_remove_asks_at_the_terminal_and_warns(root: Path, answer: str, code: int) -> None:
    before = files(root)
    done = answered(root, answer, "phases", "remove", "1")

    assert done.returncode == code
    assert "phase 1 is completed" in done.stderr
    assert "phase 2 depends on it" in done.stderr
    assert (files(root) == before) == (code != 0)


def test_a_roadmap_behind_a_link_is_edited_where_it_lies(root: Path) -> None:
    place = root / ".planning/ROADMAP.md"
    place.rename(root / "real.md")
    place.symlink_to("../real.md")

    assert told(root, "phases", "add", CSV)[0] == 0
    assert place.is_symlink()
    assert b"Phase 3" in (root / "real.md").read_bytes()


def test_init_from_a_file_passes_its_own_check(empty: Path) -> None:
    plan = 'goal = "Keep notes."\n[[phases]]\nname = "Store"\ncriteria = ["kept - verified by `make test`"]\n'
    write(empty, {"plan.toml": plan, "Makefile": "test:\n\ttrue\n"})
    done = typed(empty, "init", "--from-file", "plan.toml", "--name", "Notes")

    assert done.returncode == 0
    assert sorted(files(empty)) == [f".planning/{n}" for n in ("PROJECT.md", "REQUIREMENTS.md", "ROADMAP.md", "config.json")]  # fmt: skip
    assert json.loads(files(empty)[".planning/config.json"])["project"]["commands"]["test"] == "make test"
    assert typed(empty, "phases", "check").returncode == 5
    trust(empty)
    assert typed(empty, "phases", "check").stdout == ".planning/ROADMAP.md: 0 errors, 0 warnings, 0 remarks\n"


def test_init_cut_off_half_way_can_be_run_again(empty: Path) -> None:
    words = ("init", "--goal", "Keep notes", "--phase", "Store: Notes are kept", "--phase", "Show: Notes are shown")
    told(empty, *words)
    whole = files(empty)
    (empty / ".planning/ROADMAP.md").unlink()

    assert told(empty, *words)[0] == 0
    assert files(empty) == whole
    assert told(empty, *words)[0] == 2


def test_init_asks_at_the_terminal(empty: Path) -> None:
    answers = "Notes\nKeep notes.\nStore: Notes are kept\nkept - verified by `make test`\nShow notes\n\n\nyes\n"
    done = answered(empty, answers, "init")

    assert done.returncode == 0
    assert "You would agree to:\n\n  roadmap  1 command\n" in done.stderr
    assert app.trust_of(str(empty)).trusted
    shown = json.loads(typed(empty, "phases", "list", "--json").stdout)["phases"]
    assert [(p["name"], p["goal"]) for p in shown] == [("Store", "Notes are kept"), ("Show notes", "Show notes")]


# Where the tests themselves were started in the background, Ctrl-C is ignored, and children inherit that.
HEEDING_CTRL_C = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("autopilot", run_name="__main__", alter_sys=True)
"""


def test_leaving_a_question_changes_nothing(empty: Path) -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-c", HEEDING_CTRL_C, "init"]
    with subprocess.Popen(command, cwd=empty, env=ENV, stdin=slave, stderr=subprocess.PIPE) as asking:
        assert asking.stderr is not None
        said = b""
        while not said.endswith(b"]: "):
            said += asking.stderr.read(1)
        asking.send_signal(signal.SIGINT)
        assert b"Cancelled.\n  Nothing was changed." in asking.stderr.read()
    os.close(master)
    os.close(slave)
    assert asking.returncode == 130
    assert not (empty / ".planning").exists()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("init",), "There is no terminal"),
        (("init", "--from-file", "absent.toml"), "There is no file absent.toml"),
    ],
    ids=["nobody to ask", "no such file"],
)
def test_init_without_answers_writes_nothing(empty: Path, words: tuple[str, ...], what: str) -> None:
    code, lines = told(empty, *words)

    assert (code, len(lines)) == (2, 3)
    assert what in lines[0]
    assert not (empty / ".planning").exists()
