"""Detected commands in config.json: theirs is written, everything else stays byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.forecast import CommandSource, ProjectFacts
from autopilot.planning.config.write_back import with_project

NAMES = ("compile", "lint", "test", "build")
FACTS = ProjectFacts(
    type="python",
    manifest="pyproject.toml",
    commands={
        name: CommandSource(command="pytest" if name == "test" else None, source="auto-detected") for name in NAMES
    },
)
WANTED = {
    "type": "python",
    "manifest": "pyproject.toml",
    "commands": {"test": "pytest"},
    "commands_source": {"test": "auto-detected"},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def written(text: str | None) -> str:
    return with_project(text, FACTS, "config.json")


@pytest.mark.parametrize("text", [None, "", "{}", "{ }\n", '{"project": {}}', '{"project": {"commands": {}}}'])
def test_a_config_without_commands_gets_them(text: str | None) -> None:
    assert json.loads(written(text)) == {"project": WANTED}


def test_everything_else_stays_as_it_was_written() -> None:
    text = '{\n    "a":1.50,   "b": [ 1,2 ],\n    "project": {\n        "name": "caf\\u00e9",\n        "commands": {"test": "old", "e2e": "x"}\n    }\n}\n'
    new = written(text)

    assert '"a":1.50,   "b": [ 1,2 ],' in new
    assert '"name": "caf\\u00e9"' in new
    assert json.loads(new)["project"]["commands"] == {**WANTED["commands"], "e2e": "x"}  # type: ignore[dict-item] # a plain table
    assert new.startswith('{\n    "a"')
    assert new.endswith("}\n")


def test_writing_twice_changes_nothing_more() -> None:
    assert written(written('{"x": 1}')) == written('{"x": 1}')


def test_a_byte_order_mark_stays_in_front() -> None:
    assert written("\ufeff{}").startswith("\ufeff{")


def test_amb_47_a_project_that_is_no_object_is_not_thrown_away() -> None:
    with pytest.raises(ConfigInvalid, match="`project` is not an object"):
        written('{"project": "Till"}')


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "project"), JSON, max_size=4),
    st.dictionaries(st.text(max_size=5), JSON, max_size=3) | st.none(),
    st.sampled_from([None, 2, "\t"]),
)
def test_any_config_keeps_all_it_held(
    held: dict[str, object], project: dict[str, object] | None, indent: int | str | None
) -> None:
    whole = held if project is None else {**held, "project": project}
    new = json.loads(written(json.dumps(whole, indent=indent)))

    assert {key: value for key, value in new.items() if key != "project"} == held
    kept = {key: value for key, value in (project or {}).items() if key not in WANTED}
    assert new["project"] == {**kept, **WANTED}
