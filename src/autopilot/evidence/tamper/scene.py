"""The tests of a whole change, before and after, and which of the old ones is which of the new."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autopilot.evidence.tamper.cases import cases
from autopilot.evidence.tamper.cases_python import python_cases
from autopilot.evidence.tamper.masking import Masked, language_of
from autopilot.evidence.tamper.pairs import Pair, is_test
from autopilot.evidence.tamper.shapes import Case

_MARKED_ANYWHERE = frozenset({"rust", "java"})
_TRIVIAL = frozenset({"0", "1", "", "True", "False", "None", "true", "false", "null", "nil"})
MOST_CANDIDATES = 300


@dataclass(frozen=True, slots=True)
class Match:
    """A test that was there, and what became of it; `new` None: it is nowhere in the change."""

    pair: Pair
    old: Case
    new: Case | None
    new_pair: Pair | None


@dataclass(frozen=True)
class Suite:
    """The functions of one pair on both sides."""

    pair: Pair
    old: tuple[Case, ...]
    new: tuple[Case, ...]

    @property
    def old_tests(self) -> tuple[Case, ...]:
        return tuple(case for case in self.old if case.collected)

    @property
    def new_tests(self) -> tuple[Case, ...]:
        return tuple(case for case in self.new if case.collected)

    @cached_property
    def added(self) -> tuple[Case, ...]:
        """Tests whose names were not there before; of equal names those beyond the old number."""
        names = Counter(case.name for case in self.old_tests)
        found = []
        for case in self.new_tests:
            names[case.name] -= 1
            if names[case.name] < 0:
                found.append(case)
        return tuple(found)


@dataclass(frozen=True)
class Scene:
    pairs: tuple[Pair, ...]

    @cached_property
    def suites(self) -> tuple[Suite, ...]:
        return tuple(suite for pair in self.pairs if (suite := _suite(pair)).old or suite.new)

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        return tuple(match for suite in self.suites for match in self._matched(suite))

    @cached_property
    def known(self) -> frozenset[tuple[str, int]]:
        """Where in the new files a test stands that was there before: path and first line."""
        return frozenset((m.new_pair.path, m.new.first) for m in self.matches if m.new and m.new_pair)

    def is_known(self, pair: Pair, line: int) -> bool | None:
        """Whether the line belongs to a test that was there before; None when it belongs to no test."""
        suite = next((suite for suite in self.suites if suite.pair is pair), None)
        case = next((c for c in suite.new_tests if c.first <= line <= c.last), None) if suite else None
        return None if case is None else (pair.path, case.first) in self.known

    @cached_property
    def _newcomers(self) -> tuple[tuple[Pair, Case], ...]:
        return tuple((suite.pair, case) for suite in self.suites for case in suite.added)[:MOST_CANDIDATES]

    def _matched(self, suite: Suite) -> Iterator[Match]:
        by_name: dict[str, list[Case]] = {}
        looked = 0
        for case in suite.new_tests:
            by_name.setdefault(case.name, []).append(case)
        for old in suite.old_tests:
            same = by_name.get(old.name)
            if same:
                yield Match(suite.pair, old, same.pop(0), suite.pair)
                continue
            looked += 1
            found = self._elsewhere(suite, old) if looked <= MOST_CANDIDATES else None
            yield Match(suite.pair, old, found[1] if found else None, found[0] if found else None)

    def _elsewhere(self, suite: Suite, old: Case) -> tuple[Pair, Case] | None:
        """Among the new tests, and among those of its own file that became a table of cases."""
        named = next((c for c in self._newcomers if c[1].name == old.name and c[1].name), None)
        tables = ((suite.pair, case) for case in suite.new_tests if case.parametrised)
        return named or next((c for c in (*self._newcomers, *tables) if _continues(old, c[1])), None)


def _continues(old: Case, new: Case) -> bool:
    """The same test under another name: the same body, all its assertions, or its values in a table of cases."""
    if old.body == new.body:
        return True
    kept = {assertion.text for assertion in new.assertions if not assertion.tautology}
    if old.assertions and all(assertion.text in kept for assertion in old.assertions):
        return True
    values = frozenset(v for a in old.assertions for v in a.literals)
    telling = values - _TRIVIAL
    return new.parametrised and bool(new.assertions) and bool(telling) and values <= new.literals | _TRIVIAL


def _suite(pair: Pair) -> Suite:
    return Suite(pair, _cases(pair.old_path, pair.old), _cases(pair.path, pair.new))


def _cases(path: str, masked: Masked) -> tuple[Case, ...]:
    language = language_of(path, masked.raw)
    if language not in _MARKED_ANYWHERE and not is_test(path):
        return ()
    return python_cases(masked) if language == "python" else cases(masked, language)


def in_scene(pairs: Sequence[Pair]) -> Scene:
    return Scene(tuple(pairs))
