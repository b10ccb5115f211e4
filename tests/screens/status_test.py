"""What `autopilot status` shows."""

import fcntl
import json
from pathlib import Path

import pytest

from autopilot.cli.verbs.status import show
from autopilot.domain.errors import RepositoryInvalid, UsageInvalid
from screens.states import phase, state, write_state

STATE = state(
    phases={
        "1": phase("completed", alignment_score=9.4),
        "2.1": phase(
            "failed", reason="`python -m unittest` exited 1\x1b[31m (tests/test_greeting.py) and then more happened"
        ),
        "3": phase("in_progress", name="Farewell"),
        "4": phase("skipped", reason="blocked_by_phase_2.1"),
        "5": phase("needs_human_verification", reason="look at it", unanchored=True),
        "6": phase(),
    }
)


def screen(root: Path) -> list[str]:
    return show(as_json=False, folder=str(root)).splitlines()


def test_a_run_is_shown_in_eighty_columns(tmp_path: Path) -> None:
    write_state(tmp_path, STATE)
    shown = screen(tmp_path)

    assert max(map(len, shown)) <= 80
    assert shown == [
        "Run run-2026-02-09-143052: interrupted",
        "Spec: .planning/ROADMAP.md",
        "Now: phase 3, execute",
        "",
        "Phase  Status          Score  Name, reason",
        "1      completed         9.4  Greeting",
        "2.1    failed              -  Greeting: `python -m unittest` exited 1 (tests/...",
        "3      in progress         -  Farewell",
        "4      skipped             -  Greeting: blocked by phase 2.1",
        "5      needs a person      -  Greeting: unanchored: look at it",
        "6      not started         -  Greeting",
        "",
        "4/6 phases over: 1 completed, 1 failed, 1 in progress, 1 skipped",
        "  1 needs a person, 1 not started",
        "To continue: autopilot resume",
    ]


def test_a_run_whose_lock_is_held_is_running(tmp_path: Path) -> None:
    write_state(tmp_path, STATE)
    with (tmp_path / ".autopilot" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        assert screen(tmp_path)[0] == "Run run-2026-02-09-143052: running"


def test_json_is_the_file_itself(tmp_path: Path) -> None:
    write_state(tmp_path, STATE)

    assert json.loads(show(as_json=True, folder=str(tmp_path))) == STATE


def test_a_broken_file_is_read_from_its_backup(tmp_path: Path) -> None:
    write_state(tmp_path, '{"_meta": {"run')
    write_state(tmp_path, state("failed"), "state.json.backup")

    assert screen(tmp_path)[0] == "Run run-2026-02-09-143052: failed"


def test_a_finished_run_is_found_in_the_archive_newest_first(tmp_path: Path) -> None:
    for name in ("run-2026-02-09-143052", "run-2026-02-09-143052-2", "run-2025-12-31-000000"):
        done = state("completed", {"1": phase("completed")})
        done["_meta"]["run_id"] = name
        write_state(tmp_path, done, f"archive/{name}.json")

    assert screen(tmp_path)[0] == "Run run-2026-02-09-143052-2: completed"


def test_status_works_from_a_folder_below(tmp_path: Path) -> None:
    write_state(tmp_path, STATE)
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)

    assert screen(below) == screen(tmp_path)


def test_without_a_run_it_says_so(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    with pytest.raises(UsageInvalid, match=r"No run found\.") as caught:
        show(as_json=False, folder=str(tmp_path))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "content", ["", "[]", '{"tool": "another"}', "{" * 50_000], ids=["empty", "a list", "foreign", "deep"]
)
def test_a_file_nobody_can_read_is_an_error_with_a_way_out(tmp_path: Path, content: str) -> None:
    write_state(tmp_path, content)

    with pytest.raises(RepositoryInvalid) as caught:
        show(as_json=False, folder=str(tmp_path))
    assert "autopilot rebuild" in caught.value.do


@pytest.mark.parametrize("odd", [{"phases": []}, {"phases": {"1": None}}, {"spec": 3}, {"_meta": {}}], ids=str)
def test_odd_content_does_not_break_the_screen(tmp_path: Path, odd: dict[str, object]) -> None:
    write_state(tmp_path, STATE | odd)

    assert screen(tmp_path)[0].startswith("Run ")


def test_what_is_used_of_each_cap_is_shown_and_unknown_is_no_zero(tmp_path: Path) -> None:
    spending = {
        "usd": {"used": None, "cap": 100.0},
        "tokens": {"used": 12_345, "cap": 5_000_000},
        "minutes": {"used": 3.5, "cap": 1440.0},
    }
    breaker = {"state": "open", "reason": "no_progress: 3 tries in a row brought nothing new"}
    write_state(tmp_path, {**STATE, "spending": spending, "circuit_breaker": breaker})
    shown = screen(tmp_path)

    assert "Used: unknown dollars of $100.00, 12345 of 5000000 tokens, 3.5 of 1440 minutes" in shown
    assert "Breaker: open, no_progress: 3 tries in a row brought nothing new" in shown


def test_what_was_estimated_stands_beside_what_is_used(tmp_path: Path) -> None:
    begun = phase("completed", estimated_tokens=100_000, tokens_used=150_000)
    later = phase(estimated_tokens=None, tokens_used=0)
    write_state(tmp_path, state(phases={"1": begun, "2": later}))

    assert "Estimated: 100000 tokens for the phases begun; used: 150000 (150 %)" in screen(tmp_path)


def test_no_comparison_is_made_with_what_nobody_told(tmp_path: Path) -> None:
    write_state(tmp_path, state(phases={"1": phase("completed", estimated_tokens=100_000, tokens_used=0)}))

    assert not any(line.startswith("Estimated") for line in screen(tmp_path))
