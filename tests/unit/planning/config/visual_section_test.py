"""`project.visual_testing`: what is taken, what is missing, and what is told."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.visual import Route, Viewport
from autopilot.planning.config import read_config as config
from autopilot.planning.config import visual_section as visual

WHOLE: dict[str, Any] = {
    "enabled": True,
    "launch_command": "npm run dev",
    "base_url": "http://localhost:3000/",
    "routes": [{"path": "/", "name": "home"}],
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["path", "name", "width"]), inner),
    max_leaves=5,
)


def test_a_section_that_names_only_what_it_must_has_the_known_defaults() -> None:
    """Schema 16."""
    found = visual.read(WHOLE).testing

    assert found is not None
    assert found.routes == (Route(path="/", name="home", wait_ms=2000),)
    assert (found.base_url, found.launch_wait_ms, found.headless) == ("http://localhost:3000", 5000, True)
    assert (found.screenshot_dir, found.viewport) == (".planning/screenshots", Viewport(width=1280, height=720))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"launch_command": " "}, "launch_command"),
        ({"base_url": None}, "base_url"),
        ({"base_url": "localhost:3000"}, "base_url"),
        ({"base_url": "http://a,MAP * evil:1"}, "base_url"),
        ({"base_url": "http://localhost:99999"}, "base_url"),
        ({"routes": []}, "routes"),
        ({"routes": [{"path": "/"}]}, "routes"),
        ({"routes": [{"path": "http://elsewhere/", "name": "x"}]}, "routes"),
    ],
    ids=["no command", "no address", "no scheme", "two rules", "bad port", "no routes", "no name", "elsewhere"],
)
def test_vis_01_what_is_missing_is_told_and_nothing_is_looked_at(change: dict[str, Any], field: str) -> None:
    """VIS-01."""
    read = config.read(json.dumps({"project": {"visual_testing": WHOLE | change}}), "config.json")

    told = f"Visual testing config incomplete: missing {field}. Visual testing will be skipped."
    assert told in read.notes
    assert visual.chosen(read.visual, asked=False) is None
    with pytest.raises(ConfigInvalid, match=field):
        visual.chosen(read.visual, asked=True)


@pytest.mark.parametrize(("enabled", "asked"), [(True, False), (False, True), (False, False)])
def test_vis_03_the_flag_looks_even_where_it_is_not_enabled(enabled: bool, asked: bool) -> None:
    """VIS-03."""
    found = visual.chosen(visual.read(WHOLE | {"enabled": enabled}), asked=asked)

    assert (found is not None) is (enabled or asked)
    assert found is None or found.forced is asked


@pytest.mark.parametrize("kind", ["ui", "mixed", "data", "protocol"])
def test_vis_02_pages_are_looked_at_in_phases_that_may_draw_them(kind: str) -> None:
    """VIS-02, VIS-03."""
    plain, forced = (visual.chosen(visual.read(WHOLE), asked=asked) for asked in (False, True))

    assert plain is not None
    assert forced is not None
    assert (plain.applies(kind), forced.applies(kind)) == (kind in {"ui", "mixed"}, True)


@pytest.mark.parametrize("folder", ["/etc", "../up", "src/shots", ".planning", ".planning/../src", ".git/shots"])
def test_screenshots_lie_only_where_nothing_of_the_user_s_work_does(folder: str) -> None:
    read = visual.read(WHOLE | {"screenshot_dir": folder})

    assert read.testing is not None
    assert read.testing.screenshot_dir == ".planning/screenshots"
    assert "is not below .planning/ or .autopilot/" in read.notes[0]


def test_names_are_made_fit_for_files_and_each_is_taken_once() -> None:
    routes = [{"path": "a", "name": "../a b"}, {"path": "/b", "name": "A b"}, {"path": "//c", "name": "c"}]

    read = visual.read(WHOLE | {"routes": routes})

    assert read.testing is not None
    assert [(route.path, route.name) for route in read.testing.routes] == [("/a", "a-b"), ("/c", "c")]


@given(st.dictionaries(st.sampled_from([*WHOLE, "viewport", "screenshot_dir", "launch_wait_ms"]), ANYTHING))
def test_whatever_is_written_there_is_read_and_is_whole_or_absent(changes: dict[str, Any]) -> None:
    read = visual.read(WHOLE | changes)

    assert (read.testing is None) == bool(read.missing)
    assert read.testing is None or (read.testing.routes and read.testing.launch_wait_ms >= 0)
