"""The table of detectors, and what they find in a change."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from autopilot.domain.evidence import FileTexts, Finding, Severity
from autopilot.evidence.tamper import early_exit as leaving
from autopilot.evidence.tamper import forced_success as forced
from autopilot.evidence.tamper import git_files as files
from autopilot.evidence.tamper import hidden_exit_codes as shell
from autopilot.evidence.tamper import lost_tests
from autopilot.evidence.tamper import nondeterminism as chance
from autopilot.evidence.tamper import product_cheats as product
from autopilot.evidence.tamper import relaxed_config as relaxed
from autopilot.evidence.tamper import shadowed_commands as shadowed
from autopilot.evidence.tamper import skipped_tests as skipped
from autopilot.evidence.tamper import weakened_tests as weakened
from autopilot.evidence.tamper.file_pairs import Hit, Pair, pairs
from autopilot.evidence.tamper.suites import Scene, in_scene
from autopilot.policy.facts.tamper_rules import BY_NAME

MOST_A_RULE_AND_FILE, MOST_HITS, MOST_FINDINGS = 5, 200, 200
Tests = Callable[[], Mapping[str, str]]
"""The test files as they were before the change; read only when a detector needs them."""

OF_THE_CHANGE: tuple[Callable[[Scene], Iterator[Hit]], ...] = (
    lost_tests.lost_tests,
    weakened.weakened,
    weakened.hollow_newcomers,
    skipped.ended_early,
    skipped.swallowed,
    skipped.mocks_subject,
    relaxed.ci_gone,
)
OF_A_FILE: tuple[Callable[[Pair], Iterator[Hit]], ...] = (
    lost_tests.snapshots,
    skipped.focused,
    forced.forced,
    forced.hooks,
    forced.replaced,
    leaving.leaves_when_loaded,
    shell.hidden_exit_codes,
    shell.forced_exits,
    shell.errexit_off,
    shell.recipes,
    shell.hollow_checks,
    shadowed.shadowed_commands,
    relaxed.suppressions,
    relaxed.ci_relaxed,
    product.test_detection,
    product.twofold,
    chance.decided_by_chance,
    files.git_files,
    files.special_files,
    files.programs,
    files.planning_files,
    files.secrets,
    files.not_analysed,
)


def detect(changed: Sequence[FileTexts], old_tests: Tests = dict) -> tuple[Finding, ...]:
    """What the detectors find, each as severe as its rule has it. Total: no text makes this raise."""
    scene = in_scene(pairs(changed))
    found = [_finding(hit, hit.path) for detector in OF_THE_CHANGE for hit in _all(partial(detector, scene))]
    for pair in scene.pairs:
        found += [_finding(hit, hit.path or pair.path) for hit in _of_file(scene, pair)]
    found += [_finding(hit, hit.path) for hit in _hardcoded(scene, old_tests)]
    return _cut(tuple(_bounded(found)))


def _of_file(scene: Scene, pair: Pair) -> Iterator[Hit]:
    for detector in OF_A_FILE:
        yield from _all(partial(detector, pair), pair.path)
    yield from _all(partial(skipped.skipped, scene, pair), pair.path)
    yield from _all(partial(relaxed.relaxed, scene, pair), pair.path)


def _all(hits: Callable[[], Iterable[Hit]], path: str = "") -> tuple[Hit, ...]:
    """A text nested deeper than can be read is told, not passed over."""
    try:
        return tuple(islice(hits(), MOST_HITS))
    except RecursionError:
        return (Hit("not-analysed", 0, "it is nested too deeply to be read", path=path),)


def _hardcoded(scene: Scene, old_tests: Tests) -> tuple[Hit, ...]:
    answers = product.written_answers(scene.pairs)
    return _all(lambda: product.hardcoded(answers, old_tests())) if answers else ()


def _finding(hit: Hit, path: str) -> Finding:
    rule = BY_NAME[hit.rule]
    severity: Severity = "warning" if hit.milder and rule.severity == "blocker" else rule.severity
    where = f"{path}:{hit.line}" if hit.line else path or "the change"
    return Finding(rule=hit.rule, where=where, what=hit.what, severity=severity, why=rule.why)


def _cut(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """As many as anybody reads, blockers first, and how many more there are."""
    if len(findings) <= MOST_FINDINGS:
        return findings
    worst = sorted(findings, key=lambda finding: finding.severity != "blocker")
    more = Hit("not-analysed", 0, f"{len(findings) - MOST_FINDINGS} more findings are not listed")
    return (*worst[:MOST_FINDINGS], _finding(more, ""))


def _bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each once, and of one rule in one file only the first few; blockers are never left out for concerns."""
    counted: dict[tuple[str, str, str], int] = {}
    for finding in dict.fromkeys(findings):
        key = (finding.rule, finding.where.rpartition(":")[0] or finding.where, finding.severity)
        counted[key] = counted.get(key, 0) + 1
        if counted[key] <= MOST_A_RULE_AND_FILE:
            yield finding
