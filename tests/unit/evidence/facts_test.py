"""Facts: commands we ran ourselves, each bound to the tree it was run on."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from autopilot.domain.phase import Criterion, Expectation
from autopilot.domain.process import Ran
from autopilot.domain.settings import Commands, Limits
from autopilot.evidence.facts import OUTPUT_KEPT, CommandFacts
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from support.records import criterion
from support.workspaces import ENV, Bench, make_bench

LOOK = criterion("c1", "cat a.txt")


@dataclass(slots=True)
class Counting:
    """A real sandbox of tier none that notes what it ran, and for how long it might have."""

    ran: list[tuple[str, float]] = field(default_factory=list)

    @property
    def tier(self) -> str:
        return "none"

    @property
    def label(self) -> str:
        return "none (unsandboxed)"

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        self.ran.append((command, timeout_s))
        return PlainProcess(ChildProcesses(), look(ENV)).run(command, folder, timeout_s)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def facts_of(bench: Bench, sandbox: Counting, **limits: int) -> CommandFacts:
    return CommandFacts(workspace=bench.workspace, sandbox=sandbox, limits=Limits(**limits))


def test_a_fact_says_what_was_run_on_which_tree(bench: Bench) -> None:
    (run,) = facts_of(bench, Counting()).check(bench.base, [LOOK], {})

    assert (run.check, run.command, run.exit_code, run.passed, run.output) == ("c1", "cat a.txt", 0, True, "a\n")
    assert (run.tree, run.sandbox) == (bench.workspace.tree(bench.base), "none (unsandboxed)")
    assert run.what == LOOK.text


def test_the_same_command_on_the_same_tree_is_run_once(bench: Bench) -> None:
    sandbox = Counting()
    facts = facts_of(bench, sandbox)

    first = facts.check(bench.base, [LOOK], {})
    again = facts.check(bench.base, [LOOK, criterion("c2", "true")], {})

    assert first[0] is again[0]
    assert [command for command, _ in sandbox.ran] == ["cat a.txt", "true"]


def test_another_tree_is_another_fact(bench: Bench) -> None:
    facts = facts_of(bench, Counting())
    moved = bench.seal({"a.txt": "b\n"})

    outputs = [facts.check(commit, [LOOK], {})[0].output for commit in (bench.base, moved)]

    assert outputs == ["a\n", "b\n"]


def test_other_files_laid_over_a_tree_make_another_fact(bench: Bench) -> None:
    facts = facts_of(bench, Counting())
    test = criterion("t", "bash .planning/t.sh")

    codes = [facts.check(bench.base, [test], {".planning/t.sh": f"exit {n}\n"})[0].exit_code for n in (0, 3)]

    assert codes == [0, 3]


def test_a_commit_that_changes_no_file_needs_no_new_fact(bench: Bench) -> None:
    sandbox = Counting()
    facts = facts_of(bench, sandbox)
    forth = bench.seal({"a.txt": "b\n"}, "s1")
    back = bench.seal({"a.txt": "a\n"}, "s2", forth)

    facts.check(bench.base, [LOOK], {})
    facts.check(back, [LOOK], {})

    assert len(sandbox.ran) == 1


@pytest.mark.parametrize(
    "spoken",
    [criterion("b", "read the panel and trace it", behavioural=True), criterion("p", None)],
    ids=["behavioural", "without a command"],
)
def test_what_is_no_command_never_reaches_a_shell(bench: Bench, spoken: Criterion) -> None:
    sandbox = Counting()

    assert facts_of(bench, sandbox).check(bench.base, [spoken], {}) == ()
    assert sandbox.ran == []


@pytest.mark.parametrize("number", [0, 137])
def test_a_command_cut_off_is_never_a_pass(bench: Bench, number: int) -> None:
    """SBOX-01."""
    endless = criterion("c", f"echo EXIT:{number}; sleep 20", expect=Expectation(number=number))

    (run,) = facts_of(bench, Counting(), command_seconds=1).check(bench.base, [endless], {})

    assert (run.exit_code, run.passed) == (None, False)


def test_gates_run_under_their_own_names_and_limit(bench: Bench) -> None:
    sandbox = Counting()

    runs = facts_of(bench, sandbox, gate_seconds=7).gates(bench.base, Commands(test="false", lint="true"))

    assert [(run.check, run.passed) for run in runs] == [("lint", True), ("test", False)]
    assert sandbox.ran == [("true", 7), ("false", 7)]


def test_without_commands_nothing_is_run_or_checked_out(bench: Bench) -> None:
    before = len(bench.processes.jobs)

    assert facts_of(bench, Counting()).gates(bench.base, Commands()) == ()
    assert len(bench.processes.jobs) == before


def test_a_command_works_on_a_checkout_of_its_own(bench: Bench) -> None:
    facts = facts_of(bench, Counting())

    facts.check(bench.base, [criterion("w", "echo spoilt > a.txt")], {})

    assert facts.check(bench.base, [LOOK], {})[0].output == "a\n"


def test_only_the_end_of_a_long_output_is_kept_and_no_control_letters(bench: Bench) -> None:
    loud = criterion("c", r"printf 'x%.0s' $(seq 5000); printf '\033[31mred\033[0m\a\n'")

    (run,) = facts_of(bench, Counting()).check(bench.base, [loud], {})

    assert len(run.output) == OUTPUT_KEPT
    assert run.output.endswith("xred\n")


def test_what_is_kept_of_the_output_holds_no_secret_and_its_hash_is_of_all_of_it(bench: Bench) -> None:
    secret = "ghp_" + "a1B2" * 9
    told = criterion("c1", f"printf 'x%.0s' $(seq {OUTPUT_KEPT - 20}); echo ' {secret}'")
    (run,) = facts_of(bench, Counting()).check(bench.base, [told], {})
    printed = "x" * (OUTPUT_KEPT - 20) + f" {secret}\n"

    assert run.output.endswith("x [redacted:github]\n")
    assert run.output_sha256 == hashlib.sha256(printed.encode() + b"\0").hexdigest()


def test_ptv_02_only_what_the_change_itself_broke_blocks(bench: Bench) -> None:
    before = bench.seal({"old.json": "{", "gone.json": "{"})
    after = bench.seal({"old.json": "{,", "new.json": "{", "gone.json": None}, "s2", before)
    change = bench.workspace.change(before, after)

    found = facts_of(bench, Counting()).content(change, "data", frozenset())

    assert {(f.where, f.severity) for f in found} == {("old.json", "warning"), ("new.json", "blocker")}


def test_a_criterion_that_is_a_gate_is_run_once_for_both(bench: Bench) -> None:
    sandbox = Counting()
    facts = facts_of(bench, sandbox)
    facts.commands = Commands(test="cat a.txt")

    (run,) = facts.check(bench.base, [LOOK], {".planning/x.sh": "true\n"})
    (gate,) = facts.gates(bench.base, facts.commands)

    assert (run.check, gate.check, run.output) == ("c1", "test", gate.output)
    assert sandbox.ran == [("cat a.txt", Limits().gate_seconds)]


def test_a_second_run_counts_when_it_passes(bench: Bench, tmp_path: Path) -> None:
    """The command fails the first time it is run, and never again."""
    mark, facts = tmp_path / "mark", facts_of(bench, Counting())
    command = f"test -e {mark} || {{ touch {mark}; false; }}"
    (first,) = facts.gates(bench.base, Commands(test=command))
    second = facts.again(bench.base, command)

    assert (first.passed, second.passed) == (False, True)
    assert facts.gates(bench.base, Commands(test=command)) == (second,)


def test_a_second_run_that_fails_too_changes_nothing(bench: Bench) -> None:
    facts = facts_of(bench, Counting())
    (first,) = facts.gates(bench.base, Commands(test="false"))

    assert not facts.again(bench.base, "false").passed
    assert facts.gates(bench.base, Commands(test="false"))[0] is first


def test_what_passed_before_a_resume_is_not_run_again_and_what_failed_is(bench: Bench) -> None:
    earlier = facts_of(bench, Counting()).check(bench.base, [LOOK, criterion("c2", "false")], {})
    sandbox = Counting()
    facts = facts_of(bench, sandbox)
    facts.recall(earlier)

    assert facts.check(bench.base, [LOOK, criterion("c2", "false")], {})[0] is earlier[0]
    assert [command for command, _ in sandbox.ran] == ["false"]


def test_criteria_are_run_again_in_checkouts_of_their_own_and_gates_are_not(bench: Bench) -> None:
    sandbox = Counting()
    facts = facts_of(bench, sandbox)
    facts.commands = Commands(test="true")
    fresh = criterion("c1", "mkdir once")
    runs = facts.repeated(bench.base, [fresh, criterion("c2", "false"), criterion("c3", "true")], {}, 3)

    assert [(run.check, run.passed) for run in runs] == [("c1", True), ("c2", False)]
    assert [command for command, _ in sandbox.ran].count("mkdir once") == 3
    assert [command for command, _ in sandbox.ran].count("false") == 1
