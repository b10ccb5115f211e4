"""Looks at every route of an app: launch it, capture, compare, end it. The pictures go to the user's tree."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from autopilot.domain.errors import AgentUnavailable, ConfigInvalid, SandboxUnavailable
from autopilot.domain.process import Processes, Room
from autopilot.domain.visual import (
    NOT_LAUNCHED,
    Album,
    Analysis,
    Look,
    Route,
    Screenshot,
    Served,
    Serving,
    VisualIssue,
    VisualResults,
    VisualTesting,
    skipped,
)
from autopilot.evidence.visual import browser as browsers
from autopilot.evidence.visual.browser import AROUND_S, ROUTE_S, Captured, Chromium
from autopilot.evidence.visual.compare import Comparison, compare, is_blank
from autopilot.evidence.visual.issues import Picture, issues_of
from autopilot.evidence.visual.wait_for_app import await_answer
from autopilot.ports.agents import Clock, Workspace

SKIPPED = "Visual testing skipped: {why}."
WEB = {"http": 80, "https": 443}


class NoBrowser(Exception):
    """The browser could not be started; the reason is its message."""


@dataclass(slots=True, kw_only=True)
class BrowserLooking:
    """Fulfils the protocol `Looking`. `environment` says where the browser is, `mark` names its processes."""

    workspace: Workspace
    serving: Serving
    album: Album
    processes: Processes
    clock: Clock
    environment: Mapping[str, str]
    mark: str
    room: Room
    route_s: float = ROUTE_S
    _earlier: dict[tuple[str, Look], VisualResults] = field(default_factory=dict)

    def look(self, wanted: Look) -> VisualResults:
        lacking = browsers.missing(self.environment)
        if lacking:
            return skipped(SKIPPED.format(why=lacking))
        found = self._visit(wanted.commit, wanted, self._filed)
        if not found.issues_found or wanted.base == wanted.commit:
            return found
        # Only what a phase brought is held against it, so the app is looked at as it was before as well.
        return aged(found, self._before(wanted))

    def keep(self, results: VisualResults) -> tuple[str, ...]:
        notes = []
        for shot in results.screenshots:
            if shot.screenshot_path and shot.passed:
                path = baseline_path(results.screenshot_dir, shot.name)
                try:
                    notes.append(self.album.replace(path, shot.screenshot_path, shot.sha256))
                except ConfigInvalid as problem:
                    notes.append(f"no baseline is kept: {problem.what}")
        return tuple(note for note in notes if note)

    def _before(self, wanted: Look) -> VisualResults:
        """The same app at the phase's base: looked at once, however often the phase is mended."""
        question = (self.workspace.tree(wanted.base), msgspec.structs.replace(wanted, commit="", base=""))
        if question not in self._earlier:
            self._earlier[question] = self._visit(wanted.base, wanted, _unfiled)
        return self._earlier[question]

    def _visit(self, commit: str, wanted: Look, file: "Filing") -> VisualResults:
        visual = wanted.visual
        parts = urlsplit(visual.base_url)
        port = parts.port or WEB[parts.scheme]
        seconds = (visual.launch_wait_ms + visual.launch_limit_ms) / 1000 + len(visual.routes) * (ROUTE_S + AROUND_S)
        try:
            with (
                self.workspace.checkout(commit, {}) as folder,
                self.serving.serve(visual.launch_command, folder, port, seconds) as served,
            ):
                return self._capture(commit, wanted, served, file)
        except NoBrowser as problem:
            return skipped(SKIPPED.format(why=problem))
        except ConfigInvalid as problem:
            return skipped(SKIPPED.format(why=problem.what))
        except (SandboxUnavailable, AgentUnavailable) as problem:
            return skipped(f"{NOT_LAUNCHED} {problem.what}.")

    def _capture(self, commit: str, wanted: Look, served: Served, file: "Filing") -> VisualResults:
        visual = wanted.visual
        trouble = await_answer(served, visual)
        if trouble is not None:
            return skipped(f"{NOT_LAUNCHED} {trouble}.")
        captured = self._captured(visual, served)
        shots = tuple(self._shot(r, wanted, each, file) for r, each in zip(visual.routes, captured, strict=True))
        return VisualResults(
            routes_tested=len(shots),
            routes_passed=sum(shot.passed for shot in shots),
            issues_found=tuple(issue for shot in shots for issue in shot.analysis.issues),
            screenshots=shots,
            screenshot_dir=visual.screenshot_dir,
            tree=self.workspace.tree(commit),
            sandbox=served.tier,
        )

    def _shot(self, route: Route, wanted: Look, captured: Captured, file: "Filing") -> Screenshot:
        visual, at = wanted.visual, self.clock.now()
        compared, own = self._compared(visual, route, captured)
        held = is_held(route, own=own, redrawn=wanted.redrawn)
        picture = Picture(blank=is_blank(captured.picture or b""), compared=compared, held=held)
        issues = issues_of(route, captured.seen, picture)
        path, diff = file(visual, route, at, (captured.picture, compared.picture if compared else b""))
        return Screenshot(
            route=route.path,
            name=route.name,
            screenshot_path=path,
            viewport=visual.viewport,
            capture_timestamp=at,
            analysis=analysis(issues, captured),
            sha256=hashlib.sha256(captured.picture or b"").hexdigest() if captured.picture else "",
            difference=compared.share if compared else None,
            diff_path=diff,
            blocked=captured.seen.blocked,
        )

    def _captured(self, visual: VisualTesting, served: Served) -> tuple[Captured, ...]:
        executable = browsers.find_browser(self.environment)
        assert executable is not None
        chromium = Chromium(
            executable=executable,
            processes=self.processes,
            environment=self.environment,
            mark=self.mark,
            room=self.room,
            route_s=self.route_s,
        )
        captured = chromium.capture(visual, served.port)
        if captured[-1].broken:
            raise NoBrowser(captured[-1].broken)
        return captured

    def _compared(self, visual: VisualTesting, route: Route, captured: Captured) -> tuple[Comparison | None, bool]:
        there = self.album.baseline(baseline_path(visual.screenshot_dir, route.name))
        if there is None or captured.picture is None:
            return None, True
        content, own = there
        return compare(content, captured.picture), own

    def _filed(
        self, visual: VisualTesting, route: Route, at: str, pictures: "Pictures"
    ) -> tuple[str | None, str | None]:
        """VIST-02. The difference lies beside the picture."""
        page, diff = pictures
        if page is None:
            return None, None
        stamp = at.replace("-", "").replace(":", "")
        path = self.album.add(f"{visual.screenshot_dir}/{route.name}-{stamp}.png", page)
        return path, self.album.add(f"{path.removesuffix('.png')}.diff.png", diff) if diff else None


