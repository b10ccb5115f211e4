"""Receipts of real runs: written, shown, and checked from a fresh clone that has no journal."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.cli.main import main
from autopilot.domain.errors import Interrupted
from autopilot.domain.events import Entry, LandingStarted, PhaseFinished, PhaseLanded
from autopilot.domain.receipt import Recheck
from support.project import make_project, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven
from support.trusting import trust
from support.waiting import soon

DIR = ".planning/phases/01-letter-1"
RECEIPT = f"{DIR}/RECEIPT.json"
ROADMAP = """# Roadmap

### Phase 1: Letter 1
**Goal**: Write letter 1.
**Success Criteria** (what must be TRUE):
  1. The letter is there -- verified by: `date +%s%N; grep -q done letter1.txt`
  2. The project's check passes -- verified by: `bash check.sh`
"""
ANSWERS = [
    *reviews(),
    plan_answer("1", [("letter1.txt", "done")]),
    work_answer("1", "01-01", "letter1.txt", "done\n"),
]


@pytest.fixture(scope="module")
def finished() -> Iterator[Drive]:
    """One passed phase whose work also touched the check that a criterion runs."""
    with pytest.MonkeyPatch.context() as patch:
        memory = Path("/dev/shm")
        folder = Path(tempfile.mkdtemp(prefix="autopilot-receipt-", dir=memory if os.access(memory, os.W_OK) else None))
        patch.setenv("AUTOPILOT_CACHE", str(folder / "cache"))
        more = work_answer("1", "01-01", "letter1.txt", "done\n")
        more["write"]["check.sh"] = "# the letter must exist\ntest -e README.md\ntest -e letter1.txt\n"
        drive = Drive(make_project(folder / "project", [*ANSWERS[:-1], more], ROADMAP))
        config = {"project": {"commands": {"test": "test -e README.md"}}}
        write(drive.root, {"check.sh": "test -e README.md\n", ".planning/config.json": json.dumps(config)})
        git(drive.root, "add", "-A")
        git(drive.root, "commit", "-q", "-m", "a check")
        assert drive.run().exit == 0
        yield drive
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def clone(finished: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another machine: the repository and nothing else."""
    git(tmp_path, "clone", "-q", str(finished.root), "clone")
    monkeypatch.setenv("AUTOPILOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "clone")
    trust(tmp_path / "clone")
    return tmp_path / "clone"


def check(clone: Path, *more: str) -> int:
    return main(["receipt", "check", "1", "--sandbox", "none", *more])


def edited(clone: Path, edit: Callable[[Any], object]) -> None:
    data = json.loads((clone / RECEIPT).read_text())
    edit(data)
    (clone / RECEIPT).write_text(json.dumps(data))


def test_a_fresh_clone_comes_to_the_same_end(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert check(clone, "--json") == 0
    done = json.loads(capfd.readouterr().out)

    assert done["same"]
    assert "SC-2.old" in {row["name"] for row in done["repeated"]}
    assert any("prints something else" in note for note in done["notes"])
    assert git(clone, "status", "--porcelain") == ""
    assert not (clone / ".autopilot").exists()


def test_a_check_that_was_killed_leaves_nothing_behind_the_next_one(clone: Path, tmp_path: Path) -> None:
    def folders() -> list[Path]:
        return list((tmp_path / "cache").glob("autopilot-scratch-*"))

    words = [sys.executable, "-m", "autopilot", "receipt", "check", "1", "--sandbox", "none"]
    with subprocess.Popen(words, cwd=clone, stdout=subprocess.DEVNULL) as killed:
        assert soon(lambda: bool(folders()))
        killed.kill()
    assert folders()

    assert check(clone) == 0
    assert folders() == []


@pytest.mark.sandbox
def test_without_a_sandbox_foreign_commands_are_not_run_unless_asked_for(clone: Path) -> None:
    assert main(["receipt", "check", "1"]) == (0 if app.has_sandbox() else 4)


EDITS: dict[str, Callable[[Any], object]] = {
    "an exit code": lambda d: d["predicate"]["autopilot"]["runs"][0].update(exitCode=0, passed=True),
    "a command": lambda d: d["predicate"]["autopilot"]["runs"][-1].update(command="exit 7"),
    "a tree": lambda d: d["predicate"]["autopilot"]["runs"][-1].update(tree="0" * 40),
    "what was put back": lambda d: d["predicate"]["autopilot"]["runs"][-1].update(restored=["letter1.txt"]),
    "the hash of a test": lambda d: d["predicate"]["autopilot"]["frozenTests"][0].update(sha256="0" * 64),
    "a commit of a run": lambda d: d["predicate"]["autopilot"]["runs"][0].update(commit="1" * 40),
    "a gate that is none": lambda d: d["predicate"]["autopilot"]["runs"][0].update(kind="gate", check="__class__"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_changed_receipt_does_not_hold(edit: Callable[[Any], object], clone: Path) -> None:
    edited(clone, edit)

    assert check(clone) == 10


def runs(data: Any, name: str) -> list[Any]:
    return [run for run in data["predicate"]["autopilot"]["runs"] if run["check"].removesuffix(".old") == name]


def weakened(name: str) -> Callable[[Any], None]:
    """Another command that ends as the one it stands for did: run again, it agrees."""

    def edit(data: Any) -> None:
        for run in runs(data, name):
            run["command"] = "true" if run["passed"] else f"exit {run['exitCode']}"

    return edit


def dropped(name: str) -> Callable[[Any], None]:
    def edit(data: Any) -> None:
        proof, predicate = data["predicate"]["autopilot"], data["predicate"]
        proof["runs"] = [run for run in proof["runs"] if run not in runs(data, name)]
        gone = {name, f"{name}.old", f"gate:{name}"}
        predicate["passedTests"] = [test for test in predicate["passedTests"] if test not in gone]

    return edit


def added(kind: str, name: str) -> Callable[[Any], None]:
    def edit(data: Any) -> None:
        last = data["predicate"]["autopilot"]["runs"][-1]
        more = {**last, "kind": kind, "check": name, "command": "true", "expect": {}, "restored": []}
        data["predicate"]["autopilot"]["runs"].append(more)
        data["predicate"]["passedTests"].append(f"gate:{name}" if kind == "gate" else name)

    return edit


def expecting(name: str, **expect: Any) -> Callable[[Any], None]:
    def edit(data: Any) -> None:
        for run in runs(data, name):
            run["expect"] = expect

    return edit


def swapped(what: str, **source: str) -> Callable[[Any], None]:
    def edit(data: Any) -> None:
        for found in data["predicate"]["autopilot"]["sources"]:
            found.update(source if found["what"] == what else {})

    return edit


FORGED: dict[str, tuple[Callable[[Any], None], str]] = {
    "a criterion weakened": (weakened("SC-1"), "SC-1 is altered: `true` instead of `date"),
    "a criterion dropped": (dropped("SC-2"), "SC-2 is missing: `bash check.sh`"),
    "a criterion added": (added("criterion", "SC-9"), "SC-9 is extra: no criterion asks for `true`"),
    "an expectation changed": (expecting("SC-2", form="text", text=""), "SC-2 is altered: `bash check.sh` (expects '')"),
    "a gate weakened": (weakened("test"), "gate:test is altered: `true` instead of `test -e README.md`"),
    "a gate dropped": (dropped("test"), "gate:test is missing: `test -e README.md`"),
    "a gate added": (added("gate", "lint"), "gate:lint is extra"),
    "a task's criterion weakened": (weakened("01-01.1"), "01-01.1 is altered"),
    "a test of a task dropped": (dropped("01-01.2"), "01-01.2 is missing"),
    "the plan swapped": (swapped("plan", blob="1" * 40), "plan 111111111111 is not .planning/phases/01-letter-1/PLAN.md"),
    "the roadmap swapped": (swapped("roadmap", blob="1" * 40), "the roadmap at "),
    "another file for the config": (swapped("config", path="other.json"), "the config at "),
    "no roadmap": (
        lambda d: d["predicate"]["autopilot"].update(sources=d["predicate"]["autopilot"]["sources"][1:]),
        "the receipt names none",
    ),
    "a gate said not to run": (
        lambda d: (dropped("test")(d), d["predicate"]["autopilot"].update(unused={"test": "no such program"}))[0],
        "gate:test is missing",
    ),
    "another beginning": (lambda d: d["predicate"]["autopilot"].update(begun="1" * 40), "commit 111111111111 is not in"),
}  # fmt: skip


@pytest.mark.parametrize(("edit", "told"), FORGED.values(), ids=FORGED)
def test_a_receipt_with_other_commands_than_the_project_s_is_told(
    edit: Callable[[Any], None], told: str, clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each agrees with itself, and its commands end again as it says."""
    edited(clone, edit)

    assert check(clone, "--json") == 10
    done = json.loads(capfd.readouterr().out)
    assert any(told in difference for difference in done["differences"]), done["differences"]
    assert done["finding"] == "differs"


def test_a_plan_that_is_not_the_one_of_then_is_noticed(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plan = clone / DIR / "PLAN.md"
    plan.write_text(plan.read_text().replace("letter1.txt", "README.md"))
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "another plan")

    assert check(clone) == 10
    assert "its criteria cannot be compared" in capfd.readouterr().out


def made_with(place: Path, files: dict[str, str], roadmap: str = ROADMAP) -> Drive:
    drive = Drive(make_project(place / "project", ANSWERS, roadmap))
    write(drive.root, {"check.sh": "test -e README.md\n", **files})
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-q", "-m", "more")
    return drive


def test_a_detected_gate_may_be_left_out_only_where_it_does_not_run(place: Path) -> None:
    """The receipt says why; where the same gate does run, leaving it out is a difference."""
    makefile = "test:\n\ttest -e README.md\nlint:\n\tno-such-linter-here .\n"
    drive = made_with(place, {"Makefile": makefile})
    assert drive.run().exit == 0
    done, data = held(drive), json.loads(drive.reads(RECEIPT))

    assert list(data["predicate"]["autopilot"]["unused"]) in ([], ["lint"])
    assert done.differences == ()
    dropped("test")(data)
    data["predicate"]["autopilot"]["unused"]["test"] = "no such program"
    (place / "forged.json").write_text(json.dumps(data))
    forged = app.check_receipt(str(drive.root), "1", str(place / "forged.json"), "none", print)
    assert any("gate:test was left out, as if it did not run; here it does" in told for told in forged.differences)


def test_planning_files_that_git_does_not_have_are_those_of_the_checkout(place: Path) -> None:
    drive = made_with(place, {})
    git(drive.root, "rm", "-rq", "--cached", ".planning")
    write(drive.root, {".gitignore": ".planning/\n"})
    git(drive.root, "add", ".gitignore")
    git(drive.root, "commit", "-q", "-m", "keep planning to myself")
    assert drive.run().exit == 0
    assert held(drive).differences == ()
    assert any("not in the base commit" in note for note in held(drive).notes)

    weaker = (drive.root / ".planning/ROADMAP.md").read_text().replace("bash check.sh", "test -e README.md")
    (drive.root / ".planning/ROADMAP.md").write_text(weaker)
    differences = held(drive).differences
    assert any("SC-2 is altered: `bash check.sh` instead of `test -e" in told for told in differences), differences


def test_unsigned_is_reproduced_and_never_more(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert check(clone) == 0
    text = capfd.readouterr().out
    assert check(clone, "--json") == 0
    done = json.loads(capfd.readouterr().out)

    assert "Phase 1: reproduced." in text
    assert (done["finding"], done["signer"]) == ("reproduced", "")
    assert "quoted from reviewers and not checked" in text
    for word in ("verified", "holds"):
        assert word not in text.lower()
        assert word not in json.dumps(done).lower()


def test_other_line_ends_are_no_difference(clone: Path) -> None:
    test = clone / DIR / "tests" / "task-01-01.sh"
    test.write_bytes(test.read_bytes().replace(b"\n", b"\r\n"))

    assert check(clone) == 0


def test_a_changed_test_file_is_noticed(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(clone, {f"{DIR}/tests/task-01-01.sh": "exit 0\n"})

    assert check(clone) == 10
    assert "task-01-01.sh is not the file that was run" in capfd.readouterr().out


BAD: dict[str, Callable[[Path], object]] = {
    "nothing in it": lambda c: (c / RECEIPT).write_bytes(b""),
    "no receipt": lambda c: (c / RECEIPT).write_text('{"a": 1}'),
    "bytes": lambda c: (c / RECEIPT).write_bytes(b"\xff\xfe\x00"),
    "deep": lambda c: (c / RECEIPT).write_text("[" * 100_000),
    "another predicate": lambda c: edited(c, lambda d: d.update(predicateType="https://slsa.dev/provenance/v1")),
    "a newer schema": lambda c: edited(c, lambda d: d["predicate"]["autopilot"].update(schema=99)),
    "an unknown commit": lambda c: edited(c, lambda d: d["predicate"]["autopilot"].update(commit="1" * 40)),
    "an option for git": lambda c: edited(c, lambda d: d["predicate"]["autopilot"].update(commit="--help")),
    "a path that leads out": lambda c: edited(
        c, lambda d: d["predicate"]["autopilot"]["frozenTests"][0].update(path=".planning/../../x")
    ),
    "endless time": lambda c: edited(c, lambda d: d["predicate"]["autopilot"]["limits"].update(gateSeconds=1e12)),
}


@pytest.mark.parametrize("spoil", BAD.values(), ids=BAD)
def test_bad_input_is_refused_in_three_lines(
    spoil: Callable[[Path], object], clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spoil(clone)
    shutil.copy(clone / RECEIPT, clone / "given.json")

    assert check(clone, "--file", "given.json") == 2
    assert len(capfd.readouterr().err.strip().splitlines()) == 3


@pytest.mark.parametrize(
    "words", [["7"], ["../x"], ["2", "--file", RECEIPT], ["1", "--file", "missing.json"]], ids=" ".join
)
def test_the_wrong_phase_or_file_is_refused(words: list[str], clone: Path) -> None:
    assert main(["receipt", "check", *words]) == 2


def test_show_tells_it_to_people_and_to_programs(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["receipt", "show"]) == 0
    assert "WARNED" in capfd.readouterr().out
    assert main(["receipt", "show", "01"]) == 0
    page = capfd.readouterr().out
    assert main(["receipt", "show", "1", "--json"]) == 0

    assert "bash check.sh" in page
    assert git(clone, "rev-parse", "HEAD~1") in page
    assert capfd.readouterr().out == (clone / RECEIPT).read_text()


def test_the_journal_gives_the_same_bytes_at_any_time(finished: Drive) -> None:
    written = finished.reads(RECEIPT)
    (finished.root / RECEIPT).unlink()

    computed = app.receipt(str(finished.root), "1").text
    git(finished.root, "checkout", "--", RECEIPT)

    assert computed == written == finished.reads(RECEIPT)


def test_where_the_journal_is_a_changed_receipt_is_denied_by_it(finished: Drive, tmp_path: Path) -> None:
    data = json.loads(finished.reads(RECEIPT))
    data["predicate"]["autopilot"]["score"] = 10.0
    (tmp_path / "receipt.json").write_text(json.dumps(data))

    done = app.check_receipt(str(finished.root), "1", str(tmp_path / "receipt.json"), "none", print)

    assert done.differences == ("the journal of its run gives another receipt",)


def test_a_journal_of_somebody_else_has_no_say(
    finished: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for a receipt nor against one."""
    data = json.loads(finished.reads(RECEIPT))
    data["predicate"]["autopilot"]["score"] = 10.0
    (tmp_path / "receipt.json").write_text(json.dumps(data))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    trust(finished.root)

    done = app.check_receipt(str(finished.root), "1", str(tmp_path / "receipt.json"), "none", print)

    assert done.differences == ()


def held(drive: Drive) -> Recheck:
    return app.check_receipt(str(drive.root), "1", None, "none", print)


def test_a_failed_phase_has_a_receipt_that_holds(place: Path) -> None:
    drive = driven(place, [*ANSWERS[:-1], {"role": "execute", "result": {}}, {"role": "debug", "result": {}}])

    assert drive.run().exit == 10
    assert json.loads(drive.reads(RECEIPT))["predicate"]["result"] == "FAILED"
    assert held(drive).differences == ()


@pytest.mark.parametrize("moment", [PhaseFinished, LandingStarted, PhaseLanded], ids=lambda kind: kind.__name__)
def test_cut_off_around_landing_the_receipt_is_the_same(moment: type, place: Path) -> None:
    drive = driven(place, ANSWERS)

    def cut(entry: Entry) -> None:
        if isinstance(entry.event, moment):
            drive.meanwhile = lambda _: None
            raise Interrupted

    drive.meanwhile = cut
    with pytest.raises(Interrupted):
        drive.run()

    assert drive.resume().exit == 0
    assert git(drive.root, "status", "--porcelain") == ""
    assert drive.reads(RECEIPT) == git(drive.root, "show", f"HEAD:{RECEIPT}") + "\n"
    assert held(drive).same


@pytest.fixture
def signing(place: Path) -> Drive:
    """A project whose user signs with a key of ssh."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    drive = driven(place, ANSWERS)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / "key"], check=True)
    (place / "signers").write_text(f"ada@example.org {(place / 'key.pub').read_text()}")
    git(drive.root, "config", "gpg.format", "ssh")
    git(drive.root, "config", "user.signingkey", str(place / "key.pub"))
    git(drive.root, "config", "gpg.ssh.allowedSignersFile", str(place / "signers"))
    write(drive.root, {".planning/config.json": '{"receipts": {"sign": true}}\n'})
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-q", "-m", "sign receipts")
    return drive


def test_a_signed_receipt_names_its_signer_and_a_changed_one_fails(signing: Drive) -> None:
    assert signing.run().exit == 0
    assert git(signing.root, "status", "--porcelain") == ""
    assert held(signing).signature.startswith("good: ada@example.org")
    assert held(signing).finding == "signed by ada@example.org, reproduced"

    (signing.root / RECEIPT).write_text(signing.reads(RECEIPT) + " ")

    assert held(signing).signature.startswith("bad")


def test_a_missing_key_is_a_warning_and_the_run_goes_on(signing: Drive) -> None:
    git(signing.root, "config", "user.signingkey", "/nonexistent/key")

    assert signing.run().exit == 0
    assert sum("Receipts are not signed" in warning for warning in signing.warnings) == 1
    assert not (signing.root / f"{RECEIPT}.sig").exists()
