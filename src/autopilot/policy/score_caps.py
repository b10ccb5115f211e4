"""Caps the score of a criterion: one table of reasons (RATE-05, RATE-09)."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

import msgspec

from autopilot.domain.answers import CriterionScore, RateOpinion, Trace
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Criterion
from autopilot.domain.results import Lowered
from autopilot.domain.value import Value
from autopilot.domain.visual import DEDUCTIONS, VisualIssue
from autopilot.policy.facts.behavior_traces import Reading, about, reading_of
from autopilot.text.numbers import read_number

HIGHEST = 10.0
BANDS = (
    (9.5, "excellence"), (8.0, "good"), (7.0, "acceptable"), (5.0, "significant_gaps"), (3.0, "major_failures"),
)  # fmt: skip


def band(score: float) -> str:
    """RATE-06."""
    return next((name for least, name in BANDS if score >= least), "not_implemented")


def score(opinion: RateOpinion) -> float:
    """RATE-07, RATE-08, AMB-31: the mean of the scorecard, floored; the rater's own number only if it is lower."""
    rows = [Decimal(str(_bounded(row.score))) for row in opinion.scorecard]
    mean = sum(rows, Decimal(0)) / len(rows)
    own = opinion.alignment_score
    lower = mean if own is None else min(mean, Decimal(str(_bounded(own))))
    return float(lower.quantize(Decimal("0.1"), rounding=ROUND_FLOOR))


def mean_score(scores: Iterable[float | None]) -> float | None:
    """SPLT-05, AMB-31: the mean, floored to one decimal; None unless every part has a score."""
    known = [None if one is None else Decimal(str(one)) for one in scores]
    rows = [one for one in known if one is not None]
    if not rows or len(rows) < len(known):
        return None
    return float((sum(rows, Decimal(0)) / len(rows)).quantize(Decimal("0.1"), rounding=ROUND_FLOOR))


def _bounded(number: float) -> float:
    return min(max(number, 0.0), HIGHEST)


BELOW_ACCEPTABLE, BELOW_GAPS, ACCEPTABLE = 6.9, 4.9, 7.0
_NAME = r"[\w.@+()\[\]$~-]"
# Bounded, and without a way back: a text of any length is looked through once.
_FOLDERS = rf"(?:{_NAME}{{1,255}}+/){{0,64}}+"
_PLACE = re.compile(
    rf"(?<![\w/:.])(?!localhost:)(?P<path>/?{_FOLDERS}(?={_NAME}{{0,255}}?[A-Za-z_]){_NAME}{{1,255}}+):(?P<line>\d++)"
)
_WORDED = re.compile(
    rf"(?<![\w/.])(?P<path>{_FOLDERS}(?={_NAME}{{1,255}}\.[A-Za-z]){_NAME}{{1,255}}+)`?"
    r"(?:#L|,?\s{1,9}\(?(?:at\s{1,9})?lines?\s{1,9})(?P<line>\d++)",
    re.IGNORECASE,
)
_CHAIN = re.compile(r"\S\s*(?:->|=>|\u2192|\u27a1)\s*\S")


