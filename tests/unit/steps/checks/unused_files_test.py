"""New files nobody uses and files nobody asked for: told to whoever looks, blocking nothing (WIRE-01, PVRF-01i)."""

import msgspec
import pytest

from autopilot.domain.answers import WorkClaim
from autopilot.domain.evidence import Change, FileChange
from autopilot.domain.results import Executed
from autopilot.domain.verdict import Advance
from autopilot.gates import after_task
from autopilot.pipeline import artifacts
from autopilot.steps import execute, mini_verify, verify
from autopilot.steps.checks.unused_files import astray, newcomers, orphans
from support.records import DONE, Story, plan, task, work
from support.tools import SaidAgents, SaidFacts, SaidWorkspace, tools


def added(*paths: str, status: str = "A") -> Change:
    files = tuple(msgspec.convert({"path": path, "status": status}, FileChange) for path in paths)
    return Change(base="base", commit="c1", tree="t", files=files)


@pytest.mark.parametrize(
    "path",
    ["index.ts", "src/main.py", "src/App.tsx", "pkg/__init__.py", "vite.config.ts", "data.json", "a.test.ts",
     "tests/helper.py", "letter_test.py", "bin/tool.py", "scripts/release.js", "types/api.d.ts", "NOTES.md", "x.yaml",
     "LetterTests.swift"],
)  # fmt: skip
def test_wire_01_a_standalone_file_needs_no_reference(path: str) -> None:
    assert list(newcomers(added(path))) == []


@pytest.mark.parametrize("path", ["src/letter.py", "ui/Button.tsx", "lib/post_office.rb", "contest.py"])
def test_wire_01_any_other_new_source_file_needs_one(path: str) -> None:
    assert list(newcomers(added(path))) == [path]
    assert list(newcomers(added(path, status="M"))) == []


def test_wire_01_an_orphan_is_told_in_the_words_of_the_rule() -> None:
    found = orphans(added("a.py", "b.py"), tools(facts=SaidFacts(orphans=frozenset({"a.py"}))), plan())

    assert [(f.rule, f.severity, f.what) for f in found] == [
        ("WIRE-01", "warning", "ORPHANED FILE: a.py -- zero imports, no standalone justification.")
    ]


def test_wire_01_only_the_accepted_plan_can_excuse_an_orphan() -> None:
    facts = SaidFacts(orphans=frozenset({"a.py"}))
    excusing = msgspec.structs.replace(plan(), text="`a.py` is standalone: cron starts it by name\n")

    assert orphans(added("a.py"), tools(facts=facts), excusing) == ()
    assert len(orphans(added("a.py"), tools(facts=facts), plan())) == 1


def test_pvrf_01i_files_the_task_did_not_name_are_told() -> None:
    named = msgspec.structs.replace(task(), files=("letter.txt", "./src/", "docs/*.md"))
    change = added("letter.txt", "src/a/b.py", "docs/x.md", "other.txt", "srcs.py")

    assert [f.where for f in astray(named, change)] == ["other.txt", "srcs.py"]
    assert {(f.rule, f.severity) for f in astray(named, change)} == {("scope", "warning")}
    assert list(astray(msgspec.structs.replace(named, files=()), change)) == []


def test_what_was_noticed_reaches_the_reviewer_and_blocks_nothing() -> None:
    elsewhere = msgspec.structs.replace(task(), files=("elsewhere.txt",))
    told = Story().planned(plan(elsewhere))
    facts = SaidFacts(frozenset({DONE}))
    done = execute.run(told.record, tools(agents=SaidAgents({"execute": WorkClaim()}), facts=facts))
    told.step("execute", msgspec.structs.replace(done, work=work(findings=done.work.findings)), commit="c1")

    assert after_task.GATE.decide(told.record) == Advance(to="mini_verify")
    assert "- letter.txt: not among the files of task 01-01" in mini_verify.prompt(told.record, elsewhere)
    assert isinstance(told.record.last(), Executed)


def test_wire_02_orphans_of_the_whole_phase_are_listed_in_the_verification_report() -> None:
    told = Story().planned().executed()
    facts = SaidFacts(orphans=frozenset({"src/lost.py"}))
    workspace = SaidWorkspace(new=("src/lost.py", "src/found.py"))
    seen = verify.run(told.record, tools(facts=facts, workspace=workspace))

    told.step("verify", seen)
    report = artifacts(told.record)["VERIFICATION.md"]
    assert "## Wire Check\n- ORPHANED FILE: src/lost.py -- zero imports, no standalone justification.\n" in report
    assert "src/found.py" not in report
