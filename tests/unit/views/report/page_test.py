"""The page as a parser sees it: whole, small, and with nothing in it that could act."""

import base64
import hashlib
import re
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.text.redact import Redactor, redact
from autopilot.views.report.diffs import diff_markup
from autopilot.views.report.markup import Pen, el, words
from autopilot.views.report.page import TITLES, _asset, page
from autopilot.views.report.sections import sort_key
from autopilot.views.report.size_limits import PAGE, Purse, affordable, chosen
from autopilot.views.report.source import ReceiptSeen, Told
from support.records import phase, started
from support.reports import HOSTILE, SECRET, Seen, clock, long_story, retold, run_record, told_run, waiting_run

PEN = Pen(redact)
RUNS = tuple(
    {"run_id": f"run-{n}", "success_rate": n / 4, "avg_alignment_score": None, "total_estimated_tokens": 5, "total_tokens_used": 9}
    for n in range(3)
)  # fmt: skip
RECEIPTS = (
    ReceiptSeen(phase="1", path="a/RECEIPT.json", run="run-x", result="PASSED", commit="c" * 40, passed=2, total=2),
    ReceiptSeen(phase="2", path="b/RECEIPT.json", trouble="it is no receipt"),
)


@pytest.fixture(scope="module")
def seen() -> Seen:
    diffs = {("base", "c1"): "diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new\n"}
    return Seen(page(told_run(runs=RUNS, receipts=RECEIPTS, learnings="- mind the gap", diffs=diffs), redact))


def test_every_section_is_there_under_its_heading_and_in_the_navigation(seen: Seen) -> None:
    sections = [(part["id"], part["aria-labelledby"]) for part in seen.all("section")]

    assert sections == [(name, f"{name}-title") for name in TITLES]
    assert {f"#{name}" for name in TITLES} <= {link["href"] for link in seen.all("a")}


def test_elements_are_nested_rightly_and_no_name_is_given_twice(seen: Seen) -> None:
    names = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]

    assert (seen.unmatched, seen.open) == ([], [])
    assert len(names) == len(set(names))


def test_every_link_leads_to_a_place_on_the_page(seen: Seen) -> None:
    names = {attributes.get("id") for _, attributes in seen.elements}

    assert {str(link["href"]).removeprefix("#") for link in seen.all("a")} <= names


def test_the_policy_lets_in_the_page_s_own_style_and_script_alone(seen: Seen) -> None:
    (policy,) = (str(m["content"]) for m in seen.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    hashes = [
        base64.b64encode(hashlib.sha256(_asset(name).encode()).digest()).decode() for name in ("page.css", "page.js")
    ]

    assert policy.startswith("default-src 'none'; ")
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert "unsafe" not in policy


def test_nothing_is_asked_of_anybody_else(seen: Seen) -> None:
    outward = {"src", "srcset", "action", "formaction", "data", "poster", "style", "xlink:href"}

    assert not [
        name for _, attributes in seen.elements for name in attributes if name in outward or name.startswith("on")
    ]
    assert not [tag for tag, _ in seen.elements if tag in {"link", "img", "iframe", "object", "embed", "base", "form"}]


def test_what_a_person_looks_for_is_on_the_page(seen: Seen) -> None:
    text = " ".join(" ".join(seen.text).split())

    for wanted in (
        "1 of 3 phases passed", "it cannot be mended", "grep -q done letter.txt", "exit 1", "output of 01-01.1",
        "test_a is gone", "test-deleted", "usd_per_run", "Scores per criterion: 9.4 in all", "unknown", "mind the gap",
        "autopilot receipt check N", "it is no receipt", "Recurring failures: none", "nobody worked for 36m", "new",
    ):  # fmt: skip
        assert wanted in text, wanted


def test_fields_and_pictures_have_names(seen: Seen) -> None:
    assert all(part.get("aria-label") or part.get("aria-hidden") for part in seen.all("svg"))
    assert len(seen.all("label")) == len(seen.all("input")) + len(seen.all("select"))
    assert all(part.get("scope") for part in seen.all("th"))


@pytest.mark.parametrize("told", [told_run, waiting_run, long_story], ids=["failed", "waiting", "one phase"])
def test_words_that_would_act_stay_words(told: Callable[..., object]) -> None:
    plain = Seen(page(told(), redact))  # type: ignore[arg-type]  # each makes what a page is of
    hostile = Seen(page(retold(told(), lambda text: f"{text} {HOSTILE}"), redact))  # type: ignore[arg-type]  # as above

    assert {tag for tag, _ in hostile.elements} <= {tag for tag, _ in plain.elements} | {
        "p",
        "pre",
        "ins",
        "del",
        "b",
        "details",
        "summary",
    }
    assert any("<script>window.hit" in text for text in hostile.text)
    assert len(hostile.all("script")) == len(hostile.all("style")) == 1
    assert not any(letter in text for text in hostile.text for letter in "\u202e\x1b\x00")


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.sampled_from([20, 400]))
def test_no_text_at_all_becomes_markup(text: str, most: int) -> None:
    for drawn in (
        PEN.line(text, most),
        PEN.block(text, most),
        el("p", words(text), title=text),
        diff_markup(text, PEN, most),
    ):
        found = Seen(str(drawn))
        assert {tag for tag, _ in found.elements} <= {"p", "pre", "ins", "del", "i", "b"}
        assert found.unmatched == []


