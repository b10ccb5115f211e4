"""Take the screenshots in docs/images anew: `PYTHONPATH=src:tests python docs/pictures.py`."""

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from playwright.sync_api import sync_playwright
from rich.console import Console

from autopilot.app import dashboard as serving
from autopilot.domain.events import AgentStarted, Entry
from autopilot.evidence.visual import browser
from autopilot.journal.lock import RunLock, birth_of
from autopilot.journal.sqlite import SqliteJournal
from autopilot.state.picture_run import picture_of
from autopilot.text.times import iso
from autopilot.views.terminal.agent_activity import Glance
from autopilot.views.terminal.frame import frame
from autopilot.views.terminal.painter import Drawn
from autopilot.views.terminal.screen import Screen
from support.dashboards import served
from support.recordings import feast

IMAGES = Path(__file__).parent / "images"
MOMENT, LATER_S, WIDTH, HEIGHT = 157, 12, 110, 30
WIDE, TALL = 1280, 1000
CHECK = "import time\ntime.sleep(600)\n"
Told = tuple[str, Entry]


class Written:
    """A clock that tells the times that were written down, one after the other."""

    def __init__(self, times: Sequence[str]) -> None:
        self._times = iter(times)

    def now(self) -> str:
        return next(self._times)

    def monotonic(self) -> float:
        return 0.0


def moved(told: Sequence[Told]) -> list[Told]:
    """The entries as if the last of them had been written a moment ago."""
    ago = datetime.now(UTC) - timedelta(seconds=LATER_S) - datetime.fromisoformat(told[-1][1].at)
    return [(s, msgspec.structs.replace(e, at=iso(datetime.fromisoformat(e.at) + ago))) for s, e in told]


@contextmanager
def at_work(folder: Path) -> Iterator[int]:
    """A process with another below it, as an agent that runs the project's tests."""
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_menu.py").write_text(CHECK)
    inner = f"exec -a pytest {sys.executable} tests/test_menu.py"
    with subprocess.Popen(["bash", "-c", f"bash -c '{inner}' & wait"], cwd=folder, start_new_session=True) as child:
        yield child.pid
        os.killpg(child.pid, 9)


def write(home: Path, told: Sequence[Told], pid: int) -> None:
    numbers = dict[str, int]()
    with SqliteJournal(home / "journal.db", Written([entry.at for _, entry in told])) as journal:
        for stream, entry in told:
            event = entry.event
            if isinstance(event, AgentStarted):
                event = msgspec.structs.replace(event, pid=pid, birth=birth_of(pid))
            journal.append(stream, numbers.get(stream, 0), event)
            numbers[stream] = numbers.get(stream, 0) + 1


def dashboard(page: Any, folder: Path) -> None:
    root, told = folder / "feast", moved(feast()[:MOMENT])
    with at_work(folder / "clone") as pid, RunLock(root / ".autopilot", told[0][0]):
        write(root / ".autopilot", told, pid)
        with served(root, deeds=serving.verbs()) as site:
            page.goto(site.address())
            page.wait_for_selector(".agent code")
            page.screenshot(path=IMAGES / "dashboard.png")
            page.emulate_media(color_scheme="dark")
            page.locator(".phase").first.click()
            page.wait_for_selector("#inside .steps")
            page.screenshot(path=IMAGES / "dashboard-inside.png")
            page.emulate_media(color_scheme="light")


def terminal(page: Any, folder: Path) -> None:
    told = moved(feast()[:MOMENT])
    picture = picture_of(told)
    glances = {call: Glance(doing="pytest tests/test_menu.py", idle=4.0) for call in picture.calls}
    screen = Screen(width=WIDTH, height=HEIGHT - 1, now=iso(datetime.now(UTC)), glances=glances)
    console = Console(file=io.StringIO(), width=WIDTH, height=HEIGHT, record=True, force_terminal=True)
    console.print(Drawn(frame(picture, screen)))
    held = folder / "terminal.svg"
    held.write_text(console.export_svg(title="autopilot all"), encoding="utf-8")
    page.goto(held.as_uri())
    width, height = page.evaluate("(({ width, height }) => [width, height])(document.documentElement.viewBox.baseVal)")
    page.set_viewport_size({"width": round(width), "height": round(height)})
    page.screenshot(path=IMAGES / "terminal.png")


def report(page: Any, folder: Path) -> None:
    root = folder / "demo"
    for words in (["demo", "--plain", "--keep", str(root)], ["report", "--html"]):
        cwd = root if root.exists() else folder
        subprocess.run([sys.executable, "-m", "autopilot", *words], cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    page.set_viewport_size({"width": 1080, "height": 1000})
    page.goto((root / ".autopilot" / "report.html").as_uri())
    page.wait_for_selector("#filter")
    page.locator("#list-title").evaluate("(title) => title.scrollIntoView()")
    page.screenshot(path=IMAGES / "report.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser.find_browser(os.environ), chromium_sandbox=os.geteuid() != 0
        )
        page = chromium.new_page(viewport={"width": WIDE, "height": TALL}, color_scheme="light")
        for number, draw in enumerate((dashboard, terminal, report)):
            folder = Path(place) / f"{number}"
            folder.mkdir()
            draw(page, folder)
        chromium.close()


if __name__ == "__main__":
    main()
