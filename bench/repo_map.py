"""
What the repository map costs (CPU time, children included), beside a bare tree-sitter parse, ast-grep and aider.

    python bench/repo_map.py [--rivals] [folder ...]

Without a folder a package of this environment is mapped; the goals are meant for Django, SymPy, a Go and a TypeScript
code base. `--rivals` makes an environment with ast-grep and aider in the user's cache first, which takes minutes and a
network; AUTOPILOT_BENCH_RIVALS names one that has them, AUTOPILOT_BENCH_REPETITIONS how often all is measured. Every
engine is given the same files: those the map does not leave out. Ours is the process a run starts for its map.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autopilot.codemap.builder import GitAtlas

REPETITIONS = int(os.environ.get("AUTOPILOT_BENCH_REPETITIONS", "5"))
CHANGED = 10
GENERATED = 5_000
IDLE = 0.5
ENV = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
PEOPLE = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
BARE = """
import sys
from pathlib import Path
from tree_sitter import Language, Parser
from importlib import import_module
parsers = {}
for line in Path(sys.argv[1]).read_text().splitlines():
    module, entry, path = line.split(" ", 2)
    if (module, entry) not in parsers:
        parsers[module, entry] = Parser(Language(getattr(import_module(module), entry)()))
    with open(path, "rb") as file:
        parsers[module, entry].parse(file.read())
"""
# What a run pays, whose process is there anyway: the cost is printed, that of children included.
RESIDENT = """
import os, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import repo_map
def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
place, store, commit, workers = sys.argv[2:6]
made = repo_map.atlas_of(Path(place), Path(store), int(workers))
before = cpu()
line = made.chart(commit).line
print(cpu() - before)
sys.exit("left out" in line and line)
"""
AIDER = """
import sys
from pathlib import Path
from aider.io import InputOutput
from aider.repomap import RepoMap
class Model:
    def token_count(self, text): return len(text) // 4
made = RepoMap(root=sys.argv[1], main_model=Model(), io=InputOutput(pretty=False))
for line in Path(sys.argv[2]).read_text().splitlines():
    path = line.split(" ", 2)[2]
    made.get_tags(path, str(Path(path).relative_to(sys.argv[1])))
"""


class Cost:
    """CPU seconds of finished children, the wall's, and the biggest of them in MB."""

    def __init__(self, argv: Iterable[str], env: dict[str, str] = ENV, cwd: str | None = None) -> None:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([*argv], env=env, cwd=cwd, check=False, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.said = done.stdout.decode(errors="replace").strip()
        self.wall = time.monotonic() - began
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.failed = done.stderr.decode(errors="replace").strip()[-300:] if done.returncode else ""


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *PEOPLE, *words], cwd=root, env=ENV, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def medians(works: dict[str, Callable[[], Cost]], repetitions: int = REPETITIONS) -> dict[str, tuple[float, float]]:
    """CPU and wall of each, the repetitions interleaved; what fails is told and left out."""
    costs: dict[str, list[Cost]] = {name: [] for name in works}
    for _ in range(repetitions):
        for name, work in works.items():
            costs[name].append(work())
    for name, made in costs.items():
        if any(cost.failed for cost in made):
            print(f"  {name:<34} not measured: {next(cost.failed for cost in made if cost.failed)}")
    return {
        name: (statistics.median(c.cpu for c in made), statistics.median(c.wall for c in made))
        for name, made in costs.items()
        if not any(cost.failed for cost in made)
    }


def told(name: str, value: float, unit: str, goal: float | None) -> None:
    met = (
        ""
        if goal is None
        else "ok"
        if value <= goal
        else "equal, within a quarter"
        if value <= goal * 1.25
        else "MISSED"
    )
    said = "" if goal is None else f"   goal <= {goal:.3g}   {met}"
    print(f"  {name:<34} {value:6.2f}x {unit}{said}", flush=True)


def atlas_of(root: Path, book: Path, workers: int) -> "GitAtlas":
    from autopilot.codemap.builder import GitAtlas
    from autopilot.sandbox.processes.children import ChildProcesses
    from autopilot.workspace import git as our_git

    processes, home = ChildProcesses(), root / ".autopilot"
    home.mkdir(exist_ok=True)
    env = our_git.our_env(os.environ["PATH"]) | {"GIT_DIR": str(root / ".git")}
    git = our_git.Git(processes=processes, cwd=root, env=env, flags=our_git.OURS)
    return GitAtlas(book=book, home=home, git=git, processes=processes, now=lambda: "now", workers=workers)


