"""A real browser looks at a real site: what it finds, and what is left when it is done."""

import os
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.visual import Route, VisualIssue, VisualResults
from autopilot.evidence.visual.visit import is_held
from support.site import FINE, HEAD, WIDE, Site, answers, make_site, needs_browser, server

pytestmark = [pytest.mark.sandbox, needs_browser]
PAGES = {
    "index.html": FINE,
    "wide.html": WIDE,
    "broken.html": f"{HEAD}<body><p>text</p><script>console.error('it hurts'); nowhere();</script></body></html>",
    "blind.html": f"{HEAD}<body><p>text</p><img src='dot.svg' width=9><img src='gone.png' alt=''><input></body></html>",
    "blank.html": f"{HEAD}<body></body></html>",
    "sly.html": f"{HEAD}<body><div style='width:3000px'>x</div><script>Object.defineProperty(Element.prototype,"
    "'scrollWidth',{get:()=>9});fetch('http://1.2.3.4/secret')</script></body></html>",
    "dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
}
ROUTES = tuple(
    Route(path=path, name=path.strip("/").partition(".")[0] or "home", wait_ms=100)
    for path in ("/", "/wide.html", "/broken.html", "/blind.html", "/blank.html", "/sly.html", "/gone.html")
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> VisualResults:
    """Every page of the site, looked at once."""
    site = make_site(tmp_path_factory.mktemp("site"), PAGES)
    return site.look(site.bench.base, *ROUTES)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        ("home", set()),
        ("wide", {("layout", "major", "the page is 3008 px wide and has to be scrolled sideways in 1280 px")}),
        ("broken", {("rendering", "major", "uncaught exception: nowhere is not defined"), ("rendering", "minor", "console error: it hurts")}),
        ("blind", {("accessibility", "minor", "images without alternative text"), ("accessibility", "minor", "form fields without a label"), ("rendering", "major", "image /gone.png failed: HTTP 404")}),
        ("blank", {("rendering", "critical", "the page is blank")}),
        ("sly", {("layout", "major", "the page is 3008 px wide and has to be scrolled sideways in 1280 px"), ("rendering", "minor", "uncaught exception: Failed to fetch")}),
        ("gone", {("rendering", "critical", "the page answers HTTP 404")}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_vist_03_each_page_s_issues_are_found(seen: VisualResults, route: str, expected: set[Any]) -> None:
    """VIST-03: typed and weighed, by what a browser shows and not by what the page's own scripts say."""
    found = {(i.type, i.severity, i.description) for i in seen.issues_found if i.route == route}

    assert found == expected


def test_vist_02_one_new_picture_a_route_is_taken_at_the_viewport(seen: VisualResults) -> None:
    """VIST-02, VIST-05."""
    assert (seen.routes_tested, seen.routes_passed, seen.infrastructure_available) == (7, 1, True)
    assert [shot.screenshot_path for shot in seen.screenshots][:2] == [
        ".planning/screenshots/home-20260101T000000.000Z.png",
        ".planning/screenshots/wide-20260101T000001.000Z.png",
    ]


def test_a_page_reaches_nothing_but_its_app(seen: VisualResults) -> None:
    assert [shot.blocked for shot in seen.screenshots if shot.name == "sly"] == [("http://1.2.3.4/secret",)]


def test_the_element_that_is_too_wide_is_named(seen: VisualResults) -> None:
    assert next(issue.location for issue in seen.issues_found if issue.route == "wide") == "div.strip"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path, {"index.html": FINE})


def test_an_issue_that_was_there_before_does_not_count(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"index.html": WIDE})

    found = site.look(site.bench.seal({"a.txt": "a"}))

    assert [issue.old for issue in found.issues_found] == [True]
    assert (found.blocking, found.routes_passed) == ((), 1)


