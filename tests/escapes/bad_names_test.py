"""No id and no name out of a roadmap, a plan, a command line or an agent's hands becomes a path, ref or option of its own."""

import re
import shlex
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.transcripts import path_of
from autopilot.domain.errors import AutopilotError, ConfigInvalid
from autopilot.domain.phase import Phase, Roadmap, TaskTest
from autopilot.planning.plan import folders
from autopilot.planning.plan import read_plan as plan
from autopilot.planning.plan.problems import leaves_project
from autopilot.planning.roadmap import ids, selection
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.steps.checks.test_specs import spec_criteria
from autopilot.workspace.files.planning_files import checked
from autopilot.workspace.own_repository import safe_name
from support.records import Story, brief
from support.records import plan as plan_of
from support.repos import git
from support.workspaces import make_bench

BAD = (
    "../x", "..", ".", "/", "/etc/passwd", "~", "~/x", "a/../../x", "..\\x", "C:\\x", "\\\\host\\x", "./../1", "1/..",
    "-rf", "--help", "-1", "--upload-pack=x", "-c", "--", "1-", "-",
    "CON", "NUL", "COM1", "aux.txt", "LPT9", "con.1",
    "a b", "1 2", " 1/", "1\t2", "1\n2", "1\r2", "\0", "1\0", "\x1b[31m1", "\x7f", "\x9b1", "1\u202e2", "\ufeff../1",
    "\u0661", "\uff11", "\u2160", "\u217a", "1\u20442", "\u2024\u2024/1", "\uff0e\uff0e/1", "\u0430-1", "1\u0301", "\u00b2",
    ".git", ".GIT", "git~1", ".git/config", ".git/hooks/pre-commit", ".autopilot/journal.db", ".Autopilot",
    "@{", "HEAD@{1}", "1^", "1~1", "1:x", "1?", "1*", "[1]", "refs/heads/x.lock", "x.lock", "1.lock/", "1..2", "1.", ".1",
    "1;rm -rf x", "$(x)", "`x`", "1|x", "1&x", "'1'", '"1"', "1%2f..", "%2e%2e", "1#", "1!", "1=2", "9" * 300, "a" * 5000,
    "1." * 200, "",
)  # fmt: skip
PLAIN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,140}[A-Za-z0-9_])?", re.ASCII)
ONE = Roadmap(path="ROADMAP.md", phases=(Phase(id="1", name="One"),))


def shown(name: str) -> str:
    return ascii(name)[:40]


def is_plain(name: str) -> bool:
    """One word that is the same in a path, a ref and a command."""
    return PLAIN.fullmatch(name) is not None and ".." not in name and shlex.quote(name) == name


def test_the_list_is_long_enough() -> None:
    assert len(set(BAD)) >= 60


@pytest.mark.parametrize("bad", BAD, ids=shown)
def test_a_bad_id_is_no_phase(bad: str) -> None:
    assert not ids.valid(bad)
    if bad.strip():
        with pytest.raises(AutopilotError):
            selection.select(bad, ONE, set())


@pytest.mark.parametrize("bad", BAD, ids=shown)
def test_a_bad_heading_makes_no_phase_with_a_bad_id_or_folder(bad: str) -> None:
    text = f"# Roadmap\n\n### Phase 7: Sound\n\n### Phase {bad}: {bad}\n\n- [ ] **Phase {bad}: {bad}**\n\n| Phase | Status |\n|---|---|\n| {bad} | open |\n"

    for phase in roadmap.read(text, "ROADMAP.md").phases:
        assert ids.valid(phase.id)
        assert is_plain(folders.new_folder(phase))
        assert is_plain(f"autopilot-diagnostic-phase-{phase.id}")


@pytest.mark.parametrize("bad", BAD, ids=shown)
def test_a_bad_task_id_becomes_a_plain_one(bad: str) -> None:
    quote = "'" if '"' in bad else '"'
    text = f"---\nphase: 3\nplan: {bad}\n---\n<task id={quote}{bad}{quote}>\n**Files:** a.py\n</task>\n"

    try:
        tasks = plan.read(text, {}).tasks
    except ConfigInvalid:
        return
    assert all(is_plain(task.id) for task in tasks)


def test_a_bad_branch_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    before = git(bench.root, "for-each-ref")

    for bad in BAD:
        names = (
            bad,
            f"refs/heads/{bad}",
            *(() if is_plain(bad.rstrip("-")) else (f"autopilot/{bad}", f"autopilot-{bad}")),
        )
        for name in names:
            with pytest.raises(ValueError, match="not a name for a branch"):
                bench.workspace.branch(name, bench.base)
    assert git(bench.root, "for-each-ref") == before


@pytest.mark.parametrize("bad", BAD, ids=shown)
def test_a_bad_name_leads_out_of_no_folder_of_ours(bad: str) -> None:
    place = path_of(Path("/transcripts"), f"run/{bad}/{bad}")

    assert ".." not in place.parts
    assert place.is_relative_to("/transcripts")
    assert is_plain(safe_name(bad))
    if ".." in bad.split("/") or "\0" in bad or bad in {"", ".", "/"}:
        with pytest.raises(ValueError, match="not a path below a folder"):
            checked({f".planning/{bad}": ""})


@pytest.mark.parametrize(
    "path",
    ["../x", "/etc/passwd", "~/x", "a/../../x", "C:\\x", "-rf", "--output=x", "a\nb", "a\x1b[1mb", ".git/config", ".GIT/x",
     "in/.git/hooks/x", "git~1/x", ".git./x", ".autopilot/journal.db", ".Autopilot/x"],
    ids=shown,
)  # fmt: skip
def test_a_plan_may_not_name_a_file_outside_the_project(path: str) -> None:
    assert leaves_project(path)
    assert not leaves_project(f"src/{'a' * 40}.py")


@pytest.mark.parametrize(
    "name", ["01; true #", "$(true)", "`true`", "01 02", "01'", "01\ntrue\n", "01|true", "../01"], ids=shown
)
def test_a_test_file_whose_name_is_a_command_becomes_none(name: str) -> None:
    made = msgspec.structs.replace(plan_of(), tests=(TaskTest(path=f"tests/task-{name}.sh", text="exit 1\n"),))

    assert spec_criteria(Story().planned(made).record, ()) == ()


def test_a_folder_with_blanks_is_one_word_of_a_command() -> None:
    made = msgspec.structs.replace(plan_of(), tests=(TaskTest(path="tests/task-01-01.sh", text="exit 1\n"),))
    told = Story(brief(dir=".planning/phases/01 a b; x")).planned(made).record

    (check,) = spec_criteria(told, ())
    assert shlex.split(check.command or "") == ["bash", ".planning/phases/01 a b; x/tests/task-01-01.sh"]


@given(st.text(max_size=60))
def test_whatever_a_phase_is_called_its_folder_is_one_plain_word(name: str) -> None:
    assert is_plain(folders.new_folder(Phase(id="2.1", name=name)))


@given(st.text(max_size=60), st.text(max_size=30))
def test_whatever_a_plan_calls_its_tasks_their_ids_are_plain(task_id: str, number: str) -> None:
    text = f'---\nphase: 3\nplan: {number}\n---\n<task id="{task_id}">\n**Files:** a.py\n</task>\n'

    try:
        tasks = plan.read(text, {}).tasks
    except ConfigInvalid:
        return
    assert all(is_plain(task.id) for task in tasks)


@given(st.text(max_size=60))
def test_whatever_is_an_id_is_plain(text: str) -> None:
    assert is_plain(ids.normalise(text)) or not ids.valid(ids.normalise(text))
    assert not ids.valid(text) or is_plain(text)
