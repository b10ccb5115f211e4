"""The ledger of rules: what counts as a proof, what is told when one is missing, and that no rule wants for one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rule_ledger
from rule_ledger import Catalogue, Group, Proof, Rule

ROOT = Path(__file__).parents[3]
SPEC = ROOT.parent / "shared" / "spec" / "rules.md"
ROW = re.compile(r"^\| (?P<id>[A-Z]+-\w+) \| [^|]* \| (?P<level>[MSYW]) \|", re.MULTILINE)
PROOF = Proof("tests/a_test.py", "test_a")


def told(*rules: Rule, unproven: frozenset[str] = frozenset()) -> Catalogue:
    return Catalogue((Group("Q", "Frame", rules),), unproven)


def must(name: str = "PGAT-01", **more: str) -> Rule:
    return Rule(**{"id": name, "level": "M", "what": "it holds", **more})


def specified(letter: str) -> dict[str, str]:
    """Ids and levels of one group, as the specification has them."""
    section = re.split(r"^## ", SPEC.read_text(encoding="utf-8").partition(f"\n## {letter}. ")[2], flags=re.MULTILINE)
    return {found["id"]: found["level"] for found in ROW.finditer(section[0])}


def test_every_rule_that_must_hold_has_its_proof() -> None:
    problems = rule_ledger.problems(rule_ledger.read(), rule_ledger.proofs(), rule_ledger.decision_files())

    assert list(problems) == []


@pytest.mark.skipif(not SPEC.exists(), reason="the specification is not beside the project")
@pytest.mark.parametrize("group", rule_ledger.read().groups, ids=lambda group: group.letter)
def test_a_group_has_the_ids_and_levels_of_the_specification(group: Group) -> None:
    assert {rule.id: rule.level for rule in group.rules} == specified(group.letter)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("PGAT-03: a promise.", ["PGAT-03"]),
        ("Of (PVRF-01h, EXEC-C0).", ["PVRF-01h", "EXEC-C0"]),
        ("PGAT-01..03.", ["PGAT-01", "PGAT-02", "PGAT-03"]),
        ("PGAT-01..PGAT-02", ["PGAT-01", "PGAT-02"]),
        ("PVRF-01a..c and OBSV-03b", ["PVRF-01a", "PVRF-01b", "PVRF-01c", "OBSV-03b"]),
        ("PVRF-01a..01c", ["PVRF-01a", "PVRF-01b", "PVRF-01c"]),
        ("PGAT-01, 02: so", ["PGAT-01", "PGAT-02"]),
        ("PGAT-05/06", ["PGAT-05", "PGAT-06"]),
        ("PGAT-01, 02 and 03.", ["PGAT-01", "PGAT-02", "PGAT-03"]),
        ("PGAT-01, 10 times", ["PGAT-01"]),
        ("PVRF-01d, a task", ["PVRF-01d"]),
        ("XPGAT-0 and pgat-01", []),
    ],
)  # fmt: skip
def test_a_sentence_names_rules_one_by_one_in_lists_and_in_ranges(text: str, ids: list[str]) -> None:
    assert list(rule_ledger.ids_in(text)) == ids


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("test_pgat_03_a_word", ["PGAT-03"]),
        ("test_pvrf_01h_a_batch", ["PVRF-01h"]),
        ("test_exec_c0_skipped", ["EXEC-C0"]),
        ("test_pgat_05_06_words", ["PGAT-05", "PGAT-06"]),
        ("test_a_plan_is_read", []),
    ],
)
def test_a_test_s_name_names_rules(name: str, ids: list[str]) -> None:
    assert list(rule_ledger.ids_in_name(name)) == ids


SOURCE = '''"""PGAT-01: of the module."""
CASES: dict[str, int] = {"PGAT-05 keys": 1}
MORE = [pytest.param(1, id="PGAT-06")]
every = pytest.mark.parametrize("z", (1,), ids=("PGAT-09",))
def helper():
    """PGAT-02: of a helper."""
def test_pgat_03_name():
    """PGAT-04: of the test."""
@pytest.mark.parametrize("x", CASES.values(), ids=CASES)
@pytest.mark.parametrize("y", MORE)
@pytest.mark.parametrize("w", [pytest.param(1, id="PGAT-10"), ("PGAT-07",)])
@every
def test_parameters(x, y, z, w):
    assert "PGAT-08"
'''


def test_a_test_proves_what_its_own_name_docstring_and_parameter_ids_say_and_nothing_else() -> None:
    found = dict(rule_ledger.proofs_in(SOURCE, "tests/a_test.py"))

    assert found.keys() == {"PGAT-03", "PGAT-04", "PGAT-05", "PGAT-06", "PGAT-09", "PGAT-10"}
    assert found["PGAT-04"] == Proof("tests/a_test.py", "test_pgat_03_name")


PROBLEMS = {
    "a must without proof": (told(must()), {}, "PGAT-01 has no test that proves it (must): it holds."),
    "a should without either": (told(must(level="S")), {}, "PGAT-01 has no test that proves it (should): it holds."),
    "waiting though proven": (
        told(must(), unproven=frozenset({"PGAT-01"})), {"PGAT-01": [PROOF]}, "PGAT-01 has a proof: take it off"),
    "waiting and unknown": (told(unproven=frozenset({"PGAT-99"})), {}, "PGAT-99 is listed as unproven"),
    "no such decision": (told(must(level="S", decided="9999")), {}, "PGAT-01 names decision 9999"),
    "a must decided away": (told(must(decided="0001")), {}, "PGAT-01 has no test that proves it"),
    "twice": (told(must(), must()), {"PGAT-01": [PROOF]}, "PGAT-01 stands 2 times"),
    "no level": (told(must(level="X")), {"PGAT-01": [PROOF]}, "PGAT-01 has the level 'X'"),
}  # fmt: skip


@pytest.mark.parametrize(("rules", "proofs", "said"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_is_wrong_with_the_ledger_is_told(rules: Catalogue, proofs: dict[str, list[Proof]], said: str) -> None:
    (problem,) = rule_ledger.problems(rules, proofs, ["0001"])

    assert problem.startswith(said)


@pytest.mark.parametrize("level", ["S", "W"])
def test_what_need_not_hold_may_be_decided_away(level: str) -> None:
    assert list(rule_ledger.problems(told(must(level=level, decided="0001")), {}, ["0001"])) == []


@given(st.sets(st.sampled_from(["PGAT-01", "PGAT-02"])), st.sets(st.sampled_from(["PGAT-01", "PGAT-02"])))
def test_no_must_is_both_unproven_and_unnoticed(proven: set[str], waiting: set[str]) -> None:
    rules = told(must(), must("PGAT-02"), unproven=frozenset(waiting))
    found = {name: [PROOF] for name in proven}

    whole = not list(rule_ledger.problems(rules, found, []))

    assert whole == (waiting == {"PGAT-01", "PGAT-02"} - proven)


def test_a_row_shows_three_proofs_and_how_many_more_there_are() -> None:
    proofs = [Proof("tests/a_test.py", f"test_{n}") for n in range(5)]
    rules = (must(), must("PGAT-02"), must("PGAT-03", level="S", decided="0001"))

    first, second, third = rule_ledger.rows(told(*rules).groups[0], {"PGAT-01": proofs}, {"0001": "0001-a.md"})

    assert first[:3] == ('<a id="pgat-01"></a>PGAT-01', "must", "it holds")
    assert first[3].endswith("[`tests/a_test.py::test_2`](../tests/a_test.py)<br>+2")
    assert (second[3], third[3]) == ("**missing**", "not built<br>[decision 0001](decisions/0001-a.md)")


def test_the_check_fails_and_names_the_rule_that_lost_its_proof(tmp_path: Path) -> None:
    """The command that CI runs, on a project of one rule and no test."""
    for name in ("generate.py", "rule_ledger.py"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    (tmp_path / "rules.toml").write_text(
        'unproven = []\n[[group]]\nletter = "Q"\ntitle = "x"\nrules = [{ id = "PGAT-01", level = "M", what = "y" }]\n',
        encoding="utf-8",
    )
    command = [sys.executable, str(tmp_path / "generate.py"), "--check"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "docs/rules.toml: PGAT-01 has no test that proves it (must): y.\n"
