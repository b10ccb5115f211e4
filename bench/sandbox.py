"""What a sandboxed command costs, as a multiple of starting bare bubblewrap with the same walls (CPU time)."""

import os
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.bubblewrap import HOME, TEMPORARY, Walls, fixed_arguments, folder_arguments, settings
from autopilot.sandbox.toolchain import look

REPETITIONS = 60
GOALS: dict[SandboxChoice, float | None] = {"bubblewrap": 1.2, "landlock": None}


def cpu_seconds(work: Callable[[], object]) -> float:
    """Ours and our children's."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    before = [resource.getrusage(kind) for kind in kinds]
    work()
    after = [resource.getrusage(kind) for kind in kinds]
    return sum(a.ru_utime + a.ru_stime - b.ru_utime - b.ru_stime for a, b in zip(after, before, strict=True))


def bare(folder: str, bwrap: str) -> Callable[[], object]:
    walls = Walls(bwrap=bwrap, toolchain=look(os.environ))
    environment = walls.toolchain.environment(folder, HOME, TEMPORARY)
    inside = ("--", "bash", "-euo", "pipefail", "-c", "true")
    argv = (*fixed_arguments(walls), *folder_arguments(walls, folder), *settings(environment), *inside)
    return lambda: subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL)


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = os.path.realpath(made)
        works: dict[str, Callable[[], object]] = {"bare bubblewrap": bare(folder, "/usr/bin/bwrap")}
        for tier in GOALS:
            try:
                sandbox = choose(tier, ChildProcesses()).sandbox()
            except SandboxUnavailable as error:
                print(f"{tier:<16}  not measured: {error.what}")
                continue
            works[tier] = lambda sandbox=sandbox: sandbox.run("true", folder, 20)  # type: ignore[misc] # a default binds it
        if "bubblewrap" not in works:
            return
        times: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(REPETITIONS):
            for name, work in works.items():
                times[name].append(cpu_seconds(work))
    floor = statistics.median(times["bare bubblewrap"])
    print(f"bare bubblewrap   {floor * 1000:6.1f} ms")
    for name, goal in GOALS.items():
        if name in times:
            ratio = statistics.median(times[name]) / floor
            said = "" if goal is None else f"  goal {goal}x  {'ok' if ratio <= goal else 'MISSED'}"
            print(f"{name:<16}  {statistics.median(times[name]) * 1000:6.1f} ms  {ratio:.2f}x{said}")


if __name__ == "__main__":
    main()
