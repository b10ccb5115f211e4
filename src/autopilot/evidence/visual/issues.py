"""From what was seen on a page to what is wrong with it. Pure: no opinion, and nobody's word."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from autopilot.domain.value import Value
from autopilot.domain.visual import IssueType, Route, Severity, VisualIssue
from autopilot.evidence.visual.capture import FAILED, PageSeen, Refusal
from autopilot.evidence.visual.compare import Comparison

# A page that lacks one of these does not look as it should; other requests may well be answered with an error.
SEEN_AT_ONCE = frozenset({"stylesheet", "script", "image", "font", "document"})
LARGE = 0.01
ALLOWED_PX = 1
UNREACHED = ("Failed to fetch", "NetworkError")


class Picture(Value, frozen=True, kw_only=True):
    """What the picture of a page shows. `held`: the page must look like its baseline."""

    blank: bool = False
    compared: Comparison | None = None
    held: bool = False


def issues_of(route: Route, seen: PageSeen, picture: Picture) -> tuple[VisualIssue, ...]:
    """VIST-03."""
    found = (*_loading(seen), *_drawing(seen, picture), *_layout(seen), *_regression(picture), *_access(seen))
    return tuple(
        VisualIssue(route=route.name, type=kind, severity=severity, description=what, location=where, suggested_fix=fix)
        for kind, severity, what, where, fix in found
    )


Told = tuple[IssueType, Severity, str, str, str]


def _loading(seen: PageSeen) -> Iterator[Told]:
    if seen.error:
        yield "rendering", "critical", f"the page could not be captured: {seen.error}", "", "Make the page load."
    if seen.status is not None and seen.status >= FAILED:
        yield "rendering", "critical", f"the page answers HTTP {seen.status}", "", "Serve this route with HTTP 200."
    for exception in seen.exceptions:
        yield "rendering", _weight(exception, seen), f"uncaught exception: {exception}", "", "Mend or catch it."
    for refusal in seen.refused:
        yield _refused(refusal)
    for line in seen.console:
        yield "rendering", "minor", f"console error: {line}", "", "Find what logs it and mend the cause."


def _weight(exception: str, seen: PageSeen) -> Severity:
    """A script that could not reach another machine was kept from it by us."""
    ours = bool(seen.blocked) and exception.endswith(UNREACHED)
    return "minor" if ours else "major"


def _refused(refusal: Refusal) -> Told:
    parts = urlsplit(refusal.url)
    what = f"{refusal.kind} {parts.path or refusal.url} failed: {refusal.why}"
    severity: Severity = "major" if refusal.kind in SEEN_AT_ONCE else "minor"
    return "rendering", severity, what, "", "Serve the file, or stop asking for it."


def _drawing(seen: PageSeen, picture: Picture) -> Iterator[Told]:
    if picture.blank and not seen.error:
        yield "rendering", "critical", "the page is blank", "", "Find out why nothing is drawn."


def _layout(seen: PageSeen) -> Iterator[Told]:
    size = seen.measures
    if size.width > size.view + ALLOWED_PX:
        what = f"the page is {size.width} px wide and has to be scrolled sideways in {size.view} px"
        yield "layout", "major", what, size.widest, "Let this element shrink or wrap."


def _regression(picture: Picture) -> Iterator[Told]:
    compared = picture.compared
    if compared is None or not picture.held or not compared.differs:
        return
    what = compared.note or f"{compared.pixels} pixels ({compared.share:.2%}) differ from the baseline"
    severity: Severity = "major" if compared.share >= LARGE else "minor"
    yield "regression", severity, what, compared.where, "Bring the earlier look back; this phase was not to change it."


def _access(seen: PageSeen) -> Iterator[Told]:
    page = seen.measures
    if page.no_alt:
        yield "accessibility", "minor", "images without alternative text", ", ".join(page.no_alt), "Give them an alt."
    if page.no_label:
        yield "accessibility", "minor", "form fields without a label", ", ".join(page.no_label), "Label them."
    if not page.title and page.text:
        yield "accessibility", "minor", "the page has no title", "", "Give it a <title>."
    if not page.lang and page.text:
        yield "accessibility", "minor", "the page does not say its language", "", "Write <html lang=...>."