class Subject:
    """A copy of a folder's sources as a repository of one commit, and one with ten files changed."""

    def __init__(self, folder: Path, place: Path) -> None:
        from autopilot.codemap.changes import EXCLUDED
        from autopilot.codemap.grammars import GRAMMARS
        from autopilot.codemap.languages import grammar_of

        self.root, self.place = place / "project", place
        self.files, lines = list[Path](), list[str]()
        for path in sorted(folder.rglob("*")):
            grammar, own = grammar_of(path.name), path.relative_to(folder)
            if grammar and path.is_file() and EXCLUDED.isdisjoint(own.parts):
                target = self.root / own
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                self.files.append(target)
                lines.append(f"{' '.join(GRAMMARS[grammar])} {target}\n")
        self.root.mkdir(parents=True, exist_ok=True)
        self.listing = place / "files.txt"
        self.listing.write_text("".join(lines))
        git(self.root, "init", "-q")
        git(self.root, "add", "-A", "-f")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "all")
        # As in a clone.
        git(self.root, "repack", "-a", "-d", "-q")
        self.commit = git(self.root, "rev-parse", "HEAD")

    def change(self) -> str:
        for path in self.files[:: max(1, len(self.files) // CHANGED)][:CHANGED]:
            path.write_bytes(path.read_bytes() + b"\n\n")
        git(self.root, "commit", "-q", "-a", "-m", "ten")
        return git(self.root, "rev-parse", "HEAD")

    def ours(self, book: str, commit: str, workers: int = 1) -> Cost:
        """The very process a run starts, in place of one that is there anyway."""
        from autopilot.codemap.worker import CHART

        job = atlas_of(self.root, self.place / book, workers).job(CHART, commit)
        return Cost(job.argv, job.env, job.cwd)

    def resident(self, book: str, commit: str) -> Cost:
        """The same inside a run: as the process itself tells it, without its start."""
        words = (str(Path(__file__).parent), str(self.root), str(self.place / book), commit, "1")
        cost = self.python(RESIDENT, *words)
        if not cost.failed:
            cost.cpu = float(cost.said)
        return cost

    def forget(self, book: str) -> str:
        for path in (*self.place.glob(f"{book}*"), self.root / ".autopilot" / "repo-map.json"):
            path.unlink(missing_ok=True)
        return book

    def python(self, code: str, *words: str, interpreter: str = sys.executable) -> Cost:
        return Cost([interpreter, "-c", code, *words])


def measure(folder: Path, rivals: Path | None) -> None:
    with tempfile.TemporaryDirectory() as made:
        subject = Subject(folder, Path(made).resolve())
        size = sum(path.stat().st_size for path in subject.files) / 1e6
        print(f"{folder.name}: {len(subject.files)} files, {size:.1f} MB")
        if subject.files:
            full_map(subject, rivals)
            refresh(subject, rivals)


def full_map(subject: Subject, rivals: Path | None) -> None:
    works: dict[str, Callable[[], Cost]] = {
        "bare": lambda: subject.python(BARE, str(subject.listing)),
        "ours": lambda: subject.ours(subject.forget("full.db"), subject.commit),
        "ours, 2 workers": lambda: subject.ours(subject.forget("full.db"), subject.commit, 2),
        "inside": lambda: subject.resident(subject.forget("full.db"), subject.commit),
    }
    outline = rivals / "ast-grep" if rivals else shutil.which("ast-grep")
    if outline and Path(outline).exists():
        words = ("outline", "--json=stream", "--items", "all", "-j", "1", "--no-ignore", "vcs", str(subject.root))
        works["ast-grep"] = lambda: Cost([str(outline), *words])
    else:
        print("  ast-grep                           not measured: not installed")
    busy = os.getloadavg()[0]
    cost = medians(works)
    for name, rival, goal in (("bare", "bare parse", 1.25), ("ast-grep", "ast-grep outline", 1.0)):
        if {name, "ours", "inside"} <= cost.keys():
            told("full map", cost["ours"][0] / cost[name][0], rival, goal)
            told("full map, inside a run", cost["inside"][0] / cost[name][0], rival, goal)
    if {"ours, 2 workers", "ours"} <= cost.keys():
        # Wall-clock time says something only on a machine that does nothing else.
        wall = cost["ours, 2 workers"][1] / cost["ours"][1]
        told("two workers, wall", wall, f"one worker, load {busy:.1f}", 0.65 if busy < IDLE else None)


def refresh(subject: Subject, rivals: Path | None) -> None:
    base, ten = subject.commit, subject.change()
    if failed := subject.ours("book.db", base).failed or subject.ours("book.db", ten).failed:
        print(f"  refresh                            not measured: {failed}")
        return
    cost = {name: cpu for name, (cpu, _) in medians(refreshes(subject, base, ten, rivals)).items()}
    floor = cost["git"] + cost["python"]
    # A refresh begins with the question which commit there is.
    nothing = cost["nothing"] + cost["commit"]
    fresh, resident = cost["ten"] + cost["commit"], cost["resident"] + cost["commit"]
    told("refresh, nothing changed", nothing / floor, "git diff + python -c pass", 2.2)
    told("refresh, ten files", fresh / nothing, "refresh with nothing changed", 1.7)
    told("refresh, ten files", fresh / floor, "git diff + python -c pass", 2.2 * 1.7)
    told("refresh, ten files, inside a run", resident / floor, "git diff + python -c pass", 2.2 * 1.7)
    if "aider" in cost:
        told("refresh, nothing changed", nothing / cost["aider"], "aider warm", 0.10)
        told("refresh, ten files", fresh / cost["aider"], "aider warm", 0.10)
        told("refresh, ten files, inside a run", resident / cost["aider"], "aider warm", 0.10)


def refreshes(subject: Subject, base: str, ten: str, rivals: Path | None) -> dict[str, Callable[[], Cost]]:
    for name in ("ten.db", "resident.db"):
        shutil.copyfile(subject.place / "book.db", subject.place / name)
    turns = {name: cycle((base, ten)) for name in ("ten.db", "resident.db")}

    def changed(book: str, work: Callable[[str, str], Cost]) -> Cost:
        # There and back again, and what was read is forgotten, so that each time ten files are read.
        forget = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()"
        blobs = "delete from outlines where key not in (select key from files where key is not null)"
        subprocess.run([sys.executable, "-c", forget, str(subject.place / book), blobs], check=True)
        return work(book, next(turns[book]))

    works: dict[str, Callable[[], Cost]] = {
        "git": lambda: Cost(["git", "-C", str(subject.root), "diff", "--name-only", "HEAD"]),
        "commit": lambda: Cost(["git", "-C", str(subject.root), "rev-parse", "HEAD"]),
        "python": lambda: subject.python("pass"),
        "nothing": lambda: subject.ours("book.db", ten),
        "ten": lambda: changed("ten.db", subject.ours),
        "resident": lambda: changed("resident.db", subject.resident),
    }
    if rivals and (rivals / "aider").exists():
        words = (str(subject.root), str(subject.listing))
        subject.python(AIDER, *words, interpreter=str(rivals / "python"))
        works["aider"] = lambda: subject.python(AIDER, *words, interpreter=str(rivals / "python"))
    else:
        print("  aider                              not measured: not installed (--rivals installs it)")
    return works


def generated() -> None:
    """What a large project takes in memory; measured, with no goal of its own."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "many"
        for number in range(GENERATED):
            path = folder / f"p{number % 50}" / f"m{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                "".join(f"def f{n}(a, b):\n    return f{n - 1}(a + {number}) if a else b\n\n\n" for n in range(20))
            )
        subject = Subject(folder, Path(made).resolve())
        cost = subject.ours("book.db", subject.commit)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(f"{GENERATED} generated files: {cost.cpu:.2f} s, the biggest process had {peak} MB{cost.failed}")


def rival_tools() -> Path | None:
    """The `bin` of an environment with ast-grep and aider, kept for the next time; None with the reason told."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "autopilot-bench"
    if all((cache / "bin" / name).exists() for name in ("ast-grep", "aider")):
        return cache / "bin"
    found = filter(None, (shutil.which(f"python3.{minor}") for minor in (12, 11, 10)))
    for interpreter in (sys.executable, *found):
        Cost([interpreter, "-m", "venv", "--clear", str(cache)])
        done = Cost([str(cache / "bin" / "pip"), "install", "-q", "ast-grep-cli", "aider-chat"])
        if not done.failed:
            return cache / "bin"
        print(f"no rivals with {interpreter}: {done.failed}")
    return None


def main() -> None:
    from autopilot.codemap.grammars import missing

    if lacking := missing():
        print(f"not measured: {lacking} is not installed")
        return
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    known = os.environ.get("AUTOPILOT_BENCH_RIVALS")
    rivals = Path(known) / "bin" if known else rival_tools() if "--rivals" in sys.argv else None
    generated()
    for folder in folders or [Path(sysconfig.get_paths()["purelib"]) / "mypy"]:
        measure(folder.resolve(), rivals)


if __name__ == "__main__":
    main()
