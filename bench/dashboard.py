"""The dashboard over 300 phases and 100,000 entries beside one over 3 phases: first paint and updates in Chromium."""

import os
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from autopilot.app import dashboard as serving
from autopilot.authority.seal import seal_of
from autopilot.domain.attempt import Brief, PhaseOutcome, Spec
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Event,
    PhaseFinished,
    PhaseStarted,
    RunStarted,
    StepFinished,
    StepStarted,
    stream_of,
)
from autopilot.domain.evidence import Usage
from autopilot.domain.phase import Phase
from autopilot.domain.results import Preflighted
from autopilot.domain.settings import Settings
from autopilot.domain.verdict import Advance
from autopilot.evidence.visual import browser
from autopilot.journal import rows
from autopilot.journal.chain import Tip, chain_of
from autopilot.journal.clock import SystemClock
from autopilot.journal.codec import encode
from autopilot.journal.head import HeadFile, head_path
from autopilot.journal.sqlite import SqliteJournal, project_of
from autopilot.views.dashboard.actions import Deeds

SIZES, GOAL, ROUNDS = ((3, 300), (300, 100_000)), 2.0, 9
RUN, AT = "run-2026-01-01-120000", "2026-01-01T12:00:00.000Z"
CLEAR = Preflighted(spec_hash_match=True, working_tree_clean=True, dependencies_met=True)


def events(phases: int, entries: int) -> Iterator[tuple[str, Event]]:
    """A run whose phases have passed but for the last one, in about so many entries."""
    known = tuple(Phase(id=f"{n}", name=f"Letter {n}") for n in range(1, phases + 1))
    spec = Spec(path=".planning/ROADMAP.md", sha256="5" * 64)
    yield RUN, RunStarted(
        run=RUN, root="/", branch="main", base="b", spec=spec, roadmap=spec.path, phases=known,
        targets=tuple(p.id for p in known), settings=Settings(agent="scripted:x.toml"),
    )  # fmt: skip
    steps = -(-(entries // phases - 2) // 4)
    for place, phase in enumerate(known, start=1):
        brief = Brief(phase=phase, dir=f".planning/phases/{place}", base="b", position=place, total=phases)
        yield RUN, PhaseStarted(brief=brief)
        for n in range(1, steps + 1):
            yield from ((stream_of(RUN, phase.id, 0), event) for event in step(phase.id, n))
        if place < phases:
            outcome = PhaseOutcome(
                phase=phase.id, status="completed", reason="every gate passed", commit="c", alignment_score=9.4
            )
            yield RUN, PhaseFinished(cycle=0, outcome=outcome, verdict=Advance())


def step(phase: str, n: int) -> Iterator[Event]:
    call, usage = f"{RUN}/{phase}/execute/{n}", Usage(input_tokens=900, output_tokens=100, cost_usd=0.01)
    yield StepStarted(step="execute", n=n, base="b", nonce="n", boot="b")
    yield AgentStarted(call=call, role="execute", pid=1, birth="1")
    yield AgentAnswered(
        call=call, role="execute", outcome="ok", answer='{"done": true}', text="x" * 400, usage=usage, commands=(),
        seconds=1.0,
    )  # fmt: skip
    yield StepFinished(step="execute", n=n, commit="c", result=CLEAR, verdict=Advance(), seconds=1.0)


def fill(path: Path, phases: int, entries: int) -> int:
    """Write the journal in one go, as `SqliteJournal` would have entry by entry; how many entries it has."""
    SqliteJournal(path, SystemClock()).close()
    tip, before, lengths, chain = Tip(), Tip(), dict[str, int](), chain_of(seal_of(project_of(path)))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("begin")
        for stream, event in events(phases, entries):
            number = lengths.get(stream, 0)
            fields = (tip.seq + 1, stream, number, AT, 0, encode(event))
            before, tip = tip, Tip(seq=tip.seq + 1, hash=chain.link(tip.hash, fields))
            lengths[stream] = number + 1
            db.execute(rows.INSERT, (*fields, tip.hash))
        db.execute("commit")
    with HeadFile(head_path(path), chain) as head:
        head.lay(tip, before)
    return tip.seq


@contextmanager
def served(root: Path) -> Iterator[str]:
    request = serving.ServeRequest(folders=(), port=0)
    door = serving.door_of(request)
    sock = serving.listening(request)
    begun = time.perf_counter()
    server = serving.server_of((root,), Deeds(), door)
    print(f"  read before the server answers: {time.perf_counter() - begun:.2f} s")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/#token={door.write_token}"
    finally:
        server.should_exit = True
        thread.join()


def first_paint(chromium: Any, address: str, last: int) -> float:
    """From the start of the navigation until the row of the last phase is on the screen's page, in milliseconds."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address, wait_until="commit")
    page.wait_for_selector(f'li[data-id="{last}"]', state="attached")
    took = float(page.evaluate("performance.now()"))
    context.close()
    return took


def update(page: Any, journal: SqliteJournal, phase: int, number: int) -> float:
    """From the entry on disk until the page shows its step."""
    wanted = f"bench-{number}"
    event = StepStarted(step=wanted, n=number, base="b", nonce="n", boot="b")
    stream = stream_of(RUN, f"{phase}", 0)
    journal.append(stream, len(journal.load(stream)), event)
    begun = time.perf_counter()
    page.wait_for_selector(f"#now-list >> text={wanted}")
    return (time.perf_counter() - begun) * 1000


Measured = dict[int, list[float]]
Served = tuple[int, str, SqliteJournal]


def measure(chromium: Any, sites: list[Served]) -> tuple[Measured, Measured]:
    """First paints and updates by the number of phases, repetitions interleaved."""
    paints: Measured = {phases: [] for phases, *_ in sites}
    updates: Measured = {phases: [] for phases, *_ in sites}
    for _ in range(ROUNDS):
        for phases, address, _journal in sites:
            paints[phases].append(first_paint(chromium, address, phases))
    pages = {phases: chromium.new_page() for phases, *_ in sites}
    for phases, address, _journal in sites:
        pages[phases].goto(address)
        pages[phases].wait_for_selector(".phase")
    for number in range(ROUNDS):
        for phases, _, journal in sites:
            updates[phases].append(update(pages[phases], journal, phases, number))
    return paints, updates


def main() -> None:
    lacking = browser.missing(os.environ)
    if lacking is not None:
        print(f"not measured: {lacking}")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, ExitStack() as held:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        sites = list[Served]()
        for phases, entries in SIZES:
            path = Path(folder) / f"{phases}" / ".autopilot" / "journal.db"
            print(f"{phases} phases, {fill(path, phases, entries)} entries")
            journal = held.enter_context(SqliteJournal(path, SystemClock()))
            sites.append((phases, held.enter_context(served(path.parent.parent)), journal))
        chromium = held.enter_context(sync_playwright()).chromium.launch(
            executable_path=browser.find_browser(os.environ), chromium_sandbox=os.geteuid() != 0
        )
        paints, updates = measure(chromium, sites)
        chromium.close()
    for name, measured in (("first paint", paints), ("update", updates)):
        small, big = (statistics.median(measured[phases]) for phases, _ in SIZES)
        print(f"{name:<12} {big:7.0f} ms  {big / small:4.1f}x 3 phases ({small:.0f} ms)   goal <= {GOAL:.1f}")


if __name__ == "__main__":
    main()
