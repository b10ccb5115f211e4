"""What an agent's way out costs: the start of a call, the first byte, the throughput and the memory, as ratios."""

import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from autopilot.domain.process import Job
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView

CALLS, BYTES = int(os.environ.get("CALLS", "9")), 64 << 20
ASK = """
import os, socket, time
def opened(proxied):
    if not proxied: return socket.create_connection(("127.0.0.1", {port}))
    made = socket.create_connection(("127.0.0.1", 3128))
    made.sendall(b"CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n")
    while not made.recv(4096).endswith(b"\\r\\n\\r\\n"): pass
    return made
proxied = "http_proxy" in os.environ
first = []
for _ in range(20):
    begun = time.perf_counter()
    with opened(proxied) as made:
        made.sendall(b"1"); made.recv(1)
    first.append(time.perf_counter() - begun)
begun, got = time.perf_counter(), 0
with opened(proxied) as made:
    made.sendall(b"2")
    while piece := made.recv(1 << 18): got += len(piece)
print(sorted(first)[10], got / (time.perf_counter() - begun))
"""


def serve(listener: socket.socket) -> None:
    while True:
        guest, _ = listener.accept()
        threading.Thread(target=answer, args=(guest,), daemon=True).start()


def answer(guest: socket.socket) -> None:
    with guest:
        guest.sendall(b"x" if guest.recv(1) == b"1" else bytes(BYTES))


def seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def medians(*acts: Callable[[], object]) -> list[float]:
    """In turns, so that whatever else the machine does falls on all of them."""
    rounds = [[seconds(act) for act in acts] for _ in range(CALLS)]
    return [statistics.median(taken) for taken in zip(*rounds, strict=True)]


def main() -> None:
    ground = choose("bubblewrap", ChildProcesses())
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        port, memory = listener.getsockname()[1], list[int]()
        python = os.path.realpath("/usr/bin/python3")

        def run(script: tuple[str, ...], *, is_open: bool, look: bool = False) -> bytes:
            job = Job(argv=script, cwd=folder, env={"PATH": "/usr/bin:/bin"}, hosts=(f"127.0.0.1:{port}",))
            started = memory.append if look else None
            return ground.agents(AgentView(open_network=is_open)).run(job, started).stdout

        without, with_proxy = medians(*(partial(run, ("true",), is_open=o) for o in (True, False)))
        print(f"a call that does nothing: {without:.3f} s without the proxy, {with_proxy - without:+.3f} s with it")
        told = {
            o: [float(n) for n in run((python, "-c", ASK.format(port=port)), is_open=o).split()] for o in (True, False)
        }
        print(f"first byte: {(told[False][0] - told[True][0]) * 1000:+.2f} ms")
        print(
            f"throughput: {told[False][1] / 1e6:.0f} MB/s, {told[False][1] / told[True][1]:.2f} of a direct connection"
        )
        watch = threading.Thread(target=lambda: run(("sleep", "1"), is_open=False, look=True))
        watch.start()
        time.sleep(0.7)
        status = Path(f"/proc/{memory[0]}/status").read_text()
        print(f"memory: {int(status.partition('VmRSS:')[2].split()[0]) / 1024:.0f} MB for each call")
        watch.join()


if __name__ == "__main__":
    main()
