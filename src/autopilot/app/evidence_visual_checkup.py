"""What `autopilot doctor` says of visual testing: whether there is anything to look with."""

from collections.abc import Iterator, Mapping

from autopilot.domain.request import Check
from autopilot.domain.visual import VisualTesting
from autopilot.evidence.visual.browser import find_browser, missing
from autopilot.text.distribution import how_to_install


def visual_checks(testing: VisualTesting | None, environment: Mapping[str, str]) -> Iterator[Check]:
    """Nothing for a project that does not ask for it."""
    if testing is None:
        return
    lacking = missing(environment)
    pages = f"{len(testing.routes)} page(s) of {testing.base_url}"
    yield Check(
        level="warn" if lacking else "ok",
        what="visual testing",
        found=f"{pages}: skipped, {lacking}" if lacking else f"{pages} with {find_browser(environment)}",
        fix=f"Install Chromium and the extra `visual`: {how_to_install('visual')}.",
    )
