"""How pages are looked at, and what was found on them: facts, made by our own browser."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from autopilot.domain.evidence import Fact
from autopilot.domain.value import Value

IssueType = Literal["layout", "rendering", "regression", "accessibility"]
Severity = Literal["critical", "major", "minor"]

SCREENSHOT_DIR = ".planning/screenshots"
NOT_LAUNCHED = "Visual testing skipped: app failed to launch."
_DRAWS = re.compile(r"\.(?:tsx|jsx|vue|svelte|css|scss|sass|less|html|qml|storyboard|xib)$", re.IGNORECASE)
DEDUCTIONS: dict[Severity, float] = {"minor": 0.5, "major": 1.0, "critical": 2.0}


class Route(Value, frozen=True, kw_only=True):
    """One page to look at. A `stable` one must look like its baseline whatever the phase changes."""

    path: str
    name: str
    wait_ms: int = 2000
    stable: bool = False


class Viewport(Value, frozen=True, kw_only=True):
    width: int = 1280
    height: int = 720


class VisualTesting(Value, frozen=True, kw_only=True):
    """`project.visual_testing`, complete. `forced` by `--visual`: phases of every type are looked at."""

    launch_command: str
    base_url: str
    routes: tuple[Route, ...]
    launch_wait_ms: int = 5000
    launch_limit_ms: int = 30_000
    screenshot_dir: str = SCREENSHOT_DIR
    viewport: Viewport = Viewport()
    headless: bool = True
    forced: bool = False

    def applies(self, phase_type: str) -> bool:
        """VIS-02, VIS-03."""
        return self.forced or phase_type in {"ui", "mixed"}


class VisualIssue(Fact, frozen=True, kw_only=True):
    """Something wrong with a page. `old`: it was there before the phase began, so it is told and does not count."""

    route: str
    type: IssueType
    severity: Severity
    description: str
    location: str = ""
    suggested_fix: str = ""
    old: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same issue in another screenshot."""
        return self.route, self.type, self.description

    @property
    def told(self) -> str:
        place = f" at {self.location}" if self.location else ""
        return f"{self.severity} {self.type} issue on {self.route}: {self.description}{place}"


class Analysis(Value, frozen=True, kw_only=True):
    issues_found: int = 0
    issues: tuple[VisualIssue, ...] = ()
    overall_assessment: Literal["pass", "issues_found", "error"] = "pass"


class Screenshot(Fact, frozen=True, kw_only=True):
    """
    One page as our browser saw it; without a `screenshot_path` it could not be captured.

    `difference` is the share of pixels that differ from the baseline, None without one; `blocked` are the addresses
    outside the app that the page asked for and did not get.
    """

    route: str
    name: str
    screenshot_path: str | None
    viewport: Viewport
    capture_timestamp: str
    analysis: Analysis
    sha256: str = ""
    difference: float | None = None
    diff_path: str | None = None
    blocked: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        counted = (i for i in self.analysis.issues if i.severity != "minor" and not i.old)
        return self.analysis.overall_assessment != "error" and not any(counted)


class VisualResults(Fact, frozen=True, kw_only=True):
    """VIST-05. `skipped` says why nothing was captured; `tree` is what the app was launched from."""

    routes_tested: int = 0
    routes_passed: int = 0
    issues_found: tuple[VisualIssue, ...] = ()
    screenshots: tuple[Screenshot, ...] = ()
    infrastructure_available: bool = True
    skipped: str = ""
    screenshot_dir: str = SCREENSHOT_DIR
    tree: str = ""
    sandbox: str = ""

    @property
    def blocking(self) -> tuple[VisualIssue, ...]:
        """VIS-04: what has to be mended before the phase passes."""
        return tuple(issue for issue in self.counted if issue.severity != "minor")

    @property
    def counted(self) -> tuple[VisualIssue, ...]:
        return tuple(issue for issue in self.issues_found if not issue.old)

    @property
    def captured(self) -> bool:
        return any(shot.screenshot_path for shot in self.screenshots)


def skipped(why: str) -> VisualResults:
    """VIST-04: nothing to look with, or nothing to look at; that never fails a phase."""
    return VisualResults(infrastructure_available=False, skipped=why)


class Look(Value, frozen=True, kw_only=True):
    """What to look at: the app at `commit`. `base` tells old issues from new; `redrawn`: its looks may change."""

    commit: str
    base: str
    visual: VisualTesting
    redrawn: bool = False


class Looking(Protocol):
    """Looks at the pages of an app with a browser of our own."""

    def look(self, wanted: Look) -> VisualResults:
        """Every route's picture is on disk when this returns, and the app is gone. Never raises for what it finds."""
        ...

    def keep(self, results: VisualResults) -> tuple[str, ...]:
        """VIST-06: the pictures become the baseline; what was left alone, and why. May be repeated."""
        ...


class NotLooking:
    """For a run without visual testing."""

    def look(self, wanted: Look) -> VisualResults:  # noqa: ARG002 - the protocol's signature
        return skipped("Visual testing skipped: this run was started without it.")

    def keep(self, results: VisualResults) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        return ()


class Served(Protocol):
    """An app on its way up, or up. Whatever connects to `port` of 127.0.0.1 reaches it, and nothing else."""

    @property
    def port(self) -> int: ...

    @property
    def tier(self) -> str: ...

    def ended(self) -> str | None:
        """How the app ended by itself; None while it has not."""
        ...


class Serving(Protocol):
    def serve(self, command: str, folder: str, port: int, seconds: float) -> AbstractContextManager[Served]:
        """
        Run the command in the folder, confined; it listens on `port`. Nothing of it is left afterwards.

        Raises `AutopilotError` when it cannot be run here at all.
        """
        ...


class Album(Protocol):
    """The pictures in the user's tree. Nothing there is replaced but what we wrote ourselves."""

    def add(self, path: str, content: bytes) -> str:
        """Write a new file; a taken name gets a number. The path used."""
        ...

    def baseline(self, path: str) -> tuple[bytes, bool] | None:
        """The file's bytes and whether we wrote them; None when there is none that can be read."""
        ...

    def replace(self, path: str, source: str, sha256: str) -> str | None:
        """The file at `source`, if it still has that hash, is now at `path` too; else why not."""
        ...


def draws(path: str) -> bool:
    """Whether the file says by its name that it decides how something looks."""
    return _DRAWS.search(path) is not None


def routes_of(issues: Sequence[VisualIssue]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(issue.route for issue in issues))
