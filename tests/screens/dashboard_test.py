"""The dashboard in a real browser: live changes, clicks, a verdict, keys, and script in every text that is shown."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from autopilot.agents import transcripts
from autopilot.app import dashboard as serving
from autopilot.domain.errors import RepositoryInvalid
from autopilot.domain.events import Noted, RunFinished, RunResumed, RunStopped
from autopilot.domain.verdict import Retry
from autopilot.evidence.visual import browser
from autopilot.journal.lock import RunLock
from autopilot.views.dashboard.actions import Deeds, Given, Question
from autopilot.views.dashboard.phase_view import PAGE_LETTERS
from support.dashboards import Chronicle, Site, served
from support.deferring import script
from support.records import RUN, SPEC
from support.runs import driven
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


@contextmanager
def opened_at(chromium: Any, address: str) -> Iterator[Any]:
    """The page, once it shows the run; whatever it complains of on the console fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    opened, complaints = context.new_page(), list[str]()
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.set_default_timeout(20_000)
    opened.goto(address)
    opened.wait_for_selector(".phase")
    yield opened
    context.close()
    assert complaints == []


@pytest.fixture
def page(chromium: Any, site: Site) -> Iterator[Any]:
    with opened_at(chromium, site.address()) as opened:
        yield opened


def test_the_token_leaves_the_address_and_stays_for_a_reload(page: Any, site: Site) -> None:
    assert page.url == f"{site.origin}/"
    page.reload()
    page.wait_for_selector(".phase")
    assert page.context.cookies() == []


def test_what_is_written_into_the_journal_is_seen_without_a_reload(page: Any, told: Chronicle) -> None:
    told.begin("2")
    page.wait_for_selector("text=◐ in progress")
    told.open_step("2")
    page.wait_for_selector("#now .chip.going >> text=execute")
    told.close_step("2")
    page.wait_for_selector("#now .chip.done >> text=execute 3.0s")


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
    opened.wait_for_selector("#now .chip.going")
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

    assert all(name.startswith(("Copy: ", "● execute")) for name in names)


def test_without_its_token_the_page_says_what_to_do(chromium: Any, site: Site) -> None:
    context = chromium.new_context()
    opened = context.new_page()
    opened.goto(site.origin)
    opened.wait_for_selector("#notice >> text=lacks its token")
    opened.goto(site.address("wrong"))
    opened.reload()
    opened.wait_for_selector("#notice >> text=no longer valid")
    context.close()


@pytest.mark.parametrize("kind", ["name", "file"])
def test_script_in_names_of_phases_folders_and_files_stays_text(chromium: Any, tmp_path: Path, kind: str) -> None:
    planted = "<img src=x onerror=document.title='owned'>.txt"
    told = Chronicle(tmp_path / (planted if kind == "name" else "letters"), names={"1": HOSTILE})
    with told.journal:
        told.begin("1")
        told.open_step("1")
        told.close_step("1", said=planted, verdict=Retry(step="execute", because=f"{planted} was changed"))
        told.tell(RUN, Noted(event="cross_contamination_warning", phase="1", details={"file": planted, "pattern": "x"}))
        with served(told.root) as site, opened_at(chromium, site.address()) as page:
            page.wait_for_selector("#warnings >> text=onerror")
            page.wait_for_selector("#now >> text=was changed")
            page.click("text=Look inside")
            page.wait_for_selector("#inside >> text=was changed")

            assert page.locator("img").count() == 0
            assert "owned" not in page.title().replace(planted, "")


def test_what_an_agent_does_now_is_shown(chromium: Any, told: Chronicle) -> None:
    with subprocess.Popen(["bash", "-c", "sleep 333 & wait"], start_new_session=True) as child:
        told.begin("2")
        told.open_step("2", pid=child.pid)
        with (
            RunLock(told.root / ".autopilot", RUN),
            served(told.root) as site,
            opened_at(chromium, site.address()) as page,
        ):
            page.wait_for_selector(".agent code >> text=sleep 333")
            page.wait_for_selector(".agent >> text=idle")
        os.killpg(child.pid, 9)


