"""Which checks a command comes to run."""

import pytest

from autopilot.evidence.checks_reached import leads_on, like_a_check, reached

TEXTS = {
    "check.sh": 'java -cp out "$(basename check/TidesCheck.java .java)"\n',
    "check/TidesCheck.java": "class TidesCheck {}\n",
    "check/OtherCheck.java": "class OtherCheck {}\n",
    "Makefile": "verify:\n\tpython3 -m unittest verify.leap\n\tdiff expected.txt out\n",
    "verify/leap.py": "",
    "expected.txt": "",
    "package.json": '{"scripts": {"check": "node checks/"}}',
    "checks/letters.js": "",
    "lib/tool.sh": "",
}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("bash check.sh", {"check.sh", "check/TidesCheck.java"}),
        ("make -s verify", {"Makefile", "verify/leap.py", "expected.txt"}),
        ("npm run -s check", {"package.json", "checks/letters.js"}),
        ("python3 -m till 2x25.00", set()),
    ],
)
def test_checks_are_followed_through_scripts_and_recipes(command: str, found: set[str]) -> None:
    assert reached([command], TEXTS) == found


@pytest.mark.parametrize("path", ["check.sh", "checks/a.js", "ci/run", "expected_output.txt", "src/TidesCheck.java"])
def test_a_check_is_known_by_its_name(path: str) -> None:
    assert like_a_check(path)


@pytest.mark.parametrize("path", ["lib/ledger.sh", "src/checkout.py", "latest.js", "src/specialist.rs", "Makefile"])
def test_a_program_under_construction_is_no_check(path: str) -> None:
    assert not like_a_check(path)


def test_a_script_may_lead_to_a_check_without_being_one() -> None:
    assert leads_on("lib/ledger.sh")
    assert leads_on("Makefile")
