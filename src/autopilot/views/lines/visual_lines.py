"""What was seen in the browser, in a few plain lines."""

from collections.abc import Iterator

from autopilot.domain.results import Verified
from autopilot.text.text import clean

MOST = 3
SHOWN = 160


def of_pages(result: Verified, *, called_fixed: bool) -> Iterator[str]:
    """Nothing where nobody looked."""
    seen = result.visual
    if seen is None:
        return
    if seen.skipped:
        yield f"VERIFY: {clean(seen.skipped, SHOWN)}"
        return
    bad = seen.blocking
    for issue in bad[:MOST]:
        yield f"VERIFY FAIL -- {clean(issue.told, SHOWN)}"
    if len(bad) > MOST:
        yield f"VERIFY FAIL -- and {len(bad) - MOST} more"
    if bad and called_fixed:
        yield f"VERIFY: the debugging agent reported it fixed; the browser shows a {clean(bad[0].told, SHOWN)}"
    if not bad:
        yield f"VERIFY: {counted(result)}"


def counted(result: Verified) -> str:
    """2/3 pages look right."""
    seen = result.visual
    return f"{seen.routes_passed}/{seen.routes_tested} pages look right" if seen and seen.routes_tested else ""
