"""Where agents' programs are started, and with what."""

from pathlib import Path

import pytest

from autopilot.agents.wrappers import passing_on
from autopilot.domain.errors import StorageFailed
from autopilot.domain.process import Job
from support.processes import PlainProcesses


@pytest.mark.parametrize("left", ["nothing", "a link", "a file"])
def test_no_program_is_started_where_an_agent_left_something_else_than_its_folder(tmp_path: Path, left: str) -> None:
    (tmp_path / "users").mkdir()
    folder = tmp_path / "folder"
    if left != "nothing":
        folder.symlink_to("users") if left == "a link" else folder.touch()
    plain = PlainProcesses()

    with pytest.raises(StorageFailed, match="in its place"):
        passing_on(plain, (), {}).run(Job(argv=("true",), cwd=str(folder)))
    assert plain.jobs == []
