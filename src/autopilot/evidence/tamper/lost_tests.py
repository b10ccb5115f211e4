"""Tests that are gone, are no longer collected, or were written over."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from autopilot.evidence.tamper.case_values import Case
from autopilot.evidence.tamper.file_pairs import Hit, Pair, collected, is_test
from autopilot.evidence.tamper.masking import language_of
from autopilot.evidence.tamper.skipped_tests import is_skipped
from autopilot.evidence.tamper.suites import Scene, Suite, package_gone

SHOWN, MOST = 3, 300
_SNAPSHOT = re.compile(
    r"(?:^|/)(?:__snapshots__|snapshots|__image_snapshots__|goldens?|golden_files)/|\.(?:snap"
    r"|golden|approved)(?:\.\w+)?$"
    r"|\.approved\.\w+$|(?:^|/)(?:fixtures|testdata|test_data)/(?:[^/]*/)*(?:expected[^/]*"
    r"|[^/]*\.(?:want|expected))(?:/|$)"
)


_DEFINITION = re.compile(
    r"\b(?:def|class|func|fn|function|struct|enum|trait|interface|type|const|let|var|static)\s+(?:\([^()\n]*\)\s*)?(\w+)"
    r"|^\s*(?:async\s+|static\s+|get\s+|set\s+|\*\s*)?(\w+)\s*\([^()\n]*\)\s*\{"
    r"|\b(\w+)\s*[:=]\s*(?:async\s+)?(?:function\b|\([^()\n]*\)\s*=>)|^(\w+)\s*=|#define\s+(\w+)",
    re.MULTILINE,
)


def lost_tests(scene: Scene) -> Iterator[Hit]:
    for suite in scene.suites:
        pair = suite.pair
        hidden = _hidden(pair) and suite.old_tests
        if hidden:
            what = f"{pair.old_path} with {_counted(suite.old_tests)} has a name no test runner looks for"
            yield Hit("test-uncollected", 1, what, path=pair.path)
            continue
        missing = [match.old for match in scene.matches if match.pair is pair and match.new is None]
        disguised = [(case, now) for case in missing[:MOST] if (now := _disguised(case, suite)) is not None]
        for case, now in disguised:
            yield Hit(
                "test-uncollected", now.line, f"`{case.name}` is no longer a test the runner collects", path=pair.path
            )
        found = {id(case) for case, _ in disguised}
        left = [case for case in missing if id(case) not in found]
        if left:
            what = f"{_counted(left)} gone: {_names(left)}"
            yield Hit("test-deleted", 0, what, milder=_made_up(scene, suite, left), path=pair.path)


def _hidden(pair: Pair) -> bool:
    return (
        pair.after is not None and pair.path != pair.old_path and collected(pair.old_path) and not collected(pair.path)
    )


def _disguised(case: Case, suite: Suite) -> Case | None:
    others = (new for new in suite.new if not new.collected)
    return next(
        (new for new in others if new.name == case.name or (new.core == case.core and case.core) or _same(new, case)),
        None,
    )


def _same(one: Case, other: Case) -> bool:
    return one.body == other.body and bool(one.assertions)


def _made_up(scene: Scene, suite: Suite, left: list[Case]) -> bool:
    """New tests that say as much stand in the same change, or what was tested is gone as well."""
    used = {id(match.new) for match in scene.matches}
    new = [case for other in scene.suites for case in other.added if id(case) not in used]
    said = sum(not assertion.tautology for case in new for assertion in case.assertions)
    wanted = sum(len(case.assertions) for case in left)
    if bool(new) and said >= max(wanted, 1):
        return True
    left = [case for case in left if not _idle(case, suite)]
    return not left or _subject_gone(scene, suite) or _undefined(scene, left)


def _idle(case: Case, suite: Suite) -> bool:
    """It was skipped in every run, or another test of its file makes the very same assertions."""
    said = {assertion.text for other in suite.new_tests for assertion in other.assertions}
    repeated = bool(case.assertions) and all(assertion.text in said for assertion in case.assertions)
    return repeated or is_skipped(case.text, suite.pair.language)


def _undefined(scene: Scene, left: list[Case]) -> bool:
    """Whether each of the tests speaks of something that the change removes from the sources for good."""
    tested = [suite.pair for suite in scene.suites if suite.old_tests]
    sources = [p for p in scene.pairs if not p.is_test and not p.is_prose and p.language and p not in tested]
    was = _defined("\n".join(line for pair in sources for line in pair.gone))
    gone = was - _defined("\n".join(pair.new.bare for pair in sources))
    return bool(gone) and all(gone & set(re.findall(r"\w+", case.body)) for case in left)


def _defined(text: str) -> set[str]:
    return {name for found in _DEFINITION.finditer(text) for name in found.groups() if name}


def _subject_gone(scene: Scene, suite: Suite) -> bool:
    if suite.pair.after is None and package_gone(scene, suite.pair.old_path):
        return True
    removed = (p.old_path for p in scene.pairs if p.after is None and not is_test(p.old_path))
    stems = {PurePosixPath(path).stem for path in removed if language_of(path)}
    words = set(re.findall(r"\w+", suite.pair.old.bare)) | set(re.findall(r"[A-Za-z0-9]+", suite.pair.old_path))
    return bool(stems & words)


def _counted(cases: tuple[Case, ...] | list[Case]) -> str:
    return "1 test" if len(cases) == 1 else f"{len(cases)} tests"


def _names(cases: list[Case]) -> str:
    more = f" and {len(cases) - SHOWN} more" if len(cases) > SHOWN else ""
    return ", ".join(f"`{case.name[:80]}`" for case in cases[:SHOWN]) + more


def snapshots(pair: Pair) -> Iterator[Hit]:
    if pair.existed and _SNAPSHOT.search(pair.old_path):
        done = "removed" if pair.after is None else "written anew" if pair.path == pair.old_path else "moved away"
        if pair.after is None or pair.before != pair.after:
            yield Hit("snapshot-changed", 0, f"stored expected output was {done}")
