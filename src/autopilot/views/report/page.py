"""The whole page: one file that asks nothing of the network and runs no script but its own."""

import base64
import hashlib
from collections.abc import Callable
from importlib.resources import files

from markupsafe import Markup

from autopilot.text.times import moment
from autopilot.views.report.fact_list import merge_facts
from autopilot.views.report.gantt import timeline
from autopilot.views.report.markup import Pen, el, joined, made, size, words
from autopilot.views.report.phase_details import Details
from autopilot.views.report.phase_rows import PhaseSeen, phases_seen
from autopilot.views.report.sections import Sections
from autopilot.views.report.size_limits import PAGE, Purse, left_out
from autopilot.views.report.source import Told
from autopilot.views.report.spending import spending_of

MOST_PHASES = 1_000
HEADING = 1_200
"""Bytes that the heading of a phase may take at most."""
TITLES = {
    "summary": "Summary",
    "list": "Phases",
    "roadmap": "Roadmap",
    "timeline": "Timeline",
    "findings": "Findings",
    "details": "Phases in full",
    "spend": "Spending",
    "brakes": "Brakes",
    "verdicts": "Verdicts",
    "trends": "Trends",
    "learnings": "Learnings",
    "receipts": "Receipts",
}


def page(told: Told, redact: Callable[[str], str], most: int = PAGE) -> str:
    """At most `most` bytes of HTML, the same for the same journal. Nothing that is told of can act in it."""
    pen, every = Pen(redact), phases_seen(told)
    phases = every if len(every) <= MOST_PHASES else tuple(sorted(every, key=_untouched))[:MOST_PHASES]
    anchors = {seen.id: f"phase-{n}" for n, seen in enumerate(phases, start=1)}
    times = timeline(told)
    draw = Sections(told, pen, phases, anchors, times, spending_of(told))
    parts = {
        "summary": draw.summary(),
        "list": joined((draw.phase_list(), left_out(len(every) - len(phases), "phases"))),
        "roadmap": draw.roadmap(),
        "timeline": draw.timeline(),
        "findings": draw.findings(),
        "spend": draw.spend(),
        "brakes": draw.brakes(),
        "verdicts": draw.verdicts(),
        "trends": draw.trend(),
        "learnings": draw.learnings(),
        "receipts": draw.receipts(),
    }
    details = Details(told, pen, {lane.phase: lane.bars for lane in times.lanes}, merge_facts(told.run))
    frame = _frame(pen.line(f"Autopilot {told.run.start.run}"), told.now, "")
    room = most - size(frame) - sum(size(part) + 200 for part in parts.values())
    parts["details"] = _details(details, phases, anchors, Purse(room))
    body = joined(_section(name, parts[name]) for name in TITLES)
    return f"{_frame(pen.line(f'Autopilot {told.run.start.run}'), told.now, body)}\n"


def _untouched(seen: PhaseSeen) -> bool:
    return not seen.passes


def _details(draw: Details, phases: tuple[PhaseSeen, ...], anchors: dict[str, str], purse: Purse) -> Markup:
    """What one phase does not need of its share is there for those after it."""
    parts: list[Markup] = []
    purse = Purse(purse.left - HEADING * len(phases))
    waiting = sum(seen.passes > 0 for seen in phases) + (draw.told.ending is not None)
    for seen in phases:
        share = purse.share(waiting if seen.passes else waiting + 1)
        waiting -= seen.passes > 0
        parts.append(draw.phase(seen, anchors[seen.id], share))
        purse.back(share)
    if draw.told.ending:
        parts.append(draw.ending(draw.told.ending, purse))
    buttons = el(
        "p",
        el("button", words("Unfold everything"), type="button", id="unfold"),
        words(" "),
        el("button", words("Fold everything"), type="button", id="fold"),
        class_="controls",
        hidden=True,
    )
    return joined((buttons, *parts))


def _section(name: str, part: Markup) -> Markup:
    return el(
        "section", el("h2", words(TITLES[name]), id=f"{name}-title"), part, id=name, aria_labelledby=f"{name}-title"
    )


def _frame(title: Markup, now: str, body: str) -> Markup:
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = joined(
        (
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=policy),
            el("meta", name="referrer", content="no-referrer"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("title", title),
            made(f"<style>{style}</style>"),
        )
    )
    links = (el("li", el("a", words(text), href=f"#{name}")) for name, text in TITLES.items())
    top = joined(
        (
            el("a", words("Skip to the summary"), href="#summary", class_="skip"),
            el("header", el("h1", title), el("p", words(f"Computed from the journal at {moment(now)}."))),
            el("nav", el("ul", *links), aria_label="Sections"),
        )
    )
    html = el(
        "html", el("head", head), el("body", top, el("main", made(body)), made(f"<script>{script}</script>")), lang="en"
    )
    return made(f"<!doctype html>\n{html}")


def _asset(name: str) -> str:
    return (files("autopilot.views.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
