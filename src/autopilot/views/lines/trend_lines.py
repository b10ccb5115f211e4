"""How a run compares with those before it (MTRC-03): numbers, a few lines, and charts in Mermaid."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autopilot.policy.score_caps import mean_score
from autopilot.text.clean import clean

FIRST = "First run recorded. Trend analysis available after 2+ runs."
MOST_BARS = 20

Run = Mapping[str, Any]
Runs = Sequence[Run]


def trend(runs: Runs) -> dict[str, Any] | None:
    """MTRC-03b: the newest run beside the one before it and beside all; None while there is only one."""
    if len(runs) <= 1:
        return None
    before, now = runs[-2], runs[-1]
    return {
        "success_rate_delta": round(now["success_rate"] - before["success_rate"], 3),
        "avg_alignment_delta": _delta(before.get("avg_alignment_score"), now.get("avg_alignment_score")),
        "estimated_cost_delta": now["total_estimated_tokens"] - before["total_estimated_tokens"],
        "recurring_failures": sorted(_failures(before).keys() & _failures(now).keys()),
        "historical": {
            "total_runs": len(runs),
            "success_rate": _spread(runs, "success_rate", 3),
            "avg_alignment": _scores(runs),
            "total_cost": _spread(runs, "total_estimated_tokens", 0),
        },
    }


def _delta(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else round(now - before, 2)


def _failures(run: Mapping[str, Any]) -> Mapping[str, int]:
    found = run.get("failure_taxonomy_histogram")
    return found if isinstance(found, dict) else {}


def _spread(runs: Runs, key: str, places: int) -> dict[str, float | None]:
    known = [run[key] for run in runs if isinstance(run.get(key), int | float)]
    if not known:
        return {"min": None, "max": None, "avg": None}
    return {"min": min(known), "max": max(known), "avg": round(sum(known) / len(known), places)}


def _scores(runs: Runs) -> dict[str, float | None]:
    """AMB-31: averages of scores are floored, as scores are."""
    known = [run["avg_alignment_score"] for run in runs if isinstance(run.get("avg_alignment_score"), int | float)]
    return _spread(runs, "avg_alignment_score", 1) | {"avg": mean_score(known)}


def warning(runs: Runs) -> str:
    """MTRC-03d; empty while the rate does not go down."""
    if len(runs) <= 1 or runs[-1]["success_rate"] >= runs[-2]["success_rate"]:
        return ""
    before, now = (f"{run['success_rate'] * 100:g}" for run in runs[-2:])
    return f"Warning: Success rate decreased from {before}% to {now}%. Check failure histogram for recurring issues."


def notes(runs: Runs) -> tuple[str, ...]:
    """What is said of the trend when a run ends."""
    told = FIRST if len(runs) == 1 else warning(runs)
    return (told,) if told else ()


def trend_section(runs: Runs) -> Iterator[str]:
    """MTRC-03c: the section of the completion report."""
    yield "## Trend Analysis"
    yield ""
    found = trend(runs)
    if found is None:
        yield FIRST
        return
    if told := warning(runs):
        yield from (told, "")
    yield from _deltas(found)
    yield ""
    yield from _table(found["historical"])
    yield ""
    yield from charts(runs)


def screen(runs: Runs) -> Iterator[str]:
    """For the terminal: a line a run, then how the newest compares."""
    yield f"{'Run':<24}{'Success':>9}{'Alignment':>11}{'Tokens (est.)':>15}"
    for run in runs[-MOST_BARS:]:
        score, name = run.get("avg_alignment_score"), clean(str(run["run_id"]), 23)
        shown = f"{score:.1f}" if isinstance(score, int | float) else "-"
        yield f"{name:<24}{_percent(run):>9}{shown:>11}{run['total_estimated_tokens']:>15}"
    yield ""
    found = trend(runs)
    if found is None:
        yield FIRST
        return
    if told := warning(runs):
        yield told
    yield from _deltas(found)
    yield from _table(found["historical"])


def _percent(run: Mapping[str, Any]) -> str:
    return f"{run['success_rate'] * 100:g}%"


def _deltas(found: Mapping[str, Any]) -> Iterator[str]:
    alignment = found["avg_alignment_delta"]
    yield f"- Success rate: {found['success_rate_delta'] * 100:+g} points against the run before"
    yield f"- Average alignment: {'unknown' if alignment is None else f'{alignment:+g}'}"
    yield f"- Estimated cost: {found['estimated_cost_delta']:+d} tokens"
    yield f"- Recurring failures: {', '.join(found['recurring_failures']) or 'none'}"


def _table(historical: Mapping[str, Any]) -> Iterator[str]:
    yield f"| {historical['total_runs']} runs | min | max | avg |"
    yield "|---|---|---|---|"
    rows: tuple[tuple[str, str, Callable[[float], str]], ...] = (
        ("success_rate", "Success rate", lambda number: f"{number * 100:g}%"),
        ("avg_alignment", "Average alignment", lambda number: f"{number:g}"),
        ("total_cost", "Estimated tokens", lambda number: f"{number:.0f}"),
    )
    for key, title, shown in rows:
        cells = (historical[key][which] for which in ("min", "max", "avg"))
        yield f"| {title} | {' | '.join('-' if cell is None else shown(cell) for cell in cells)} |"


def charts(runs: Runs) -> Iterator[str]:
    """The newest runs, oldest first; a run without a score stands at 0."""
    shown = runs[-MOST_BARS:]
    names = [clean(str(run["run_id"]), 40).removeprefix("run-") for run in shown]
    yield from _chart("Success rate (%)", names, [run["success_rate"] * 100 for run in shown], 100)
    yield ""
    yield from _chart("Average alignment", names, [run.get("avg_alignment_score") or 0 for run in shown], 10)
    yield ""
    thousands = [run["total_estimated_tokens"] / 1000 for run in shown]
    yield from _chart("Estimated tokens (thousands)", names, thousands, max(1, *thousands) if thousands else 1)


def _chart(title: str, names: Sequence[str], values: Sequence[float], top: float) -> Iterator[str]:
    yield "```mermaid"
    yield "xychart-beta"
    yield f'    title "{title}"'
    yield f"    x-axis [{', '.join(_quoted(name) for name in names)}]"
    yield f"    y-axis 0 --> {top:g}"
    yield f"    bar [{', '.join(f'{value:g}' for value in values)}]"
    yield "```"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', "'") + '"'
