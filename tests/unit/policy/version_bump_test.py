"""Versions in the files that name them: minor or patch, never major, and nothing else in the file changes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.policy import version_bump as versions

NUMBER = st.integers(min_value=0, max_value=99)


@pytest.mark.parametrize(
    ("phases", "named", "new"),
    [
        pytest.param(("3", "4"), "4", "1.3.0", id="VERS-01 whole phases: minor"),
        pytest.param(("3.1", "3.2"), "3.2", "1.2.4", id="VERS-01 only decimal phases: patch"),
        pytest.param(("9", "10", "10.1"), "10", "1.3.0", id="AMB-25 the highest whole phase decides"),
    ],
)
def test_the_phases_decide_what_is_bumped(phases: tuple[str, ...], named: str, new: str) -> None:
    assert (versions.decisive(phases), versions.bumped("1.2.3", named)) == (named, new)


@given(NUMBER, NUMBER, NUMBER, st.sampled_from(["3", "3.1"]))
def test_the_major_number_never_changes(major: int, minor: int, patch: int, phase: str) -> None:
    new = versions.bumped(f"{major}.{minor}.{patch}", phase)

    assert new.startswith(f"{major}.")
    assert new != f"{major}.{minor}.{patch}"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Bump minor for whole phases, patch for the others.", True),
        ("## Versioning\nminor: features\npatch: fixes\n", True),
        ("## Version control\nCommit often.", False),
        ("Never bump the version: minor and patch are mine.", False),
        ("", False),
    ],
)
def test_only_a_text_that_says_when_to_bump_what_has_rules(text: str, rules: bool) -> None:
    assert versions.has_rules(text) is rules


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        pytest.param({"CHANGELOG.md": "# Changes\n"}, "no package.json or VERSION names a version", id="no file"),
        pytest.param({"VERSION": "1.0.0\n", "package.json": '{"version": "1.1.0"}'}, "VERSION says 1.0.0; package.json says 1.1.0", id="two versions"),
        pytest.param({"VERSION": "1.0.0-rc1\n"}, "'1.0.0-rc1' is no version of the form 1.2.3", id="another form"),
    ],
)  # fmt: skip
def test_what_is_not_plain_is_not_bumped(files: dict[str, str], problem: str) -> None:
    assert versions.current(files) == ("", problem)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.just({"version": "1.0.0"}), max_size=4))
def test_nothing_else_in_package_json_changes(others: dict[str, object]) -> None:
    held = {**others, "version": "1.0.0"}

    new = versions.with_version("package.json", json.dumps(held), "1.1.0", "")

    assert new is not None
    assert json.loads(new) == {**held, "version": "1.1.0"}


def test_a_changelog_keeps_its_own_form() -> None:
    text = "# Log\n\n## [Unreleased]\n\n## [1.0.0] - 2026-01-01\n\n- old\n"
    entry = versions.changelog_entry(text, "1.1.0", "2026-02-01", [("Letters", "Write them.")])

    assert versions.with_version("CHANGELOG.md", text, "1.1.0", entry) == (
        "# Log\n\n## [Unreleased]\n\n## [1.1.0] - 2026-02-01\n\n### Added\n\n- **Letters:** Write them.\n\n"
        "## [1.0.0] - 2026-01-01\n\n- old\n"
    )