Pictures = tuple[bytes | None, bytes]
Filing = Callable[[VisualTesting, Route, str, Pictures], tuple[str | None, str | None]]


def _unfiled(*_: object) -> tuple[None, None]:
    """What an app looked like before is not kept."""
    return None, None


def analysis(issues: tuple[VisualIssue, ...], captured: Captured) -> Analysis:
    assessed = Analysis(issues_found=len(issues), issues=issues)
    if captured.picture is None:
        return msgspec.structs.replace(assessed, overall_assessment="error")
    return msgspec.structs.replace(assessed, overall_assessment="issues_found") if issues else assessed


def is_held(route: Route, *, own: bool, redrawn: bool) -> bool:
    """A baseline the user put there is a demand; one of ours only tells how it looked before."""
    return route.stable or not own or not redrawn


def aged(found: VisualResults, before: VisualResults) -> VisualResults:
    """The same results; issues that were there before are marked as old."""
    known = {issue.key for issue in before.issues_found}

    def mark(issue: VisualIssue) -> VisualIssue:
        return msgspec.structs.replace(issue, old=issue.key in known)

    shots = tuple(
        msgspec.structs.replace(
            shot, analysis=msgspec.structs.replace(shot.analysis, issues=tuple(map(mark, shot.analysis.issues)))
        )
        for shot in found.screenshots
    )
    return msgspec.structs.replace(
        found,
        screenshots=shots,
        issues_found=tuple(map(mark, found.issues_found)),
        routes_passed=sum(shot.passed for shot in shots),
    )


def baseline_path(folder: str, name: str) -> str:
    return f"{folder}/baseline/{name}.png"
