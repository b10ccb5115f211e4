"""Which criteria are worth running again."""

import pytest

from autopilot.steps.steadiness import runs_something
from support.records import criterion


@pytest.mark.parametrize(
    "command", ["make -s verify", "python3 -m till 2x25.00 | grep -x 45.00", "bash check.sh", 'test "$(bin/a)" = 5']
)
def test_a_command_that_starts_a_program_is_run_again(command: str) -> None:
    assert runs_something(criterion("SC-1", command))


@pytest.mark.parametrize("command", ["test -f a.txt", "grep -q done a.txt && ! grep -q x b.txt", "diff a b | wc -l"])
def test_a_look_at_files_says_the_same_each_time(command: str) -> None:
    assert not runs_something(criterion("SC-1", command))