def test_a_run_is_stopped_and_taken_up_again_in_the_page(chromium: Any, told: Chronicle) -> None:
    done, told_to = list[str](), told.tell

    def stop(_: Path) -> str:
        done.append("stop")
        told_to(RUN, RunStopped(exit_code=130, reason="stopped by a person"))
        return "The run stops."

    def resume(_: Path) -> str:
        done.append("resume")
        told_to(RUN, RunResumed(pid=1, spec=SPEC))
        return "The run goes on."

    deeds = Deeds(stop=stop, resume=resume)
    with served(told.root, deeds=deeds) as site, opened_at(chromium, site.address()) as page:
        with RunLock(told.root / ".autopilot", RUN):
            page.get_by_role("button", name="Stop", exact=True).click()
            page.wait_for_selector("#state >> text=paused")
        page.get_by_role("button", name="Resume", exact=True).click()
        page.wait_for_selector("#notice >> text=The run goes on.")

    assert done == ["stop", "resume"]


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_the_clocks_of_a_run_that_nobody_works_on_stand_still(chromium: Any, told: Chronicle, how: str) -> None:
    """An hour later the page shows the same times, and no agent at work."""
    told.begin("2")
    told.open_step("2")
    if how == "stopped":
        told.tell(RUN, RunStopped(exit_code=130, reason="interrupted"))
    with served(told.root) as site, opened_at(chromium, site.address()) as page:
        page.wait_for_selector(f"#state >> text={'paused' if how == 'stopped' else 'interrupted'}")
        if how == "stopped":
            assert page.locator("#reason").inner_text() == "interrupted · To continue: autopilot resume"
        page.evaluate("() => { const own = Date.now; Date.now = () => own() + 3600000; }")
        page.wait_for_timeout(1500)
        page.click("text=Look inside")
        page.wait_for_selector("#inside table")
        page.wait_for_timeout(1500)

        clocks = page.locator("[data-since]").all_inner_texts()
        assert clocks
        assert not [clock for clock in clocks if "h" in clock or "m" in clock]
        assert page.locator(".agent").count() == 0
        assert "going on" not in page.locator("#inside").inner_text()
        assert page.locator("#now-title").inner_text() == "Not finished"


def test_why_a_deed_was_refused_is_shown(chromium: Any, told: Chronicle) -> None:
    told.tell(RUN, RunStopped(exit_code=130, reason="interrupted"))

    def resume(_: Path) -> str:
        raise RepositoryInvalid("It is not trusted.", why="Nothing of it runs.", do="Type `autopilot trust`.")

    with served(told.root, deeds=Deeds(resume=resume)) as site:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(site.address())
        page.get_by_role("button", name="Resume", exact=True).click()
        page.wait_for_selector("#notice >> text=It is not trusted. Nothing of it runs. Type `autopilot trust`.")
        context.close()


def test_commands_are_copied_as_they_are_to_be_typed(page: Any, told: Chronicle) -> None:
    told.ask("2", QUESTION)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("It has issues").check()
    page.get_by_label("What is wrong with phase 2, one issue a line").fill("it's short")
    page.get_by_role("button", name="Copy: autopilot verdict 2 pass").click()
    page.wait_for_selector("text=Copied")

    assert page.evaluate("navigator.clipboard.readText()") == "autopilot verdict 2 issues 'it'\\''s short'"


def test_projects_and_their_older_runs_are_chosen(chromium: Any, told: Chronicle, tmp_path: Path) -> None:
    other = Chronicle(tmp_path / "numbers", "7")
    other.tell(RUN, RunFinished(status="completed", exit_code=0, reason="every target phase passed"))
    newer = "run-2027-01-01-120000"
    other.journal.close()
    Chronicle(tmp_path / "numbers", "8", run=newer).journal.close()
    with served(told.root, other.root) as site, opened_at(chromium, site.address()) as page:
        page.select_option("#project", label="numbers")
        page.wait_for_selector(f"#run-title >> text=numbers · {newer}")
        page.wait_for_selector('#phases > li[data-id="8"]')
        page.select_option("#run", RUN)
        page.wait_for_selector('#phases > li[data-id="7"]')
        page.wait_for_selector("#state >> text=completed")


def test_a_long_text_is_turned_page_by_page(page: Any, told: Chronicle) -> None:
    printed = "".join(f"line {n}\n" for n in range(20_000))
    ran = transcripts.Transcript(
        call=f"{RUN}/1/execute/1", command=("agent",), stdin={}, stdout=printed, stderr="", exit=0, seconds=1.0
    )
    transcripts.store(told.root / ".autopilot" / "transcripts", ran)
    page.click(".phase >> nth=0")
    page.click("#inside .calls button")
    page.get_by_role("button", name=re.compile("^output")).click()
    page.wait_for_selector("#text-body >> text=line 0")
    page.get_by_role("button", name="End").click()
    page.wait_for_selector("#text-body >> text=line 19999")

    assert len(page.inner_text("#text-body")) <= PAGE_LETTERS
    assert page.get_by_role("button", name="On", exact=True).is_disabled()


def test_a_verdict_given_in_the_page_is_the_verb_s_and_the_real_run_goes_on(chromium: Any, tmp_path: Path) -> None:
    project = driven(tmp_path, script("1", phases="12"), "1", "2>1")
    assert project.run().exit == 11
    with served(project.root, deeds=serving.verbs()) as site, opened_at(chromium, site.address()) as page:
        page.set_default_timeout(60_000)
        page.click("text=Give verdict")
        page.wait_for_selector("#notice >> text=human verdict recorded: pass")
        again = site.post("/api/projects/1/verdict", {"phase": "1", "verdict": "pass"})
        page.get_by_role("button", name="Resume", exact=True).click()
        page.wait_for_selector("#state >> text=completed")

    assert (again.status, (project.root / "letter2.txt").read_text()) == (409, "done\n")