@given(st.integers(0, 900), st.integers(20, 500))
def test_a_secret_is_not_cut_in_half_and_shown(before: int, most: int) -> None:
    text = f"{'x ' * before}{SECRET}{' y' * 900}"

    for drawn in (PEN.line(text, most), PEN.block(text, most)):
        assert not re.search(r"ghp_a1|(?:a1){4}", str(drawn))


def test_a_value_of_the_environment_is_taken_out_everywhere() -> None:
    told = retold(told_run(), lambda text: f"{text} hunter2hunter2")
    shown = page(told, Redactor.of({"MY_TOKEN": "hunter2hunter2"}))

    assert "hunter2" not in shown
    assert "[redacted:env:MY_TOKEN]" in shown


def test_a_line_of_ten_megabytes_takes_a_bounded_place() -> None:
    huge = "<&" * 5_000_000

    assert len(PEN.line(huge)) < 4_000
    assert len(PEN.block(huge, 1000)) < 8_000
    assert "characters left out" in PEN.block(huge, 1000)


@pytest.mark.parametrize("most", [300_000, 1_000_000], ids=str)
def test_the_page_stays_below_its_bound_and_says_what_it_left_out(most: int) -> None:
    told = retold(told_run(), lambda text: f"{text} {'<>&' * 3000}")
    shown = page(told, redact, most)

    assert len(shown.encode()) <= most
    assert Seen(shown).unmatched == []


def test_a_roadmap_of_thousands_of_phases_with_endless_names_stays_below_it() -> None:
    endless = "\N{GRINNING FACE}\u4e2d" * 100 + HOSTILE
    known = (msgspec.structs.replace(phase(str(n)), name=endless, goal=endless) for n in range(3_000))
    shown = page(Told(run=run_record((clock(0), started(*known))), passes={}, now=clock(1)), redact)

    assert len(shown.encode()) <= PAGE
    assert "2,000 phases are left out" in shown


def test_a_run_that_has_just_begun_has_a_page() -> None:
    shown = Seen(page(Told(run=run_record((clock(0), started())), passes={}, now=clock(1)), redact))

    assert (shown.unmatched, len(shown.all("section"))) == ([], len(TITLES))


def test_of_facts_that_do_not_fit_those_that_count_most_are_shown() -> None:
    assert chosen([10, 10, 10, 50], [2, 0, 1, 0], 25) == {1, 2}


def test_what_does_not_fit_is_counted() -> None:
    drawn, rest = affordable(range(10), lambda n: el("b", words(str(n))), Purse(25))

    assert (len(drawn), rest) == (3, 7)


@given(st.integers(0, 10_000), st.lists(st.integers(1, 5), max_size=6))
def test_shares_never_come_to_more_than_there_is(room: int, parts: list[int]) -> None:
    purse = Purse(room)
    shares = [purse.share(of) for of in parts]

    assert purse.left + sum(share.left for share in shares) == room
    for share in shares:
        purse.back(share)
    assert purse.left == room


@pytest.mark.parametrize(
    ("phase", "key"),
    [("2", "2.000000"), ("2.9", "2.000009"), ("2.10", "2.000010"), ("9" * 5000, "0"), ("x", "0"), ("\u00b2", "0")],
    ids=["whole", "decimal", "after it", "endless", "no number", "raised"],
)
def test_phases_are_sorted_by_their_number(phase: str, key: str) -> None:
    assert sort_key(phase) == key


def contrast(one: str, other: str) -> float:
    """WCAG 2: the relative luminance of the lighter and the darker."""

    def light(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
@pytest.mark.parametrize(
    ("ink", "paper"),
    [("ink", "paper"), ("soft", "paper"), ("link", "paper"), ("ink", "tint"), ("soft", "tint"), *((name, f"{name}-bg") for name in ("pass", "fail", "warn", "busy", "idle")), *(("paper", name) for name in ("pass", "fail", "warn", "busy", "idle")), *(("ink", f"{name}-bg") for name in ("pass", "fail", "warn", "busy", "idle"))],
)  # fmt: skip
def test_every_pair_of_colours_can_be_read(scheme: int, ink: str, paper: str) -> None:
    blocks = re.findall(r":root \{(.*?)\}", _asset("page.css"), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[scheme]))

    assert contrast(colours[ink], colours[paper]) >= 4.5