class Sight(Value, frozen=True, kw_only=True):
    """What is known beside a scorecard. `behavioural` is empty where nobody touches anything."""

    checks: tuple[CommandRun, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    behavioural: tuple[Criterion, ...] = ()
    traces: tuple[Trace, ...] = ()


@dataclass(frozen=True, slots=True)
class Cap:
    """One reason: when it applies to a row, and what it makes of the score. It never makes it higher."""

    name: str
    applies: Callable[[CriterionScore, Sight], bool]
    lowers: Callable[[float], float]


def at_most(highest: float) -> Callable[[float], float]:
    return lambda score: min(score, highest)


def refuted(row: CriterionScore, sight: Sight) -> bool:
    """SBOX-02: what a command shows when it is run counts more than what was read or searched for."""
    return any(run_about(row, run) and not run.passed for run in sight.checks)


def run_about(row: CriterionScore, run: CommandRun) -> bool:
    same_command = bool(row.verification_command) and row.verification_command.strip() == run.command.strip()
    return same_command or row.criterion.strip().casefold() == run.what.strip().casefold()


def unlocated(row: CriterionScore, sight: Sight) -> bool:  # noqa: ARG001 - the signature of the table
    return not located(f"{row.evidence}\n{row.command_output}\n{row.justification}")


def place_in(words: str) -> tuple[str, int] | None:
    """The file and line the words point at first; an address of a server is none."""
    found = _PLACE.search(words) or _WORDED.search(words)
    return (found["path"], read_number(found["line"])) if found else None


def located(words: str) -> bool:
    return place_in(words) is not None


def unjustified(row: CriterionScore, sight: Sight) -> bool:  # noqa: ARG001 - the signature of the table
    return not row.justification.strip()


def readings(row: CriterionScore, sight: Sight) -> frozenset[Reading]:
    """What the traces say of the behavioural criteria the row is about; empty when it is about none."""
    return frozenset(reading_of(criterion, sight.traces) for criterion in touched(row, sight))


def touched(row: CriterionScore, sight: Sight) -> tuple[Criterion, ...]:
    """
    The behavioural criteria a row scores.

    A row in words that fit no criterion may be about any of them: other words are no way round a cap.
    """
    named = tuple(c for c in sight.behavioural if about(c, row.criterion))
    known = named or any(about(c, row.criterion) for c in sight.criteria)
    return named if known or any(run_about(row, run) for run in sight.checks) else sight.behavioural


def contradicted(row: CriterionScore, sight: Sight) -> bool:
    return "contradicted" in readings(row, sight)


def unconfirmed(row: CriterionScore, sight: Sight) -> bool:
    return "unconfirmed" in readings(row, sight)


def one_sided(row: CriterionScore, sight: Sight) -> bool:
    """The rater itself has to show both: a command it ran, and the way from the handler to its action."""
    chain = _CHAIN.search(f"{row.evidence}\n{row.justification}")
    return bool(touched(row, sight)) and not (row.verification_command.strip() and chain)


CAPS: tuple[Cap, ...] = (
    Cap("its command fails when Autopilot runs it", refuted, at_most(BELOW_ACCEPTABLE)),
    Cap("a trace contradicts it", contradicted, at_most(BELOW_GAPS)),
    Cap("no trace confirms its terminal behaviour", unconfirmed, at_most(BELOW_ACCEPTABLE)),
    Cap("behaviour above 7.0 needs both a command and a trace in the evidence", one_sided, at_most(ACCEPTABLE)),
    Cap("no file:line evidence", unlocated, at_most(BELOW_ACCEPTABLE)),
    Cap("nothing justifies what is above 7.0", unjustified, at_most(ACCEPTABLE)),
)


def held(opinion: RateOpinion, sight: Sight) -> tuple[RateOpinion, tuple[Lowered, ...]]:
    """The opinion with every row within its bounds and its caps, and each row that was brought down, with why."""
    rows = tuple((row, *capped(row, sight)) for row in opinion.scorecard)
    lowered = tuple(
        Lowered(criterion=row.criterion, said=row.score, counted=counted, because=because)
        for row, counted, because in rows
        if because
    )
    scorecard = tuple(msgspec.structs.replace(row, score=counted) for row, counted, _ in rows)
    return msgspec.structs.replace(opinion, scorecard=scorecard), lowered


def charged(opinion: RateOpinion, issues: Iterable[VisualIssue]) -> tuple[RateOpinion, tuple[Lowered, ...]]:
    """
    RATE-11: what a browser saw taken off the rows that name its page; where none does off the best, so that it counts.
    """
    rows, lowered = list(opinion.scorecard), list[Lowered]()
    for issue in issues if rows else ():
        named = [n for n, row in enumerate(rows) if issue.route.casefold() in _words(row.criterion)]
        for n in named or [max(range(len(rows)), key=lambda n: rows[n].score)]:
            said = rows[n].score
            counted = float(max(Decimal(0), Decimal(str(said)) - Decimal(str(DEDUCTIONS[issue.severity]))))
            rows[n] = msgspec.structs.replace(rows[n], score=counted)
            lowered.append(Lowered(criterion=rows[n].criterion, said=said, counted=counted, because=(issue.told,)))
    return msgspec.structs.replace(opinion, scorecard=tuple(rows)), tuple(lowered)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,:;()`'\"/") for word in text.casefold().split())


def capped(row: CriterionScore, sight: Sight) -> tuple[float, tuple[str, ...]]:
    """The row's score as it counts, and the names of the caps it ran into."""
    said = counted = min(max(row.score, 0.0), HIGHEST)
    because = []
    for cap in CAPS:
        if cap.lowers(said) < said and cap.applies(row, sight):
            because.append(cap.name)
            counted = min(counted, cap.lowers(counted))
    return counted, tuple(because)
