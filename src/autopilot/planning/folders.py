"""Phase folders and plan files by name: which belongs to which phase (AMB-14)."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autopilot.domain.phase import Phase, number_of
from autopilot.planning import ids

_MAX_SLUG = 40
_FOLDER = re.compile(rf"(?P<id>{ids.PATTERN})(?:[-_ ](?P<slug>.*))?", re.ASCII)
_SUMMARY = re.compile(r"(?P<stem>(?:[\w.-]+-)?)SUMMARY\.md", re.ASCII)
_VERIFICATION = re.compile(rf"(?:(?P<phase>{ids.PATTERN})-)?VERIFICATION\.md", re.ASCII)
_PLAN = re.compile(
    rf"(?:(?P<phase>{ids.PATTERN})-)?(?:(?P<number>\d{{1,4}}[A-Z]?|W\d{{1,3}})-)?(?:[a-z0-9-]{{1,60}}-)?PLAN\.md",
    re.ASCII,
)


BUG_PREFIX = "DEBUG-"
"""Before the number of a problem that `autopilot debug` works on: its folder is never that of a phase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """`number` is the plan's own: `02` of `01-02-PLAN.md`, empty for a bare PLAN.md."""

    name: str
    phase: str = ""
    number: str = ""


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
    found = [plan for name in names if (plan := _plan_file(name, phase_id)) is not None]
    return tuple(sorted(found, key=lambda plan: (plan.number != "", _number_key(plan.number), plan.name)))


def summaries_of(names: Iterable[str], plans: Iterable[PlanFile]) -> tuple[str, ...]:
    """The SUMMARY.md files that belong to one of the plans: `01-02-SUMMARY.md` is about `01-02-PLAN.md`."""
    stems = {plan.name.removesuffix("PLAN.md") for plan in plans}
    found = [match for name in sorted(names) if (match := _SUMMARY.fullmatch(name))]
    return tuple(match[0] for match in found if match["stem"] in stems)


def verification_file(names: Iterable[str], phase_id: str) -> str:
    """`03-VERIFICATION.md` or VERIFICATION.md of a phase's folder; empty when there is none."""
    found = [match for name in sorted(names) if (match := _VERIFICATION.fullmatch(name))]
    own = [match[0] for match in found if match["phase"] is None or ids.same(match["phase"], phase_id)]
    return own[0] if own else ""


def _plan_file(name: str, phase_id: str) -> PlanFile | None:
    match = _PLAN.fullmatch(name)
    if match is None:
        return None
    phase = ids.normalise(match["phase"]) if match["phase"] else ""
    if phase and phase_id and not ids.same(phase, phase_id):
        return None
    return PlanFile(name=name, phase=phase, number=match["number"] or "")


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
