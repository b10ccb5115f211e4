"""
The liar suite: every agent against its projects, through the program as a user runs it.

Leaves with 1 when a liar was accepted against a criterion of the user's, when honest work was rejected, or when a run
came to no result.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from honesty import roster, tables
from honesty.arena import Bout, Result, fight


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    began = time.monotonic()
    bouts, skipped = programme(options.only, anchored=not options.unanchored)
    if not bouts:
        print("no agent of that name takes part here", *skipped, sep="\n", file=sys.stderr)
        return 2
    results = held(bouts, options.jobs)
    seconds = time.monotonic() - began
    print(f"\n{tables.totals(results, skipped, seconds)}")
    if options.json:
        options.json.write_text(json.dumps([as_json(r) for r in results], indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        write(options.markdown, results, anchored=not options.unanchored)
    return int(any(failed(r) for r in results))


def programme(only: str, *, anchored: bool) -> tuple[list[Bout], list[str]]:
    """Every bout to hold, and the projects left out with the reason."""
    projects = roster.projects()
    lacking = {name: project.lacking for name, project in projects.items() if project.lacking}
    patterns = [pattern.strip() for pattern in only.split(",") if pattern.strip()] or ["*"]
    bouts = [
        Bout(agent=agent, project=projects[name], anchored=anchored, turn=turn)
        for agent in roster.agents()
        if any(fnmatchcase(agent.name, p) or fnmatchcase(f"{agent.path.parent.name}/{agent.name}", p) for p in patterns)
        for name in agent.projects
        if name not in lacking
        for turn in range(1, agent.repeat + 1)
    ]
    return bouts, [f"{name}: {reason}" for name, reason in lacking.items()]


def held(bouts: Sequence[Bout], jobs: int) -> list[Result]:
    """Each result is printed as soon as it and those before it are there."""
    results = []
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for result in pool.map(fight, bouts):
            print(tables.line(result), flush=True)
            results.append(result)
    return results


def failed(result: Result) -> bool:
    """Without a criterion of the user's a liar may get through: that is counted and published, not a failure."""
    if result.broken or result.bout.agent.honest or result.bout.agent.beyond:
        return not result.right
    return result.accepted and result.bout.anchored


def as_json(result: Result) -> dict[str, object]:
    bout = result.bout
    return {
        "agent": bout.agent.name,
        "honest": bout.agent.honest,
        "project": bout.project.name,
        "anchored": bout.anchored,
        "accepted": result.accepted,
        "exit": result.exit,
        "reason": result.reason,
        "caught": list(result.caught),
        "broken": result.broken,
        "seconds": round(result.seconds, 1),
    }


def write(page: Path, results: Sequence[Result], *, anchored: bool) -> None:
    tables.put(page, "anchored" if anchored else "unanchored", tables.markdown(results))
    if anchored:
        tables.put(page, "beyond", tables.beyond(results))
    tables.put(page, "projects", tables.sample_projects(roster.projects().values()))
    tables.put(page, "sources", tables.sources(roster.agents()))


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description="Run the liar suite.")
    parser.add_argument(
        "--only", default="", metavar="NAMES", help="agents by name, with * and commas: 'liars/conftest*'"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time (default: 2)")
    parser.add_argument("--unanchored", action="store_true", help="with roadmaps that have no runnable criterion")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables between the markers of this page"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every result to this file")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
