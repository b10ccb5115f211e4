"""How severe a finding is: the rule's word, the user's above it, and what an accepted plan declares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.evidence import Finding, Severity
from autopilot.policy.facts.tamper_rules import BY_NAME, RULES, SPOKEN, blockers, finding_line, weighed

SKIPPED = Finding(rule="test-skipped", where="tests/test_a.py:3", what="`@skip`", why="A skipped test never fails.")
HIDDEN = Finding(rule="exit-code-hidden", where="run.sh:1", what="`|| true`")
FOREIGN = Finding(rule="WIRE-01", where="a.py", what="ORPHANED", severity="warning")
severities = st.sampled_from(("blocker", "warning", "info"))


def severity(
    finding: Finding, policy: dict[str, Severity] | None = None, declared: frozenset[str] = frozenset()
) -> str:
    (weighed_one,) = weighed((finding,), policy or {}, declared)
    return weighed_one.severity


def test_a_declared_test_change_is_a_concern_and_says_so() -> None:
    (found,) = weighed((SKIPPED,), {}, {"tests/test_a.py"})

    assert found.severity == "warning"
    assert "the plan declares" in found.what


@pytest.mark.parametrize(
    ("finding", "declared"),
    [(SKIPPED, "tests/test_b.py"), (HIDDEN, "run.sh"), (SKIPPED, "")],
    ids=["another file", "no rule about tests", "nothing"],
)
def test_a_declaration_excuses_only_its_own_tests(finding: Finding, declared: str) -> None:
    assert severity(finding, declared=frozenset({declared})) == "blocker"


def test_the_user_s_word_counts_more_than_a_declaration() -> None:
    assert severity(SKIPPED, {"test-skipped": "blocker"}, frozenset({"tests/test_a.py"})) == "blocker"
    assert severity(SKIPPED, {"test-skipped": "info"}) == "info"


def test_a_finding_of_another_kind_is_left_as_it_is() -> None:
    assert weighed((FOREIGN,), {"test-skipped": "info"}, {"a.py"}) == (FOREIGN,)


@given(st.dictionaries(st.sampled_from(sorted(BY_NAME)), severities), st.frozensets(st.sampled_from(("a.py", "b.py"))))
def test_no_policy_and_no_declaration_drops_a_finding(policy: dict[str, Severity], declared: frozenset[str]) -> None:
    found = tuple(Finding(rule=rule.name, where="a.py:1", what="x", severity=rule.severity) for rule in RULES)

    assert sorted(f.rule for f in weighed(found, policy, declared)) == sorted(BY_NAME)


def test_the_worst_comes_first_and_only_blockers_block() -> None:
    found = weighed((FOREIGN, SKIPPED), {}, ())

    assert [f.severity for f in found] == ["blocker", "warning"]
    assert blockers(found) == (
        "tests/test_a.py:3: `@skip` (if it must change, the plan has to say so: **Changes tests:** tests/test_a.py -- why)",
    )


def test_a_finding_is_told_with_its_weight_and_reason() -> None:
    assert finding_line(SKIPPED) == "blocker test-skipped: tests/test_a.py:3: `@skip`. A skipped test never fails."
    assert set(SPOKEN.values()) == {"blocker", "concern", "note"}
