"""The dashboard in a real browser: live changes, clicks, a verdict, keys, and script in every text that is shown."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autopilot import serving
from autopilot.domain.events import RunFinished, RunResumed
from autopilot.evidence.visual import browser
from autopilot.views.dashboard.deeds import Deeds, Given, Question
from support.dashboards import Chronicle, Site, served
from support.records import RUN, SPEC
from support.site import needs_browser

pytestmark = needs_browser
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
QUESTION = "Does the letter look right?"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=browser.find_browser(os.environ), chromium_sandbox=os.geteuid() != 0
        )
        yield found
        found.close()


class Person:
    """Their verdict lets the run go on, as the verb's would."""

    def __init__(self, told: Chronicle) -> None:
        self.told, self.given = told, list[tuple[str, Given, tuple[str, ...]]]()
        self.answered: list[str] = []

    def verdict(self, folder: Path, phase: str, verdict: Given, issues: tuple[str, ...]) -> str:
        self.given.append((phase, verdict, issues))
        self.told.tell(RUN, RunResumed(pid=1, spec=SPEC))
        self.told.end(phase)
        self.told.begin("3")
        return f"Phase {phase}: {verdict}. The run goes on."

    def pending(self, folder: Path) -> tuple[Question, ...]:
        return () if self.answered else (Question(id="q1", text="Which colour?", options=("red", "blue")),)

    def answer(self, folder: Path, question: str, text: str) -> str:
        self.answered.append(text)
        return "Written down."


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Chronicle]:
    told = Chronicle(tmp_path / "letters", names={"1": HOSTILE})
    with told.journal:
        yield told


@pytest.fixture
def person(told: Chronicle) -> Person:
    return Person(told)


@pytest.fixture
def site(told: Chronicle, person: Person) -> Iterator[Site]:
    deeds = Deeds(
        verdict=person.verdict, questions=person, resume=lambda _: "It goes on.", transcript=serving.transcript
    )
    told.whole("1", said=HOSTILE)
    with served(told.root, deeds=deeds) as found:
        yield found


@pytest.fixture
def page(chromium: Any, site: Site) -> Iterator[Any]:
    """The page, once it shows the run; whatever it complains of on the console fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    opened, complaints = context.new_page(), list[str]()
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.set_default_timeout(8000)
    opened.goto(site.address())
    opened.wait_for_selector(".phase")
    yield opened
    context.close()
    assert complaints == []


def test_the_token_leaves_the_address_and_stays_for_a_reload(page: Any, site: Site) -> None:
    assert page.url == f"{site.origin}/"
    page.reload()
    page.wait_for_selector(".phase")
    assert page.context.cookies() == []


def test_a_journal_write_is_seen_within_a_second(page: Any, told: Chronicle) -> None:
    told.begin("2")
    begun = time.monotonic()
    page.wait_for_selector("text=◐ at work")

    assert time.monotonic() - begun < 1.0
    told.open_step("2")
    page.wait_for_selector("#now >> text=going on")


def test_a_verdict_given_in_the_page_lets_the_run_go_on(page: Any, told: Chronicle, person: Person) -> None:
    told.ask("2", QUESTION)
    page.wait_for_selector(f"#asked >> text={QUESTION}")
    page.get_by_label("It has issues").check()
    page.get_by_label("What is wrong with phase 2, one issue a line").fill("too short\n\nno date\n")
    page.click("text=Give verdict")
    page.wait_for_selector("#notice >> text=The run goes on.")
    page.wait_for_selector("#now >> text=Phase 3")

    assert person.given == [("2", "issues", ("too short", "no date"))]
    page.wait_for_selector(f"#asked >> text={QUESTION}", state="detached")


def test_what_is_typed_stays_when_something_else_is_asked(page: Any, told: Chronicle) -> None:
    told.ask("2", QUESTION)
    page.get_by_label("What is wrong with phase 2, one issue a line").fill("too short")
    told.ask("3", "And this one?")
    page.wait_for_selector("#asked >> text=And this one?")

    assert page.get_by_label("What is wrong with phase 2, one issue a line").input_value() == "too short"


def test_a_question_is_answered_in_the_page(page: Any, person: Person) -> None:
    page.get_by_role("button", name="blue").click()
    page.get_by_role("button", name="Answer", exact=True).click()
    page.wait_for_selector("#asked", state="hidden")

    assert person.answered == ["blue"]


def test_script_in_what_agents_say_stays_text(page: Any) -> None:
    page.click(".phase >> nth=0")
    page.wait_for_selector("#inside .steps")
    assert "onerror" in page.inner_text("#inside-body")
    page.click("#inside .calls button")
    page.get_by_role("button", name=re.compile("^said")).click()
    page.wait_for_selector("#text-body >> text=onerror")

    assert page.evaluate("document.querySelectorAll('main img, dialog img, dialog script').length") == 0
    assert page.title() != "owned"


def test_not_even_our_own_script_could_make_markup(chromium: Any, site: Site) -> None:
    context = chromium.new_context()
    opened = context.new_page()
    opened.goto(site.address())
    refused = opened.evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>'; return false; } catch { return true; } }"
    )
    context.close()

    assert refused


def test_the_keys_move_look_inside_and_filter(page: Any) -> None:
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert "Letter 2" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#inside[open] >> text=has not been started")
    page.keyboard.press("Escape")
    page.wait_for_selector("#inside", state="hidden")
    page.keyboard.press("/")
    page.keyboard.type("letter 3")
    assert page.locator("#phases > li:visible").count() == 1


def test_everything_to_press_or_fill_has_a_name(page: Any, told: Chronicle) -> None:
    told.ask("2")
    page.wait_for_selector("text=Give verdict")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, textarea, meter, dialog')].filter((found) =>
            !(found.textContent.trim() || found.getAttribute('aria-label') || found.getAttribute('aria-labelledby')
              || found.labels?.length)).map((found) => found.outerHTML)"""
    )

    assert nameless == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_runs_off_the_side(chromium: Any, site: Site, told: Chronicle, scheme: Any) -> None:
    told.begin("2")
    told.open_step("2")
    context = chromium.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    opened = context.new_page()
    opened.goto(site.address())
    opened.wait_for_selector("#now >> text=going on")
    width, ground = opened.evaluate(
        "[document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor]"
    )
    context.close()

    assert width <= 360
    assert (ground == "rgb(16, 21, 28)") == (scheme == "dark")


def test_a_look_only_address_offers_nothing_to_do(chromium: Any, site: Site, told: Chronicle) -> None:
    told.ask("2")
    told.tell(RUN, RunFinished(status="paused", exit_code=11, reason="phase 2 waits"))
    context = chromium.new_context()
    opened = context.new_page()
    opened.goto(site.address(site.door.read_token))
    opened.wait_for_selector("text=Copy: autopilot verdict 2 pass")
    names = opened.evaluate(
        "[...document.querySelectorAll('main button:not(.phase)')].map((button) => button.textContent)"
    )
    context.close()

    assert all(name.startswith(("Copy: ", "execute")) for name in names)


def test_without_its_token_the_page_says_what_to_do(chromium: Any, site: Site) -> None:
    context = chromium.new_context()
    opened = context.new_page()
    opened.goto(site.origin)
    opened.wait_for_selector("#notice >> text=lacks its token")
    opened.goto(site.address("wrong"))
    opened.reload()
    opened.wait_for_selector("#notice >> text=no longer valid")
    context.close()
