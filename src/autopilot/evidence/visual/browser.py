"""The installed Chromium, driven through Playwright in a process of its own. No browser is ever downloaded."""

import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

import autopilot
from autopilot.domain.process import Job, Processes, Ran, Room
from autopilot.domain.value import Value
from autopilot.domain.visual import Route, VisualTesting
from autopilot.evidence.visual.capture import HUNG, NO_BROWSER, SHOWN, Page, PageSeen, Visit

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
LIBRARIES = {"playwright": "playwright", "PIL": "pillow"}
ROUTE_S = 60.0
# Starting and ending the browser is no part of what a page may take.
AROUND_S = 20.0
QUIET = (
    "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip
HANDED_ON = ("PATH", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "FONTCONFIG_PATH", "FONTCONFIG_FILE")


class Captured(Value, frozen=True, kw_only=True):
    """`broken` says why there was no browser to look with; no page is to blame for that."""

    seen: PageSeen = PageSeen()
    picture: bytes | None = None
    broken: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chromium:
    """`mark` names its processes, so that none outlives the run; `route_s` is what one page may take."""

    executable: str
    processes: Processes
    environment: Mapping[str, str]
    mark: str
    room: Room
    route_s: float = ROUTE_S

    def capture(self, visual: VisualTesting, port: int) -> tuple[Captured, ...]:
        """Every route, in order. A page that ends its browser, or keeps it for ever, costs the others nothing."""
        found: tuple[Captured, ...] = ()
        while len(found) < len(visual.routes):
            found += self._some(visual, visual.routes[len(found) :], port)
            if found[-1].broken:
                break
        return found

    def _some(self, visual: VisualTesting, routes: tuple[Route, ...], port: int) -> tuple[Captured, ...]:
        """As many of the routes as came to an end, and the one that did not."""
        with self.room() as folder:
            wanted = Visit(
                pages=tuple(
                    Page(url=f"{visual.base_url}{r.path}", picture=f"{folder}/{r.name}.png", wait_ms=r.wait_ms)
                    for r in routes
                ),
                executable=self.executable,
                flags=flags(visual.base_url, port),
                # Chromium has no sandbox of its own for root: Playwright then starts it with --no-sandbox.
                confined=os.geteuid() != 0,
                viewport=visual.viewport,
                limit_ms=int(self.route_s * 1000),
                headless=visual.headless or not self._has_display,
            )
            job = Job(
                argv=(sys.executable, "-P", "-m", "autopilot.evidence.visual.capture"),
                cwd=folder,
                env=self._env(folder),
                stdin=msgspec.json.encode(wanted),
                timeout_s=len(routes) * self.route_s + AROUND_S,
                mark=f"{self.mark}/{secrets.token_hex(8)}",
            )
            ran = self.processes.run(job)
            seen = [msgspec.json.decode(line, type=PageSeen) for line in ran.stdout.splitlines()]
            done = tuple(
                Captured(seen=each, picture=_content(Path(page.picture)))
                for page, each in zip(wanted.pages, seen, strict=False)
            )
        if len(done) == len(routes):
            return done
        why = self._why(ran)
        return (*done, Captured(broken=why) if ran.exit_code == NO_BROWSER else Captured(seen=PageSeen(error=why)))

    def _why(self, ran: Ran) -> str:
        if ran.exit_code in {None, HUNG}:
            return f"it did not come to an end within {self.route_s:.0f} seconds"
        lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"the browser failed: {lines[-1][:SHOWN] if lines else f'exit code {ran.exit_code}'}"

    @property
    def _has_display(self) -> bool:
        return bool(self.environment.get("DISPLAY") or self.environment.get("WAYLAND_DISPLAY"))

    def _env(self, folder: str) -> dict[str, str]:
        kept = {name: self.environment[name] for name in HANDED_ON if name in self.environment}
        ours = str(Path(autopilot.__file__).parent.parent)
        return {"LANG": "C.UTF-8", **kept, "HOME": folder, "TMPDIR": folder, "PYTHONPATH": ours}


def flags(base_url: str, port: int) -> tuple[str, ...]:
    """The app's address leads to our bridge and every other one nowhere."""
    parts = urlsplit(base_url)
    default = 443 if parts.scheme == "https" else 80
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    rules = f"MAP {host}:{parts.port or default} 127.0.0.1:{port},MAP * ~NOTFOUND"
    return (*QUIET, f"--host-resolver-rules={rules}")


def missing(environment: Mapping[str, str]) -> str | None:
    """What of the infrastructure is not there, if anything."""
    lacking = [package for module, package in LIBRARIES.items() if find_spec(module) is None]
    if lacking:
        return f"{' and '.join(lacking)} not installed (the extra `visual`)"
    return None if find_browser(environment) else f"no browser found ({', '.join(PROGRAMS)})"


def find_browser(environment: Mapping[str, str]) -> str | None:
    path = environment.get("PATH", os.defpath)
    return next((found for name in PROGRAMS if (found := shutil.which(name, path=path))), None)


def _content(picture: Path) -> bytes | None:
    return picture.read_bytes() if picture.is_file() else None
