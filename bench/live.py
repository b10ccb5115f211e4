"""How much of a core the live view takes on a terminal of 200x60, and what an entry costs however long the run is."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from collections.abc import Iterator

import msgspec

from autopilot.domain.agent_call import Role
from autopilot.domain.attempt import Brief, Spec
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Entry,
    Event,
    PhaseStarted,
    RunStarted,
    StepFinished,
    StepStarted,
)
from autopilot.domain.evidence import Usage
from autopilot.domain.phase import Phase
from autopilot.domain.results import Unanswered
from autopilot.domain.settings import Settings
from autopilot.domain.verdict import Retry
from autopilot.state.picture import Picture
from autopilot.state.picture_run import after
from autopilot.views.terminal.live import LiveView

RUN, SECONDS, A_SECOND = "run-2026-02-09-143052", 8.0, 10
MOST_SHARE, MOST_RATIO = 0.03, 2.0
USAGE = Usage(input_tokens=1000, output_tokens=100, cost_usd=0.01)
ROLE: Role = "execute"
UNANSWERED = Unanswered(role=ROLE, outcome="crashed", detail="no answer")


def begun(phases: int) -> Iterator[Event]:
    roadmap = tuple(Phase(id=str(n), name=f"Part {n} of the work") for n in range(1, phases + 1))
    settings = Settings(agent="claude", model="sonnet")
    spec = Spec(path=".planning/ROADMAP.md", sha256="0" * 64)
    yield RunStarted(
        run=RUN, root="/", branch="main", base="b", spec=spec, roadmap=spec.path, phases=roadmap,
        targets=tuple(p.id for p in roadmap), settings=settings,
    )  # fmt: skip
    yield PhaseStarted(brief=Brief(phase=roadmap[phases // 2], dir="d", base="b", position=1, total=phases))


def calls(count: int) -> Iterator[Event]:
    """So many entries of one pass: a thousand a step, almost all of them calls and answers."""
    for number in range(count // 2):
        if number % 500 == 0:
            if number:
                verdict = Retry(step="execute", because="again")
                yield StepFinished(step="execute", n=1, commit="c", result=UNANSWERED, verdict=verdict)
            yield StepStarted(step="execute", n=1, base="b", nonce="n", boot="b", task="01-01")
        call = f"{RUN}/1/execute/{number}"
        yield AgentStarted(call=call, role=ROLE, pid=os.getpid(), birth="")
        yield AgentAnswered(
            call=call, role=ROLE, outcome="ok", answer=None, text="", usage=USAGE, commands=(), seconds=1.0
        )


def entries(phases: int, count: int) -> Iterator[tuple[str, Entry]]:
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    for number, event in enumerate(begun(phases)):
        yield RUN, Entry(number=number, at=at, event=event)
    for number, event in enumerate(calls(count)):
        yield f"{RUN}/{phases // 2 + 1}", Entry(number=number, at=at, event=event)


def share(a_second: int) -> float:
    """CPU time of all threads over the time that passed, with so many entries a second."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    told = entries(300, int(SECONDS * A_SECOND) + 4)
    with subprocess.Popen(["cat"], stdin=master, stdout=subprocess.DEVNULL) as reader, os.fdopen(slave, "w") as out:
        view = LiveView(out)
        for _ in range(3):
            view(*next(told))
        time.sleep(1.0)
        began, used = time.monotonic(), time.process_time()
        while time.monotonic() - began < SECONDS:
            time.sleep(1 / a_second if a_second else 1.0)
            if a_second:
                view(*next(told))
        taken = (time.process_time() - used) / (time.monotonic() - began)
        view.close()
        reader.terminate()
    os.close(master)
    return taken


def cost(before: int, phases: int) -> float:
    """Seconds for an entry once so many were told."""
    picture = Picture()
    told = list(entries(phases, before + 1000))
    for stream, entry in told[:before]:
        picture = after(picture, stream, entry)
    began = time.process_time()
    for stream, entry in told[before:]:
        picture = after(picture, stream, entry)
    assert msgspec.structs.asdict(picture)
    return (time.process_time() - began) / len(told[before:])


def main() -> None:
    for name, a_second in (("nothing happens", 0), (f"{A_SECOND} entries a second", A_SECOND)):
        taken = share(a_second)
        met = "ok" if taken <= MOST_SHARE else "MISSED"
        print(f"{name:<24} {taken * 100:5.2f} % of a core  goal <= {MOST_SHARE * 100:g} %  {met}")
    short, long = cost(100, 3), cost(100_000, 3)
    met = "ok" if long <= short * MOST_RATIO else "MISSED"
    print(f"an entry after 100: {short * 1e6:.0f} us, after 100,000: {long / short:.2f}x  goal <= {MOST_RATIO}x  {met}")


if __name__ == "__main__":
    main()
