"""The demo as a newcomer sees it: one real run through the command line, looked at from all sides."""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from autopilot.cli.demo import sample_project as project
from autopilot.domain.errors import RepositoryInvalid, StorageFailed, UsageInvalid
from support.repos import git

pytestmark = pytest.mark.sandbox


@dataclass(frozen=True, slots=True)
class Shown:
    root: Path
    exit_code: int
    out: str

    def part(self, phase: int) -> str:
        """What the account says of one phase."""
        account = self.out.partition("WHAT HAPPENED")[2]
        return re.split(r"\n\n", account[account.index(f"Phase {phase}: ") :])[0]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    place = tmp_path_factory.mktemp("demo")
    words = [sys.executable, "-m", "autopilot", "demo", "--keep", str(place / "till")]
    env = {**os.environ, "AUTOPILOT_CACHE": str(place / "cache")}
    done = subprocess.run(words, cwd=place, env=env, capture_output=True, text=True, check=False)
    return Shown(place / "till", done.returncode, done.stdout + done.stderr)


def test_the_demo_succeeds(shown: Shown) -> None:
    assert shown.exit_code == 0, shown.out


def test_honest_work_passes_at_once(shown: Shown) -> None:
    assert "passed" in shown.part(1)
    assert "Caught" not in shown.part(1)
    assert "Sent back" not in shown.part(1)


def test_the_untrue_report_stands_beside_the_command_that_refuted_it(shown: Shown) -> None:
    told = shown.part(2)

    assert '1/1 tasks done, "python3 -m unittest -q -> OK, all tests pass"' in told
    assert re.search(r"python3 -m till 2x25\.00 \| grep -x 45\.00 +-> exit code 1", told)
    assert re.search(r"python3 -m unittest -q +-> exit code 1", told)


def test_what_was_caught_is_mended_and_passes_the_same_commands(shown: Shown) -> None:
    told = shown.part(2)

    assert "The fix:" in told
    assert "the same again: 4 of 4 commands passed" in told
    assert git(shown.root, "grep", "-c", ">= LIMIT", "HEAD", "--", "till/discount.py").endswith(":1")


def test_middling_work_is_sent_back_once_and_then_passes(shown: Shown) -> None:
    told = shown.part(3)

    assert [float(score) for score in re.findall(r"A rater gave: +([\d.]+)", told)] == [8.4, 9.3]
    assert told.count("Sent back") == 1
    assert "passed" in told


def test_a_phase_that_fails_as_a_whole_goes_through_the_debug_loop(shown: Shown) -> None:
    """PGAT-03, DBG-05."""
    told = shown.part(4)

    assert "Autopilot ran:  4 of 4 commands passed" in told
    assert re.search(r"Phase checked: +python3 -m till --receipt .* -> exit code 1", told)
    assert "The fix:        till/receipt.py" in told
    assert "Phase checked:  5 of 5 commands passed" in told


def test_work_a_judge_condemns_is_rolled_back_and_kept_aside(shown: Shown) -> None:
    """PGAT-05, RBK-01, RBK-03."""
    assert "Phase 5: Prices with a comma -- rolled back" in shown.part(5)
    assert "the work is kept on autopilot-diagnostic-phase-5" in shown.part(5)
    assert "replace(" in git(shown.root, "show", "autopilot-diagnostic-phase-5:till/items.py")
    assert "replace(" not in (shown.root / "till" / "items.py").read_text(encoding="utf-8")


def test_a_low_score_sends_a_phase_back_to_research(shown: Shown) -> None:
    """PGAT-04."""
    told = shown.part(6)

    assert [float(score) for score in re.findall(r"A rater gave: +([\d.]+)", told)] == [6.2, 9.3]
    assert "researched and planned anew" in told
    assert "max(total - worth" in (shown.root / "till" / "card.py").read_text(encoding="utf-8")


def test_the_users_uncommitted_change_is_untouched(shown: Shown) -> None:
    content = tomllib.loads((files("autopilot.cli.demo") / "project.toml").read_text(encoding="utf-8"))

    assert (shown.root / project.DIRTY).read_text(encoding="utf-8") == content["changed"][project.DIRTY]
    assert git(shown.root, "status", "--porcelain").split() == ["M", project.DIRTY]
    assert "exactly as you left it" in shown.out


def test_history_holds_one_commit_a_task_and_the_planning_files(shown: Shown) -> None:
    subjects = git(shown.root, "log", "--reverse", "--format=%s").splitlines()[1:]

    assert [subject.partition(" - ")[0] for subject in subjects] == [
        "feat(01): 01-01", "feat(01): 01-02", "docs(01): planning files of phase 1",
        "feat(02): 02-01", "docs(02): planning files of phase 2",
        "feat(03): 03-01", "fix(03): 3-R1", "docs(03): planning files of phase 3",
        "feat(04): 04-01", "fix(04): debug attempt 1", "docs(04): planning files of phase 4",
        "feat(06): 06-01", "feat(06): 06-01", "docs(06): planning files of phase 6",
    ]  # fmt: skip


def test_the_places_named_at_the_end_exist(shown: Shown) -> None:
    report = re.search(r"\.autopilot/(archive/run-[\d-]+|state)\.json", shown.out)

    assert report is not None
    assert (shown.root / report[0]).is_file()
    assert list((shown.root / ".autopilot" / "diagnostics").glob("*-postmortem.json"))
    assert f"cd {shown.root}" in shown.out


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine\n")

    with pytest.raises(UsageInvalid) as refused:
        project.make(str(tmp_path))

    assert "is not empty" in refused.value.what
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt"]


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine\n")

    with pytest.raises(StorageFailed):
        project.make(str(tmp_path / "mine.txt"))

    assert (tmp_path / "mine.txt").read_text() == "mine\n"


def test_without_git_the_demo_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RepositoryInvalid) as missing:
        project.make(str(tmp_path / "till"))

    assert "Install git" in missing.value.do


def test_the_users_own_git_settings_do_not_reach_the_sample_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")

    root = project.make(str(tmp_path / "till"))

    assert (root / ".git").is_dir()
    assert not (tmp_path / "elsewhere").exists()
    assert project.log(root).endswith("A till that can read one item")
