"""Written answers: which one is played, and what the file may say."""

from pathlib import Path

import pytest

from autopilot.agents.scripted import ScriptedAgent
from autopilot.domain.agent_call import Call, PhaseRef, Reply, Role, TaskRef
from autopilot.domain.errors import ConfigInvalid


def agent(tmp_path: Path, text: str) -> ScriptedAgent:
    path = tmp_path / "script.toml"
    path.write_text(text, encoding="utf-8")
    return ScriptedAgent.from_file(path)


def ask(
    agent: ScriptedAgent, folder: Path, role: Role = "execute", task: str | None = "02-01", attempt: int = 1
) -> Reply:
    call = Call(
        id="r/2/execute/1",
        role=role,
        prompt="",
        answer_schema={},
        phase=PhaseRef(id="2", name="Two", type="mixed", dir=".planning/phases/02-two"),
        task=TaskRef(id=task, title="t") if task else None,
        attempt=attempt,
        folder=str(folder),
        seconds=1,
    )
    return agent.call(call, lambda _: None)


SEVERAL = """
[[answer]]
role = "execute"
[answer.result]
n = 0
[[answer]]
role = "execute"
phase = "2"
[answer.result]
n = 1
[[answer]]
role = "execute"
task = "02-01"
[answer.result]
n = 2
[[answer]]
role = "execute"
task = "02-01"
attempt = 2
[answer.result]
n = 3
[[answer]]
role = "execute"
phase = "9"
task = "02-01"
attempt = 1
[answer.result]
n = 4
"""


@pytest.mark.parametrize(
    ("task", "attempt", "n"),
    [("02-01", 1, 1), ("02-01", 2, 3), ("02-07", 1, 1), (None, 1, 1)],
    ids=["of equals the first", "the most precise", "another task", "no task"],
)
def test_the_most_precise_entry_that_fits_is_played(tmp_path: Path, task: str | None, attempt: int, n: int) -> None:
    assert ask(agent(tmp_path, SEVERAL), tmp_path, task=task, attempt=attempt).answer == f'{{"n": {n}}}'


def test_a_call_nobody_wrote_an_answer_for_is_named(tmp_path: Path) -> None:
    reply = ask(agent(tmp_path, SEVERAL), tmp_path, role="judge", attempt=3)

    assert reply.outcome == "bad_output"
    assert "role 'judge', phase '2', task '02-01', attempt 3" in reply.text


def test_files_are_written_removed_and_made_executable(tmp_path: Path) -> None:
    (tmp_path / "old.py").touch()
    script = """
        [[answer]]
        role = "execute"
        remove = ["old.py"]
        executable = ["run.sh"]
        [answer.write]
        "run.sh" = "#!/bin/sh"
        "{dir}/PLAN.md" = "# Plan"
    """
    assert ask(agent(tmp_path, script), tmp_path).outcome == "ok"

    assert not (tmp_path / "old.py").exists()
    assert (tmp_path / "run.sh").stat().st_mode & 0o100
    assert (tmp_path / ".planning/phases/02-two/PLAN.md").read_text() == "# Plan"


def test_an_edit_through_a_link_is_a_crash_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work/link").symlink_to(tmp_path / "outside")
    script = '[[answer]]\nrole = "execute"\n[answer.write]\n"link/x" = "x"\n'

    assert ask(agent(tmp_path, script), tmp_path / "work").outcome == "crashed"
    assert list((tmp_path / "outside").iterdir()) == []


def test_numbers_keep_their_kind(tmp_path: Path) -> None:
    script = '[[answer]]\nrole = "execute"\nresult = { a = 9, b = 9.0, c = "ü" }\n'

    assert ask(agent(tmp_path, script), tmp_path).answer == '{"a": 9, "b": 9.0, "c": "ü"}'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[[answer]]\nrole = "execute"\n[[answer]]\nrole = "cook"\n', r"answer 2: .*cook.*role"),
        ('[[answer]]\nrole = "plan"\nanswr = 1\n', "answer 1: .*answr"),
        ("[[answer]]\nphase = '2'\n", "answer 1: .*role"),
        ('[[answer]]\nrole = "plan"\nphase = 2\n', r"answer 1: .*\$\.phase"),
        ('[[answer]]\nrole = "plan"\noutcome = "great"\n', r"answer 1: .*outcome"),
        ('[[answer]]\nrole = "plan"\nusage = { tokens = 1 }\n', "answer 1: .*tokens"),
        ('[[answer]]\nrole = "plan"\ntext = "x"\nresult = {}\n', "answer 1: text and result"),
        ('[[answer]]\nrole = "plan"\nresult = { at = 2020-01-01 }\n', "answer 1: result"),
        ('[[answer]]\nrole = "plan"\nresult = { n = nan }\n', "answer 1: result"),
        ('[[answer]]\nrole = "plan"\nsleep = -1.0\n', "answer 1: sleep"),
        ('[[answer]]\nrole = "plan"\nremove = ["../x"]\n', "answer 1: '../x' is not inside"),
        ('[[answer]]\nrole = "plan"\nwrite = { "/x" = "" }\n', "answer 1: '/x' is not inside"),
        ('[answer]\nrole = "plan"\n', r"\[\[answer\]\]"),
        ("[[answers]]\n", "unknown key 'answers'"),
        ("role =", "cannot be read"),
    ],
)
def test_a_mistake_in_the_file_is_named_by_entry_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigInvalid, match=complaint) as raised:
        agent(tmp_path, text)
    assert raised.value.exit_code == 2


def test_a_missing_file_is_an_error_the_user_can_fix(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        ScriptedAgent.from_file(tmp_path / "missing.toml")
