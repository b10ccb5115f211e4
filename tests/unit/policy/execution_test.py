"""What a command of ours was and how it ended."""

import pytest

from autopilot.domain.answers import Categorised, VerifyOpinion
from autopilot.domain.evidence import Finding
from autopilot.domain.results import Verified
from autopilot.policy.failure_categories import category_of, executes, failure_categories, strongest, violation
from support.records import ran


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("grep -q done a.txt", False), ("test -f a && ls a | wc -l", False), ("! grep -rn TODO src", False), ("", False),
        ("npm test", True), ("grep -q x a && node a.js", True), ("python3 -m app | grep done", True), ("./run.sh", True),
    ],
)  # fmt: skip
def test_sbox_02_a_search_is_told_from_an_execution(command: str, runs: bool) -> None:
    assert executes(command) == runs


def test_sbox_02_execution_beats_grep_and_a_failure_beats_a_pass_of_its_kind() -> None:
    found, other = ran(command="grep -q x a"), ran(command="grep -q y a", passed=False)
    broken, fine = ran(command="node a.js", passed=False), ran(command="node b.js")

    assert strongest((found, fine)) == fine
    assert strongest((found, broken, fine)) == broken
    assert strongest((found, other)) == other
    assert strongest(()) is None


@pytest.mark.parametrize(
    ("command", "output", "told"),
    [
        ("npm install -g x", "", "installs packages for the whole machine"),
        ("echo x > /etc/hosts", "", "writes outside the project"),
        ("curl -s https://example.org", "", "reaches into the network"),
        ("make test", "touch: /usr/x: Read-only file system", "the sandbox refused a write"),
        ("npm test", "getaddrinfo EAI_AGAIN registry", "the sandbox refused the network"),
        ("npm test > /dev/null 2>&1", "1 failed", ""),
        ("curl -s http://localhost:3000/health", "", ""),
        ("grep -q 'sudo apt install' README.md", "", ""),
    ],
)
def test_sbox_03_a_command_that_leaves_its_bounds_is_told(command: str, output: str, told: str) -> None:
    run = ran(command=command, output=output, passed=False)

    assert violation(run) == told
    assert (category_of(run) == "scope_creep") == bool(told)


@pytest.mark.parametrize(
    ("command", "exit_code", "category"),
    [
        ("npm run build", None, "build_failure"), ("npx tsc --noEmit", -11, "compilation_failure"),
        ("npx eslint .", 137, "lint_failure"), ("node a.js", None, "tool_failure"), ("nowhere", 127, "tool_failure"),
        ("npm run build", 1, "acceptance_criteria_unmet"), ("pytest", 1, "acceptance_criteria_unmet"),
    ],
)  # fmt: skip
def test_sbox_04_a_criterion_that_breaks_down_is_classified_by_what_it_ran(
    command: str, exit_code: int | None, category: str
) -> None:
    assert category_of(ran("SC-1", passed=False, command=command, exit_code=exit_code)) == category


def test_sbox_04_our_failures_stand_in_failure_categories_before_the_verifier_s() -> None:
    named = Categorised(failure="no date", category="scope_creep")
    seen = Verified(
        commit="c",
        tree="t",
        checks=(ran("SC-1", passed=False, exit_code=None, command="node a.js"), ran("SC-2")),
        gates=(ran("compile", passed=False), ran("lint", passed=False)),
        old_failures=("lint",),
        content=(Finding(rule="PTV-03", where="a.ts:1", what="x"), Finding(rule="r", where="b", what="y", severity="info")),
        opinion=VerifyOpinion(passed=False, failure_categories=(named,)),
    )  # fmt: skip

    assert [entry.category for entry in failure_categories(seen)] == [
        "tool_failure", "compilation_failure", "build_failure", "scope_creep",
    ]  # fmt: skip
