"""Roadmaps as people write them, in every mixture of habits, for property tests."""

from dataclasses import dataclass

from hypothesis import strategies as st

NAMES = ("Foundation", "Data pipeline: load & clean", "User login", "报告 export", "API v2 → v3", "Polish")
TEXTS = ("It works end to end.", "Users see `a | b` in a table.", "Done when 3 of 4 pass", "[To be planned]")


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How somebody writes a roadmap."""

    sections: bool
    entries: bool
    rows: bool
    level: int
    bold: bool
    inside: bool
    padded: bool
    loose: bool
    rules: bool
    dense: bool
    described: bool
    hard_breaks: bool
    details_last: bool
    folded: bool
    arrow: str
    footer: str
    end: str
    bom: bool
    final: str


def habits() -> st.SearchStrategy[Habits]:
    flags = {
        name: st.booleans()
        for name, kind in Habits.__annotations__.items()
        if kind is bool and name not in {"sections", "entries", "rows"}
    }
    places = st.sampled_from([(True, True, True), (True, False, True), (True, True, False), (True, False, False), (False, True, True), (False, True, False), (False, False, True)])  # fmt: skip
    return places.flatmap(
        lambda kinds: st.builds(
            Habits,
            sections=st.just(kinds[0]),
            entries=st.just(kinds[1]),
            rows=st.just(kinds[2]),
            level=st.integers(2, 4),
            arrow=st.sampled_from(["", " -> ", " → "]),
            footer=st.sampled_from(["", "---\n*Last updated: today*", "*No rule above*"]),
            end=st.sampled_from(["\n", "\r\n"]),
            final=st.sampled_from(["", "\n", "\n\n", "\n  \n"]),
            **flags,
        )
    )


def phase_ids() -> st.SearchStrategy[list[str]]:
    """Whole numbers in order, some with inserted ones behind them."""
    numbers = st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True).map(sorted)
    return numbers.flatmap(
        lambda whole: st.lists(st.integers(0, 2), min_size=len(whole), max_size=len(whole)).map(
            lambda extra: [
                f"{n}.{d}" if d else str(n) for n, most in zip(whole, extra, strict=True) for d in range(most + 1)
            ]
        )
    )


@st.composite
def roadmaps(draw: st.DrawFn) -> bytes:
    how, ids = draw(habits()), draw(phase_ids())
    names = [draw(st.sampled_from(NAMES)) for _ in ids]
    goals = [draw(st.sampled_from(TEXTS)) for _ in ids]
    return written(how, list(zip(ids, names, goals, strict=True)))


def written(how: Habits, phases: list[tuple[str, str, str]]) -> bytes:
    parts = ["# Roadmap: Sample", ""]
    if how.entries:
        listed = ("\n\n" if how.loose else "\n").join(_entry(how, *phase) for phase in phases)
        parts += ["## Phases", "", *(["<details>", "", listed, "", "</details>"] if how.folded else [listed]), ""]
    sections = ["## Phase Details", "", *(line for phase in phases for line in _section(how, *phase))]
    progress = ["## Progress", "", *_order(how, phases), *(_table(how, phases) if how.rows else []), ""]
    blocks = [sections if how.sections else [], progress]
    for block in reversed(blocks) if how.details_last else blocks:
        parts += block
    text = "\n".join([*parts, how.footer]).rstrip("\n") + how.final
    return (("\ufeff" if how.bom else "") + text.replace("\n", how.end)).encode()


def _number(how: Habits, phase_id: str) -> str:
    whole, dot, rest = phase_id.partition(".")
    return f"{whole.zfill(2) if how.padded else whole}{dot}{rest}"


def _entry(how: Habits, phase_id: str, name: str, goal: str) -> str:
    mark = "**" if how.bold else ""
    return f"- [ ] {mark}Phase {_number(how, phase_id)}: {name}{mark}{f' - {goal}' if how.described else ''}"


def _section(how: Habits, phase_id: str, name: str, goal: str) -> list[str]:
    label = "**Goal:**" if how.inside else "**Goal**:"
    lines = [f"{'#' * how.level} Phase {_number(how, phase_id)}: {name}", *([] if how.dense else [""])]
    lines += [f"{label} {goal}{'  ' if how.hard_breaks else ''}", "**Depends on**: Nothing", "- [ ] 01-01: a plan"]
    return [*lines, *([] if how.dense else [""]), *(["---", ""] if how.rules and not how.dense else [])]


def _order(how: Habits, phases: list[tuple[str, str, str]]) -> list[str]:
    chain = how.arrow.join(_number(how, phase_id) for phase_id, _, _ in phases)
    return ["**Execution Order:**", f"Phases execute in this order: {chain} (as planned)", ""] if how.arrow else []


def _table(how: Habits, phases: list[tuple[str, str, str]]) -> list[str]:
    rows = [f"| {_number(how, phase_id)}. {name} | 0/3 | Planned | - |" for phase_id, name, _ in phases]
    return ["| Phase | Plans Complete | Status | Completed |", "|---|---|---|---|", *rows]