def test_vist_06_a_page_that_looks_otherwise_than_its_baseline_is_a_regression(site: Site) -> None:
    """VIST-06."""
    site.looking.keep(site.look(site.bench.base))
    changed = site.bench.seal({"index.html": FINE.replace("<h1>", '<h1 style="background:navy">')})

    found = site.look(changed)

    assert [(i.type, i.severity) for i in found.blocking] == [("regression", "major")]
    assert found.screenshots[0].diff_path == ".planning/screenshots/home-20260101T000001.000Z.diff.png"
    assert (site.bench.root / str(found.screenshots[0].diff_path)).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("stable", "own", "redrawn", "held"),
    [(False, True, True, False), (False, True, False, True), (True, True, True, True), (False, False, True, True)],
    ids=["a phase that draws", "one that does not", "a stable route", "the user's own baseline"],
)
def test_a_page_is_held_to_its_baseline_unless_the_phase_is_to_change_it(
    stable: bool, own: bool, redrawn: bool, held: bool
) -> None:
    assert is_held(Route(path="/", name="home", stable=stable), own=own, redrawn=redrawn) is held


def test_without_a_sandbox_the_app_is_looked_at_all_the_same(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"index.html": FINE}, "none")

    found = site.look(site.bench.base)

    assert (found.routes_passed, found.sandbox, found.issues_found) == (1, "none", ())
    assert not answers(site.port)


def broken(site: Site, **more: Any) -> VisualResults:
    found = site.look(site.bench.base, **more)
    assert (found.infrastructure_available, found.screenshots, found.blocking) == (False, (), ())
    assert not answers(site.port)
    return found


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program", "it ended with exit code 127"),
        ("echo out of ideas >&2; exit 4", "it ended with exit code 4: out of ideas"),
        ("sleep 60", "did not answer 200: "),
    ],
    ids=["does not start", "exits", "hangs"],
)
def test_vist_01_an_app_that_does_not_come_up_is_skipped(site: Site, command: str, reason: str) -> None:
    """VIST-01, VIST-04: it is told, and fails nothing."""
    found = broken(site, launch_command=command, launch_limit_ms=500 if command.startswith("sleep") else 30_000)

    assert found.skipped.startswith("Visual testing skipped: app failed to launch. ")
    assert reason in found.skipped


def test_vist_04_without_a_browser_nothing_is_launched(tmp_path: Path) -> None:
    """VIST-04."""
    site = make_site(tmp_path, {"index.html": FINE}, environment={**os.environ, "PATH": str(tmp_path)})

    found = broken(site, launch_command="touch launched; exit 1")

    assert found.skipped == "Visual testing skipped: no browser found (chromium, chromium-browser, google-chrome)."


def test_another_program_on_the_port_is_never_taken_for_the_app(tmp_path: Path) -> None:
    site, other = (make_site(tmp_path / name, {"index.html": FINE}, "none") for name in ("site", "other"))

    with other.looking.serving.serve(server(site.port), str(other.bench.root), site.port, 30) as served:
        while not answers(site.port):
            assert served.ended() is None
        found = site.look(site.bench.base)

    assert (
        found.skipped
        == f"Visual testing skipped: app failed to launch. something else already answers on port {site.port}."
    )


def test_a_browser_that_cannot_start_fails_nothing(site: Site, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "chromium"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    site.looking.environment = {**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"}

    assert broken(site).skipped.startswith("Visual testing skipped: the browser failed: ")


def test_vist_02_a_page_that_never_ends_costs_the_others_nothing(tmp_path: Path) -> None:
    """VIST-02: a page has its time and no more, even if it keeps the browser from answering at all."""
    stuck = f"{HEAD}<body><p>text</p><script>setTimeout(() => {{ for (;;); }}, 50)</script></body></html>"
    site = make_site(tmp_path, {"index.html": FINE, "stuck.html": stuck})
    site.looking.route_s = 4.0
    routes = (Route(path="/stuck.html", name="stuck", wait_ms=200), Route(path="/", name="home", wait_ms=0))

    found = site.look(site.bench.base, *routes)

    assert [shot.analysis.overall_assessment for shot in found.screenshots] == ["error", "pass"]
    assert [issue.severity for issue in found.blocking] == ["critical"]


def test_issues_name_the_route_they_are_about() -> None:
    issue = VisualIssue(route="home", type="layout", severity="major", description="too wide", location="div.strip")

    assert issue.told == "major layout issue on home: too wide at div.strip"
