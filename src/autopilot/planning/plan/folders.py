"""Phase folders and plan files by name: which belongs to which phase (AMB-14)."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autopilot.domain.phase import Phase, number_of
from autopilot.planning.roadmap import ids

_MAX_SLUG = 40
_FOLDER = re.compile(rf"(?P<id>{ids.PATTERN})(?:[-_ ](?P<slug>.*))?", re.ASCII)
_NUMBER = r"\d{1,4}[A-Z]?|W\d{1,3}"
# `03-01-PLAN.md`, `03-01-some-words-PLAN.md`, `03-PLAN.md`, `PLAN.md`; the same of a SUMMARY.
_PLAN = re.compile(
    rf"(?:(?P<phase>{ids.PATTERN})-(?:(?P<number>{_NUMBER})-)?(?:[\w.-]{{1,80}}-)?)?(?P<kind>PLAN|SUMMARY)\.md",
    re.ASCII,
)


BUG_PREFIX = "DEBUG-"
"""Before the number of a problem that `autopilot debug` works on: its folder is never that of a phase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """
    `number` is the plan's own: `02` of `01-02-PLAN.md`, empty for a bare PLAN.md. `summary` is the file that says it is
    done, if it is there.
    """

    name: str
    phase: str = ""
    number: str = ""
    summary: str = ""

    @property
    def done(self) -> bool:
        return bool(self.summary)


def folder_of(phase: Phase, existing: Iterable[str], *, strict: bool = False) -> str:
    """
    The phase's folder among the existing ones, else the name of a new one. Phase 1 is never `10-...`.

    `strict`: another milestone has a phase of the same number, so that a folder of another name is not this phase's.
    """
    slug = _slug(phase.name)
    number = number_of(phase) if strict else phase.id
    own = [(not exact, _slug(rest) != slug, name) for name in existing for exact, rest in _reads(name, number)]
    if strict:
        own = [one for one in own if not one[1]]
    return min(own)[2] if own else new_folder(phase)


def new_folder(phase: Phase) -> str:
    """`03-name-of-the-phase`, `02.1-inserted`: the first number has two digits, so that folders sort."""
    padded = re.sub(r"\d+", lambda digits: digits[0].zfill(2), phase.id, count=1)
    slug = _slug(phase.name)
    return f"{padded}-{slug}" if slug else padded


def plan_files(names: Iterable[str], phase_id: str = "") -> tuple[PlanFile, ...]:
    """PLAN.md and NN-MM-PLAN.md of a phase's folder in the order to read; `PAPER_TRADING_PLAN.md` is none."""
    named = [(found, name) for name in names if (found := _PLAN.fullmatch(name))]
    own = [(found, name) for found, name in named if not found["phase"] or _is_of(found["phase"], phase_id)]
    summaries = [(found, name) for found, name in own if found["kind"] == "SUMMARY"]
    plans = [_plan_file(found, name, summaries) for found, name in own if found["kind"] == "PLAN"]
    return tuple(sorted(plans, key=lambda plan: (plan.number != "", _number_key(plan.number), plan.name)))


def plan_file(name: str) -> PlanFile | None:
    """What the name of a plan file says; None for any other file."""
    found = _PLAN.fullmatch(name)
    return _plan_file(found, name, []) if found and found["kind"] == "PLAN" else None


def own_file(names: Iterable[str], phase_id: str, kind: str) -> str:
    """The phase's `CONTEXT.md`, `RESEARCH.md`, ... as the user named it: `03-CONTEXT.md` first; empty when absent."""
    found = {name: name.removesuffix(kind).removesuffix("-") for name in names if name.endswith(kind)}
    numbered = (name for name, lead in sorted(found.items()) if lead and _is_of(lead, phase_id))
    return next(numbered, kind if kind in found else "")


def _is_of(lead: str, phase_id: str) -> bool:
    """Whether a file whose name starts so is of this phase; a project's own prefix may stand before the number."""
    named = ids.normalise(lead)
    return not phase_id or named == ids.normalise(phase_id) or named.rpartition("-")[2] == ids.normalise(phase_id)


def _plan_file(found: re.Match[str], name: str, summaries: list[tuple[re.Match[str], str]]) -> PlanFile:
    """A summary is of the plan with the same name, or, where either has more words in it, with the same number."""
    phase, number = ids.normalise(found["phase"] or ""), found["number"] or ""
    exact = f"{name.removesuffix('PLAN.md')}SUMMARY.md"
    own = (
        other
        for of, other in summaries
        if other == exact or (number and number == of["number"] and ids.same(phase, of["phase"] or ""))
    )
    return PlanFile(name=name, phase=phase, number=number, summary=next(own, ""))


def _number_key(number: str) -> tuple[int, int, str]:
    digits = re.search(r"\d+", number)
    return (0 if number.startswith("W") else 1, int(digits[0]) if digits else 0, number)


def _reads(name: str, phase_id: str) -> Iterator[tuple[bool, str]]:
    """Whether the folder is this phase's, exactly or behind a project's prefix, and what follows the number."""
    match = _FOLDER.fullmatch(name)
    if match is None:
        return
    token = ids.normalise(match["id"])
    if token == phase_id:
        yield True, match["slug"] or ""
    elif token.rpartition("-")[2] == phase_id and not token.startswith(BUG_PREFIX):
        yield False, match["slug"] or ""


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_MAX_SLUG].strip("-")
