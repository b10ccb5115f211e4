"""Assertions of a test that was there: removed, weakened, made empty, or expecting something else."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from autopilot.evidence.tamper.case_values import EXACT, LITERAL, SOMETHING, Assertion, Case
from autopilot.evidence.tamper.file_pairs import Hit
from autopilot.evidence.tamper.suites import Scene

SHOWN, MOST = 70, 300
_EQUIVALENT = frozenset({"True", "False", "None", "true", "false", "null", "nil", "undefined"})
_TOLERANCE = re.compile(
    r"\b(?:abs|rel|delta|places|atol|rtol|abs_tol|rel_tol|epsilon|tolerance|max_delta)\s*[=:]\s*(?P<named>[\d.eE+-]+)"
    r"|(?:toBeCloseTo|InDelta|InEpsilon|assertAlmostEqual|closeTo|within|isCloseTo)\(.*?,\s*(?P<last>[\d.eE+-]+)\s*\)"
    r"|abs\([^()]*\)\s*<=?\s*(?P<bound>[\d.eE+-]+)"
)
_OF_OPERATORS = re.compile(
    r"(?i)(?:^|[_\W])(?:eq|ne|lt|le|gt|ge|hash|cmp)(?:$|[_\W])|equal|compar|order|operator|reflexiv|symmetr|identit"
)
_DIGITS = re.compile(r"\b(?:places\s*=|toBeCloseTo\()")


def weakened(scene: Scene) -> Iterator[Hit]:
    for match in scene.matches:
        if match.new is not None and match.new_pair is not None and not _tabled(match.old, match.new):
            for hit in _compared(match.old, match.new, scene.said_by_newcomers):
                yield Hit(hit.rule, hit.line, hit.what, milder=hit.milder, path=match.new_pair.path)


def _tabled(old: Case, new: Case) -> bool:
    """What the test compared now stands in a table of cases, and is compared as strictly."""
    strengths = [max((a.strength for a in case.assertions if not a.tautology), default=0) for case in (old, new)]
    values = frozenset(value for assertion in old.assertions for value in assertion.literals)
    return new.parametrised and not old.parametrised and values <= new.literals and strengths[1] >= strengths[0] > 0


def _compared(old: Case, new: Case, moved: frozenset[str]) -> Iterator[Hit]:
    removed, added = _without(old, new), _without(new, old)
    always = [assertion for assertion in added if assertion.tautology]
    added = [assertion for assertion in added if not assertion.tautology]
    unmatched = []
    for was in removed:
        now = _successor(was, added)
        if now is None:
            unmatched.append(was)
            continue
        added.remove(now)
        yield from _changed(was, now)
    for assertion in always:
        # Beside all that was asserted it takes nothing away; tests of operators compare a thing with itself.
        what = f"`{_short(assertion)}` holds whatever the code does"
        yield Hit("assertion-tautology", assertion.line, what, milder=not unmatched)
    left = [was for was in unmatched if not was.tautology]
    for hit in _dropped(old, new, left, added):
        yield replace(hit, milder=hit.milder or all(was.text in moved for was in left))


def _without(case: Case, other: Case) -> list[Assertion]:
    """The assertions that the other does not have, equal ones counted."""
    left = Counter(assertion.text for assertion in other.assertions)
    found = []
    for assertion in case.assertions:
        left[assertion.text] -= 1
        if left[assertion.text] < 0:
            found.append(assertion)
    return found[:MOST]


def _successor(was: Assertion, added: list[Assertion]) -> Assertion | None:
    """The new assertion that speaks of the same things: the one with most words in common."""
    same = next((now for now in added if now.shape == was.shape), None)
    if same is not None:
        return same
    scored = [(len(was.words & now.words), -index, now) for index, now in enumerate(added) if not now.helper]
    best = max(scored, key=lambda scored: scored[:2], default=None)
    return best[2] if best and best[0] > 0 else None


def _changed(was: Assertion, now: Assertion) -> Iterator[Hit]:
    what = f"`{_short(was)}` became `{_short(now)}`"
    if _tolerance(was.text) != _tolerance(now.text) and _exactly(was) == _exactly(now):
        if _widened(was, now):
            yield Hit("tolerance-widened", now.line, what)
    elif now.strength < was.strength:
        if not _as_strong(was, now):
            mild = not (was.strength == EXACT and now.strength == SOMETHING)
            yield Hit("assertion-weakened", now.line, what, milder=mild)
    elif now.shape == was.shape and _values(was) != _values(now):
        yield Hit("expected-changed", now.line, what)


def _values(assertion: Assertion) -> list[str]:
    return [found.strip("\"'") for found in LITERAL.findall(assertion.text)]


def _as_strong(was: Assertion, now: Assertion) -> bool:
    """`x == True` and `x is True` say no more than `x`."""
    return bool(was.literals & _EQUIVALENT) and not (was.literals - _EQUIVALENT - now.literals)


def _widened(was: Assertion, now: Assertion) -> bool:
    before, after = _tolerance(was.text), _tolerance(now.text)
    if before is None or after is None:
        return after is not None
    # Places after the point are counted the other way round.
    return after < before if _DIGITS.search(now.text) else after > before


def _exactly(assertion: Assertion) -> str:
    """The assertion without its tolerance."""
    found = _TOLERANCE.search(assertion.text)
    number = next((name for name in ("named", "last", "bound") if found and found[name]), None)
    if found is None or number is None:
        return assertion.text
    return assertion.text[: found.start(number)] + assertion.text[found.end(number) :]


def _tolerance(text: str) -> float | None:
    found = _TOLERANCE.search(text)
    if found is None:
        return None
    try:
        return float(found["named"] or found["last"] or found["bound"])
    except ValueError:
        return None


def _dropped(old: Case, new: Case, unmatched: list[Assertion], added: list[Assertion]) -> Iterator[Hit]:
    """What was asserted and is asserted nowhere in the test any more."""
    values = frozenset(value for assertion in new.assertions for value in assertion.literals)
    lost = [was for was in unmatched if not (was.literals and was.literals <= values) or not new.assertions]
    if not lost:
        return
    fewer = sum(not a.tautology for a in new.assertions) < sum(not a.tautology for a in old.assertions)
    helped = any(assertion.helper for assertion in added)
    left = "" if new.assertions else ", and none is left"
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    what = f"`{new.name[:80]}` no longer has `{_short(lost[0])}`{more}{left}"
    yield Hit("assertion-removed", new.line, what, milder=bool(new.assertions) and (helped or not fewer))


def _short(assertion: Assertion) -> str:
    return assertion.text if len(assertion.text) <= SHOWN else f"{assertion.text[:SHOWN]}..."


def hollow_newcomers(scene: Scene) -> Iterator[Hit]:
    """New tests that say nothing but what is always so."""
    for suite in scene.suites:
        known = {first for path, first in scene.known if path == suite.pair.path}
        for case in suite.new_tests:
            if _OF_OPERATORS.search(f"{case.scope} {case.name}"):
                continue
            if case.first not in known and case.assertions and all(a.tautology for a in case.assertions):
                what = f"the new test `{case.name[:80]}` holds whatever the code does"
                yield Hit("assertion-tautology", case.assertions[0].line, what, milder=True, path=suite.pair.path)
