"""How long reading and ordering a roadmap of 2,000 phases and 5 MB takes, as a multiple of tokenising the same file."""

import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from markdown_it import MarkdownIt

from autopilot.planning.roadmap import order
from autopilot.planning.roadmap import read_roadmap as roadmap

PHASES, PHASE_BYTES = 2000, 2600
REPETITIONS = 3
GOALS = {"time": 10.0, "memory": 20.0, "t1000/t200": 6.0}
SENTENCE = "The importer keeps *every* row it cannot read, tells `why`, and goes on with the [next](docs/rows.md). "


def roadmap_text(phases: int) -> str:
    listed = "".join(f"- [{'x' if n % 3 else ' '}] **Phase {n}: Name {n}** - One line\n" for n in range(1, phases + 1))
    detailed = "".join(section(n) for n in range(1, phases + 1))
    rows = "".join(f"| {n}. Name {n} | 0/3 | Not started | - |\n" for n in range(1, phases + 1))
    table = f"| Phase | Plans Complete | Status | Completed |\n|--|--|--|--|\n{rows}"
    return f"# Roadmap\n\n## Phases\n\n{listed}\n## Phase Details\n\n{detailed}## Progress\n\n{table}"


def section(n: int) -> str:
    needs = ", ".join(f"Phase {m}" for m in (n - 1, n // 2) if 0 < m < n) or "Nothing"
    head = (
        f"### Phase {n}: Name {n}\n\n**Goal**: Do {n}\n**Depends on**: {needs}\n**Requirements**: A-01 through A-06\n"
    )
    criteria = "".join(f"  {i}. It works -- verified by: `grep -c x file{i}` (returns 2)\n" for i in range(1, 5))
    plans = "".join(f"- [ ] {n:02}-{i:02}-PLAN.md - text\n" for i in range(1, 4))
    code = "```sh\n### Phase 1: not one\nmake test\n```\n"
    start = f"{head}**Success Criteria** (what must be TRUE):\n{criteria}**Plans**: 3 plans\n\n{plans}\n{code}\n"
    return start + (SENTENCE + "\n") * ((PHASE_BYTES - len(start)) // len(SENTENCE)) + "\n"


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def read_and_order(path: Path) -> int:
    found = roadmap.read(path.read_bytes(), "ROADMAP.md")
    return len(order.order(found.phases, found))


def tokenise(path: Path) -> int:
    return len(MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8")))


def peak_bytes(path: Path) -> int:
    """The most Python held at once; a process's own high-water mark would be inherited and miss it."""
    tracemalloc.start()
    read_and_order(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def report(name: str, ratio: float, baseline: str) -> None:
    met = "ok" if ratio <= GOALS[name] else "MISSED"
    print(f"{name:<12}  {ratio:6.2f}x {baseline:<28}  goal <= {GOALS[name]}  {met}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = {count: Path(folder) / f"{count}.md" for count in (200, 1000, PHASES)}
        for count, path in files.items():
            path.write_text(roadmap_text(count), encoding="utf-8")
        times: dict[str, list[float]] = {"read": [], "tokens": [], "200": [], "1000": []}
        for _ in range(REPETITIONS):
            times["read"].append(cpu_seconds(lambda: read_and_order(files[PHASES])))
            times["tokens"].append(cpu_seconds(lambda: tokenise(files[PHASES])))
            times["200"].append(cpu_seconds(lambda: read_and_order(files[200])))
            times["1000"].append(cpu_seconds(lambda: read_and_order(files[1000])))
        size = files[PHASES].stat().st_size
        peak = peak_bytes(files[PHASES])
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{PHASES} phases, {size / 1e6:.1f} MB: {medians['read']:.2f} s, tokens alone {medians['tokens']:.2f} s")
    report("time", medians["read"] / medians["tokens"], "reading and tokenising")
    report("memory", peak / size, f"the file ({peak / 1e6:.0f} MB)")
    report("t1000/t200", medians["1000"] / medians["200"], "five times the phases")


if __name__ == "__main__":
    main()
