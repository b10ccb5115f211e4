"""
What supervising 64 agents at once costs: CPU to start each, memory of each, CPU while all of them are idle.

Both sides count: the keeper, and what the run itself needs to start it, listen to it and renew its lease. The agents
are programs that sleep; their own cost is left out.
"""

import os
import tempfile
import threading
import time
from pathlib import Path

from autopilot.domain.process import Job
from autopilot.journal.lock import boot_id
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses

AGENTS, IDLE_S = 64, 10.0
START_GOAL_MS, MEMORY_GOAL_MB = 60.0, 12.0
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


class Ear:
    """Listens as a run does, to a program that says nothing."""

    replies, over = False, False

    def heard(self, piece: bytes) -> bytes:  # noqa: ARG002 - nothing ever comes
        return b""

    def farewell(self) -> bytes:
        return b""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        keep = Path(folder) / "keep"
        kept = KeptProcesses(keep, ChildProcesses(territory=folder), boot_id())
        begun = threading.Semaphore(0)
        env = {"PATH": os.environ["PATH"]}
        jobs = [
            Job(argv=("sleep", "600"), cwd=folder, env=env, mark=f"run/{n}", timeout_s=600, talk=Ear())
            for n in range(AGENTS)
        ]
        threads = [threading.Thread(target=kept.run, args=(job, lambda _: begun.release())) for job in jobs]
        before, bare = time.process_time(), resident_mb(os.getpid())
        for thread in threads:
            thread.start()
        for _ in threads:
            begun.acquire()
        ours = time.process_time() - before
        keepers = [int((place / "keeper").read_text(encoding="ascii").split()[0]) for place in keep.iterdir()]
        theirs = sum(map(cpu_seconds, keepers))
        memory = max(map(resident_mb, keepers)) + (resident_mb(os.getpid()) - bare) / AGENTS
        before, idle = time.process_time(), theirs
        time.sleep(IDLE_S)
        idle = sum(map(cpu_seconds, keepers)) - idle + time.process_time() - before
        kept.sweep("run")
        for thread in threads:
            thread.join()
    start = (ours + theirs) / AGENTS * 1000
    print(f"start an agent     {start:6.1f} ms CPU     goal {START_GOAL_MS:.0f} ms")
    print(f"memory of an agent {memory:6.1f} MB         goal {MEMORY_GOAL_MB:.0f} MB")
    print(f"idle, {AGENTS} agents    {idle / IDLE_S * 100:6.2f} % of a core  goal none to be measured")


if __name__ == "__main__":
    main()
