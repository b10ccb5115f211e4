"""The tests of a whole change, before and after, and which of the old ones is which of the new."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autopilot.evidence.tamper.case_finder import cases
from autopilot.evidence.tamper.case_finder_python import python_cases
from autopilot.evidence.tamper.case_values import Case
from autopilot.evidence.tamper.file_pairs import Pair, is_test
from autopilot.evidence.tamper.masking import Masked, language_of

_MARKED_ANYWHERE = frozenset({"rust", "java"})
_TRIVIAL = frozenset({"0", "1", "", "True", "False", "None", "true", "false", "null", "nil"})
_MANIFESTS = frozenset(
    {"package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "pom.xml", "build.gradle"}
)
MOST_CANDIDATES = 300
# How much of a body has to be the same for a test of the same name elsewhere, and for one of another name.
LIKE_A_NAMESAKE, LIKE_ANOTHER = 0.3, 0.6


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
        """Tests whose names were not there before in their class; of equal names those beyond the old number."""
        names = Counter(case.key for case in self.old_tests)
        found = []
        for case in self.new_tests:
            names[case.key] -= 1
            if names[case.key] < 0:
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

    @cached_property
    def said_by_newcomers(self) -> frozenset[str]:
        """What new tests assert: an assertion that moved there is not lost."""
        said = (assertion for _, case in self._newcomers for assertion in case.assertions)
        return frozenset(assertion.text for assertion in said if not assertion.tautology)

    def _matched(self, suite: Suite) -> Iterator[Match]:
        """By class and name; then under that name elsewhere in the file; then as what a new test goes on with."""
        by_key: dict[tuple[str, str], list[Case]] = {}
        for case in suite.new_tests:
            by_key.setdefault(case.key, []).append(case)
        kept = [(old, same.pop(0) if (same := by_key.get(old.key)) else None) for old in suite.old_tests]
        left = [case for cases in by_key.values() for case in cases]
        looked = 0
        for old, same_key in kept:
            new = same_key or _likest(old, [case for case in left if case.name == old.name], LIKE_A_NAMESAKE)
            if new is not None:
                left = [case for case in left if case is not new]
                yield Match(suite.pair, old, new, suite.pair)
                continue
            looked += 1
            found = self._elsewhere(suite, old, left) if looked <= MOST_CANDIDATES else None
            left = [case for case in left if found is None or case is not found[1]]
            yield Match(suite.pair, old, found[1] if found else None, found[0] if found else None)

    def _elsewhere(self, suite: Suite, old: Case, left: list[Case]) -> tuple[Pair, Case] | None:
        """Among the new tests, and among those of its own file that became a table of cases."""
        namesakes = [c for c in self._newcomers if c[0] is not suite.pair and c[1].name == old.name and old.name]
        named = next((c for c in namesakes if old.likeness(c[1]) >= LIKE_A_NAMESAKE), None)
        tables = ((suite.pair, case) for case in suite.new_tests if case.parametrised)
        same = named or next((c for c in (*self._newcomers, *tables) if _continues(old, c[1])), None)
        renamed = None if same else _likest(old, left[:MOST_CANDIDATES], LIKE_ANOTHER)
        return same or ((suite.pair, renamed) if renamed else None)


def _likest(old: Case, candidates: list[Case], least: float) -> Case | None:
    """The candidate whose body is most like the old one's, if it is like it at all."""
    best = max(candidates, key=old.likeness, default=None)
    return best if best is not None and old.likeness(best) >= least else None


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
    return Suite(pair, _cases(pair.old_path, pair.old, pair.new), _cases(pair.path, pair.new, pair.old))


def _cases(path: str, masked: Masked, beside: Masked) -> tuple[Case, ...]:
    language = language_of(path, masked.raw)
    if language not in _MARKED_ANYWHERE and not is_test(path):
        return ()
    other = beside.raw if language_of(path, beside.raw) == "python" else ""
    return python_cases(masked, beside=other) if language == "python" else cases(masked, language)


def package_gone(scene: Scene, path: str) -> bool:
    """Whether the file stood in a package of its own, below the top, whose manifest is removed as well."""
    removed = (pair.old_path for pair in scene.pairs if pair.after is None)
    homes = {home for gone in removed for home, _, name in [gone.rpartition("/")] if name in _MANIFESTS and home}
    return any(path.startswith(f"{home}/") for home in homes)


def in_scene(pairs: Sequence[Pair]) -> Scene:
    return Scene(tuple(pairs))
