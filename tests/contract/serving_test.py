"""An app is kept running in the sandbox and reached from outside, while it reaches nothing and leaves nothing."""

import shutil
import socket
import time
import urllib.request
from pathlib import Path
from typing import Literal

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.visual import Served
from autopilot.evidence.visual.wait_for_app import status
from autopilot.sandbox import choose_tier as choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.web_app import run_app as serving
from support.site import answers, free_port, server
from support.waiting import PATIENCE_S

pytestmark = pytest.mark.sandbox

Tier = Literal["auto", "none"]


def serving_in(tier: Tier) -> serving.AppServing:
    processes = ChildProcesses()
    try:
        ground = choose.choose(tier, processes)
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    if ground.tier == "landlock":
        pytest.skip("what Landlock confines can serve nobody")
    return serving.AppServing(
        sandbox=lambda mark: ground.sandbox(serving.readable(), mark), processes=processes, mark="t"
    )


def await_page(app: Served, url: str) -> int | str:
    until = time.monotonic() + PATIENCE_S
    while (found := status(app.port, url)) != 200 and app.ended() is None and time.monotonic() < until:
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("tier", ["auto", "none"])
@pytest.mark.parametrize("behind", ["", " &"], ids=["in front", "in the background"])
def test_an_app_is_reached_and_is_gone_afterwards(tmp_path: Path, tier: Tier, behind: str) -> None:
    port = free_port()
    (tmp_path / "index.html").write_text("hello")

    with serving_in(tier).serve(server(port) + behind, str(tmp_path), port, 60) as app:
        assert await_page(app, f"http://localhost:{port}") == 200
        with urllib.request.urlopen(f"http://127.0.0.1:{app.port}/") as page:
            assert page.read() == b"hello"

    assert not answers(port)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_path_of_any_length_will_do(tmp_path: Path) -> None:
    port, folder = free_port(), tmp_path / ("deep" * 30)
    folder.mkdir()

    with serving_in("none").serve(server(port), str(folder), port, 60) as app:
        assert await_page(app, f"http://localhost:{port}") == 200


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_an_app_cannot_lead_us_to_a_socket_of_the_machine(tmp_path: Path) -> None:
    """It takes our socket file away and puts a link in its place; we never follow it, for the app calls us."""
    outside, inside, port = tmp_path / "machine.sock", tmp_path / "app", free_port()
    inside.mkdir()
    trap = f"sleep 0.3; ln -sf {outside} .autopilot-*; {server(port)}"

    with socket.socket(socket.AF_UNIX) as machine:
        machine.bind(str(outside))
        machine.listen()
        machine.setblocking(False)
        with serving_in("auto").serve(trap, str(inside), port, 60) as app:
            await_page(app, f"http://localhost:{port}")
        with pytest.raises(BlockingIOError):
            machine.accept()


def test_redirects_are_followed_within_the_app_and_not_out_of_it(tmp_path: Path) -> None:
    port, inner = free_port(), tmp_path / "docs"
    inner.mkdir()

    with serving_in("none").serve(server(port), str(tmp_path), port, 60) as app:
        assert await_page(app, f"http://localhost:{port}") == 200
        assert status(app.port, f"http://localhost:{port}/docs") == 200
        assert status(app.port, f"http://localhost:{port}/gone?x") == 404
