"""The report in a real browser: it can be used by keyboard, is readable, prints, and runs nothing but its own script."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autopilot.evidence.visual import browser
from autopilot.text.redact import redact
from autopilot.views.report.page import TITLES, page
from support.reports import HOSTILE, SECRET, retold, told_run
from support.site import needs_browser

pytestmark = needs_browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as played:
        found = played.chromium.launch(
            executable_path=browser.find_browser(os.environ), args=[*browser.QUIET, "--no-sandbox"]
        )
        yield found
        found.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(told_run(), redact), encoding="utf-8")
    return path


@pytest.fixture
def tab(chromium: Any, report: Path) -> Iterator[Any]:
    yield from _tab(chromium, report)


def _tab(chromium: Any, path: Path, **more: Any) -> Iterator[Any]:
    """The page, opened; `told` gathers what it asked for and what it complained of."""
    context = chromium.new_context(viewport={"width": 1100, "height": 800}, **more)
    opened = context.new_page()
    opened.told = []
    opened.on("request", lambda request: opened.told.append(request.url))
    opened.on("console", lambda message: opened.told.append(message.text))
    opened.on("pageerror", lambda error: opened.told.append(str(error)))
    opened.on("dialog", lambda dialog: opened.told.append(dialog.message))
    opened.goto(path.as_uri())
    yield opened
    context.close()


def shown_rows(tab: Any) -> list[str]:
    found: list[str] = tab.locator("#phases tbody tr:visible th").all_inner_texts()
    return found


def test_every_section_is_shown_and_nothing_is_asked_of_anybody(tab: Any, report: Path) -> None:
    assert tab.locator("section > h2").all_inner_texts() == list(TITLES.values())
    assert tab.told == [report.as_uri()]


def test_phases_are_filtered_by_keyboard_alone(tab: Any) -> None:
    tab.keyboard.press("/")
    tab.keyboard.type("FAILED")
    filtered, told = shown_rows(tab), tab.locator("#count").inner_text()
    tab.keyboard.press("Escape")

    assert (filtered, told) == (["Letter 2"], "1 of 3 phases")
    assert shown_rows(tab) == ["Letter 1", "Letter 2", "Letter 3"]


def test_phases_are_filtered_by_their_status(tab: Any) -> None:
    tab.focus("#status")
    tab.keyboard.type("not started")
    tab.locator("#status").dispatch_event("change")

    assert shown_rows(tab) == ["Letter 3"]


def test_phases_are_sorted_by_keyboard_and_say_how(tab: Any) -> None:
    tab.focus("#phases thead button >> nth=0")
    tab.keyboard.press("Enter")
    first = shown_rows(tab), tab.get_attribute("#phases th >> nth=0", "aria-sort")
    tab.keyboard.press("Space")

    assert first == (["Letter 1", "Letter 2", "Letter 3"], "ascending")
    assert shown_rows(tab) == ["Letter 3", "Letter 2", "Letter 1"]


def test_a_link_to_a_phase_unfolds_it(tab: Any) -> None:
    tab.focus("#phases tbody a >> nth=1")
    tab.keyboard.press("Enter")

    tab.locator("#phase-2 dl").wait_for(timeout=5000)
    assert not tab.locator("#phase-1 dl").is_visible()


def test_all_is_unfolded_at_once(tab: Any) -> None:
    tab.focus("#unfold")
    tab.keyboard.press("Enter")

    assert tab.locator("#details details:not([open])").count() == 0
    assert tab.get_by_text("output of 01-01.1").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_reader_s_colours_and_is_not_wider_than_the_window(
    chromium: Any, report: Path, scheme: str
) -> None:
    (paper, wide), = [
        (tab.evaluate("getComputedStyle(document.body).backgroundColor"), tab.evaluate("document.documentElement.scrollWidth"))
        for tab in _tab(chromium, report, color_scheme=scheme)
    ]  # fmt: skip

    assert (paper, wide) == ({"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme], 1100)


def test_the_page_can_be_read_without_scripts(chromium: Any, report: Path) -> None:
    for tab in _tab(chromium, report, java_script_enabled=False):
        assert len(shown_rows(tab)) == 3
        assert not tab.locator("#filter").is_visible()


def test_the_page_prints(tab: Any) -> None:
    assert tab.pdf().startswith(b"%PDF-")
    tab.emulate_media(media="print")
    assert not tab.locator("nav").is_visible()


def test_planted_payloads_run_nothing_and_ask_for_nothing(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    told = retold(told_run(), lambda text: f"{text} {HOSTILE} {SECRET}")
    path.write_text(page(replace(told, learnings=HOSTILE), redact), encoding="utf-8")
    for tab in _tab(chromium, path):
        tab.click("#unfold")
        tab.mouse.move(300, 300)
        tab.keyboard.press("/")
        tab.keyboard.type("<script>")
        tab.wait_for_timeout(200)

        assert tab.evaluate("window.hit") is None
        assert tab.told == [path.as_uri()]
        assert "<script>window.hit = 1</script>" in tab.inner_text("main")
        assert tab.locator("#phases tbody tr:visible").count() == 3
