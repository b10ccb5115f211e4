"""Tamper detectors: every cheat is told with its place and weight, and honest work is left alone."""

import pytest

from autopilot.domain.evidence import FileTexts, FileVersion, Finding
from autopilot.evidence.tamper.detectors import MOST_A_RULE_AND_FILE, MOST_FINDINGS, detect
from autopilot.policy.facts.tamper_rules import BY_NAME
from unit.evidence.tamper import cheats, honest

CHEATS = [*cheats.TESTS, *cheats.RUNNERS, *cheats.REST]


def version(text: str | None, mode: str = "100644") -> FileVersion | None:
    return None if text is None else FileVersion(mode=mode, size=len(text), text=text)


def changed(path: str, before: str | None, after: str | None) -> FileTexts:
    return FileTexts(path=path, before=version(before), after=version(after))


def places(findings: tuple[Finding, ...]) -> set[tuple[str, str, str]]:
    return {(finding.rule, finding.where, finding.severity) for finding in findings}


@pytest.mark.parametrize("cheat", CHEATS, ids=[cheat[0] for cheat in CHEATS])
def test_a_cheat_is_told_with_its_place_and_weight(cheat: cheats.Cheat) -> None:
    _, path, before, after, rule, line, severity = cheat

    found = detect([changed(path, before, after)])

    assert (rule, f"{path}:{line}" if line else path, severity) in places(found)


@pytest.mark.parametrize("change", honest.SILENT, ids=[change[0] for change in honest.SILENT])
def test_honest_work_is_left_alone(change: honest.Honest) -> None:
    _, path, before, after = change

    assert places(detect([changed(path, before, after)])) == set()


@pytest.mark.parametrize("change", honest.MILD, ids=[change[0] for change in honest.MILD])
def test_what_may_well_be_honest_is_told_and_does_not_block(change: honest.Honest) -> None:
    _, path, before, after = change

    assert "blocker" not in {finding.severity for finding in detect([changed(path, before, after)])}


@pytest.mark.parametrize(
    "there", ["tests/unit/test_cart.py", "tests/test_basket.py", "cart/cart_test.py"], ids=["folder", "name", "habit"]
)
def test_a_test_file_that_moves_with_its_tests_is_left_alone(there: str) -> None:
    assert detect([changed(cheats.T, cheats.PY, None), changed(there, None, cheats.PY)]) == ()


@pytest.mark.parametrize("there", ["tests/cart_test_old.txt", "tests/cart.py", "attic/cart.py.bak"])
def test_a_test_file_that_moves_where_no_runner_looks_is_told(there: str) -> None:
    found = detect([changed(cheats.T, cheats.PY, None), changed(there, None, cheats.PY)])

    assert ("test-uncollected", f"{there}:1", "blocker") in places(found)


def test_a_test_that_moves_to_another_file_is_found_there_and_compared() -> None:
    left, moved = cheats.PY.replace(cheats.TAX, ""), cheats.TAX.replace("== 107", "is not None")
    files = [changed(cheats.T, cheats.PY, left), changed("tests/test_tax.py", None, moved)]

    assert places(detect(files)) == {("assertion-weakened", "tests/test_tax.py:2", "blocker")}


def test_a_skip_in_a_file_that_only_moved_is_not_new() -> None:
    skipping = cheats.PY.replace("def test_tax", "@pytest.mark.skip\ndef test_tax")

    assert detect([changed(cheats.T, skipping, None), changed("tests/unit/test_cart.py", None, skipping)]) == ()


def test_tests_that_go_with_the_code_they_tested_are_a_concern() -> None:
    files = [changed(cheats.T, cheats.PY, None), changed("shop/cart.py", "def total(): ...\n", None)]

    assert places(detect(files)) == {("test-deleted", cheats.T, "warning")}


@pytest.mark.parametrize(
    ("path", "target", "rule"),
    [
        ("a", "/etc/passwd", "symlink-outside"),
        ("docs/a", "../../x", "symlink-outside"),
        ("a", ".git/config", "symlink-outside"),
        ("docs/a", "../README.md", "symlink-added"),
    ],
)
def test_a_link_is_told_by_where_it_leads(path: str, target: str, rule: str) -> None:
    (found,) = detect([FileTexts(path=path, after=version(target, "120000"))])

    assert (found.rule, found.where) == (rule, path)


def test_a_repository_inside_and_a_script_that_cannot_run_are_told() -> None:
    inside = FileTexts(path="lib/x", after=FileVersion(mode="160000"))
    script = FileTexts(path="run.sh", before=version("x\n", "100755"), after=version("x\n"))

    assert {f.rule for f in detect([inside, script])} == {"submodule-changed", "mode-changed"}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("def total(items):\n    if items == 'apples':\n        return 1234\n", True),
        ("def total(items):\n    return 1234\n", True),
        ("PRICES = {\n    'apples': 1234,\n}\n", True),
        ("def total(items):\n    if items == 'pears':\n        return 1234\n", False),
        ("def total(items):\n    return sum(items)\n", False),
        ("def zero(items):\n    return 0\n", False),
    ],
    ids=["guarded", "bare", "table", "another input", "computed", "nothing special"],
)
def test_an_answer_written_down_from_a_test_is_a_concern(answer: str, told: bool) -> None:
    tests = {"tests/test_cart.py": "def test_total():\n    assert total('apples') == 1234\n    assert zero('x') == 0\n"}

    found = detect([changed("cart/total.py", "", answer)], lambda: tests)

    assert ("expectation-hardcoded" in {finding.rule for finding in found}) == told


def test_the_tests_are_read_only_when_an_answer_is_suspect() -> None:
    def unread() -> dict[str, str]:
        raise AssertionError("read without need")

    assert detect([changed("cart/total.py", "", "def total(items):\n    return sum(items)\n")], unread) == ()


def test_of_many_hits_of_a_rule_in_a_file_only_a_few_are_told() -> None:
    many = "".join(f"import a{n}  # noqa\n" for n in range(50))

    assert len(detect([changed("a.py", "", many)])) == MOST_A_RULE_AND_FILE


def test_a_flood_of_concerns_does_not_bury_a_blocker() -> None:
    flood = [changed(f"a{n}.py", "", "import a  # noqa\n") for n in range(2 * MOST_FINDINGS)]

    found = detect([*flood, changed(cheats.T, cheats.PY, None)])

    assert (found[0].severity, len(found)) == ("blocker", MOST_FINDINGS + 1)
    assert "more findings" in found[-1].what


def test_every_finding_says_why_and_every_rule_is_known() -> None:
    for _, path, before, after, *_ in CHEATS:
        for finding in detect([changed(path, before, after)]):
            assert finding.why == BY_NAME[finding.rule].why


def test_every_rule_has_a_case_that_trips_it() -> None:
    told = {cheat[4] for cheat in CHEATS}
    elsewhere = {"symlink-outside", "symlink-added", "mode-changed", "expectation-hardcoded"}

    assert told | elsewhere == set(BY_NAME)
    assert (len(CHEATS) >= 120, len(honest.SILENT) >= 80) == (True, True)
