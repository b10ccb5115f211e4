"""Checks made to let more through: thresholds, strictness, exception lists, test selection, CI, suppressions."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from autopilot.evidence.tamper.config_values import flat
from autopilot.evidence.tamper.file_pairs import Hit, Pair
from autopilot.evidence.tamper.hidden_exit_codes import CI, RUNNER
from autopilot.evidence.tamper.suites import Scene, package_gone
from autopilot.text.numbers import read_number

_CONFIGS = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|\.?pytest\.ini|\.coveragerc"
    r"|\.?mypy\.ini|\.?ruff\.toml|\.flake8|\.pylintrc|package\.json"
    r"|(?:jest|vitest|vite|eslint|playwright|karma|nyc|biome|stylelint|commitlint"
    r"|babel)\.config\.\w+|\.eslintrc[\w.]*|tsconfig[\w.-]*\.json|biome\.jsonc?"
    r"|\.nycrc(?:\.json)?|\.?codecov\.ya?ml|\.golangci\.ya?ml|clippy\.toml|Cargo\.toml"
    r"|pyrightconfig\.json|\.c8rc\.json|sonar-project\.properties|noxfile\.py"
    r"|(?:[\w.-]*[._-])?lint(?:er|ing)?(?:[._-][\w.-]*)?\.(?:cfg|ini|toml|ya?ml|json|conf))$"
)
_LINT = re.compile(r"(?:^|[/._-])lint(?:er|ing)?[._-][^/]*$")
_THRESHOLD = re.compile(
    r"(?:fail_under|fail-under|cov-fail-under|threshold|minimum|min_coverage|target|score)$"
    r"|(?:^|\.)(?:branches|functions|lines|statements)$"
)
_BOUND = re.compile(
    r"(?:max-complexity|max_complexity|max-line-length|max-args|max-branches|max-statements"
    r"|max-warnings|cognitive-complexity-threshold|(?:^|[._-])(?:max(?:imum)?|longest|most|limit)(?:[._-]\w+)*)$"
)
_STRICT = re.compile(
    r"(?:strict|strict_\w+|strict[A-Z]\w+|disallow_\w+|warn_\w+|check_untyped_defs|noImplicit\w+"
    r"|noUnused\w+|noUnchecked\w+|no_implicit_\w+"
    r"|xfail_strict|fail_on_\w+|failOn\w+|errorOn\w+|noFallthrough\w+|exactOptional\w+|branch|typeCheckingMode)$"
)
_LAX = re.compile(
    r"(?:ignore_errors|ignore_missing_imports|skipLibCheck|allow_untyped_\w+|allowUnreachableCode"
    r"|allow_redefinition|passWithNoTests|bail)$"
)
_EXCEPTIONS = re.compile(
    r"(?:^|\.)(?:ignore|extend-ignore|extend_ignore|exclude|extend-exclude|omit|disable"
    r"|disable_error_code|exclude_lines|exclude_also|ignorePatterns|skips"
    r"|coveragePathIgnorePatterns|ignores|filterwarnings|reportIgnore|(?:lint\.)?per-file-ignores(?:\..+)?)$"
)
_DEMANDS = re.compile(r"(?:^|\.)(?:select|extend-select|enable|enable_error_code|enabled|linters)$")
_WHERE_TESTS = re.compile(
    r"(?:^|\.)(?:testpaths|python_files|python_classes|python_functions|testMatch|testRegex|roots" r"|projects)$"
)
_NOT_TESTS = re.compile(r"(?:^|\.)(?:testPathIgnorePatterns|modulePathIgnorePatterns|norecursedirs|collect_ignore)$")
_OPTIONS = re.compile(r"(?:^|\.)addopts$")
_LEAVES_OUT = re.compile(
    r"(?:^|\s)(?:-k|--deselect|--ignore|--ignore-glob|-m\s+[\"']?not\b|--collect-only|--co|--lf"
    r"|--last-failed|-p\s+no:\w+)(?=[\s=\"']|$)"
)
_RULE_LEVEL = re.compile(r"(?:^|\.)rules\.")
_OFF, _ERROR = {"off", "0", "warn", "1", "allow"}, {"error", "2", "deny", "forbid"}
_CI_SOFT = re.compile(
    r"^\s*-?\s*(?:continue-on-error|allow_failure)\s*:\s*(?:true|\$\{\{\s*true)"
    r"|^\s*-?\s*if\s*:\s*[\"']?(?:false|\$\{\{\s*false)|^\s*when\s*:\s*manual\b"
)
_JOB = re.compile(r"^  (?P<name>[\w-]+)\s*:\s*$", re.MULTILINE)
_COMMENTS = {
    "python": re.compile(
        r"#\s*(?:noqa\b|type:\s*ignore|pylint:\s*disable|pragma:\s*no[ -]?cover|pyright:\s*ignore"
        r"|mypy:\s*(?:ignore|disable|allow)|ruff:\s*noqa|flake8:\s*noqa|nosec\b)"
    ),
    "javascript": re.compile(
        r"eslint-disable|@ts-(?:ignore|nocheck|expect-error)\b|(?:istanbul|c8|v8)\s+ignore"
        r"|biome-ignore|tslint:disable"
    ),
    "go": re.compile(r"//\s*nolint\b"),
    "java": re.compile(r"NOSONAR|NOPMD|CHECKSTYLE:OFF|noinspection|spotbugs:ignore"),
    "shell": re.compile(r"shellcheck\s+disable"),
    "rust": re.compile(r"(?!)"),
    "yaml": re.compile(r"(?!)"),
}
_MARKS = {
    "rust": re.compile(r"#!?\[allow\("),
    "java": re.compile(r"@SuppressWarnings\b|@Suppress\(|@SuppressFBWarnings\b"),
}


def suppressions(pair: Pair) -> Iterator[Hit]:
    """Only what a comment says, or a mark in code; the same words in a string are nothing."""
    pattern = _COMMENTS.get(pair.language)
    if pattern is None:
        return
    raw, bare, code = (text.split("\n") for text in (pair.new.raw, pair.new.bare, pair.new.code))
    for number in pair.fresh:
        line, kept = raw[number - 1], bare[number - 1]
        comment = "".join(a if b == " " else " " for a, b in zip(line, kept, strict=True))
        found = pattern.search(comment) or (pair.language in _MARKS and _MARKS[pair.language].search(code[number - 1]))
        if found:
            yield Hit("suppression-added", number, f"`{line.strip()[:80]}`")


def relaxed(scene: Scene, pair: Pair) -> Iterator[Hit]:
    """Settings compared key by key; a configuration that is new has nothing to be compared with."""
    if not _CONFIGS.search(pair.path) or pair.before is None:
        return
    gone = pair.after is None and package_gone(scene, pair.old_path)
    yield from (replace(hit, milder=hit.milder or gone) for hit in _settings(pair))


def _settings(pair: Pair) -> Iterator[Hit]:
    old, new = flat(pair.old, pair.language), flat(pair.new, pair.language)
    for key, was in old.items():
        now = new.get(key)
        if was != now:
            yield from _changed(pair, key, was, now)
    for key, now in new.items():
        if key not in old:
            yield from _appeared(pair, key, now)


def _changed(pair: Pair, key: str, was: Any, now: Any) -> Iterator[Hit]:
    line = _line(pair, key)
    if _is_number(was) and _THRESHOLD.search(key) and (now is None or (_is_number(now) and now < was)):
        yield Hit("check-relaxed", line, f"{key} went from {was:g} to {now if now is None else f'{now:g}'}")
    elif _is_number(was) and _BOUND.search(key) and (now is None or (_is_number(now) and now > was)):
        yield Hit(
            "check-relaxed", line, f"{key} went from {was:g} to {now if now is None else f'{now:g}'}", milder=True
        )
    elif was is True and (_STRICT.search(key) or _LINT.search(pair.path)) and not now:
        yield Hit("check-relaxed", line, f"{key} was switched off")
    elif was in ("strict", "standard") and now in ("off", "basic"):
        yield Hit("check-relaxed", line, f"{key} went from {was} to {now}")
    elif was is False and now is True and _LAX.search(key):
        yield Hit("check-relaxed", line, f"{key} was switched on", milder=True)
    elif _RULE_LEVEL.search(key) and str(_first(was)) in _ERROR and (now is None or str(_first(now)) in _OFF):
        yield Hit("check-relaxed", line, f"{key} no longer is an error", milder=True)
    else:
        yield from _lists(pair, key, _listed(was), _listed(now))


def _appeared(pair: Pair, key: str, now: Any) -> Iterator[Hit]:
    if now is True and _LAX.search(key):
        yield Hit("check-relaxed", _line(pair, key), f"{key} was switched on", milder=True)
    elif now is False and _STRICT.search(key) and not key.endswith("branch"):
        yield Hit("check-relaxed", _line(pair, key), f"{key} was switched off")
    else:
        yield from _lists(pair, key, [], _listed(now))


def _lists(pair: Pair, key: str, was: list[str], now: list[str]) -> Iterator[Hit]:
    grown, lost = [i for i in now if i not in was], [i for i in was if i not in now]
    if _OPTIONS.search(key):
        yield from _options(pair, key, " ".join(was), " ".join(now))
    elif grown and _NOT_TESTS.search(key):
        tests = any(re.search(r"test|spec", item, re.IGNORECASE) for item in grown)
        yield Hit("test-narrowed", _line(pair, key, grown[0]), f"{key} gained {_shown(grown)}", milder=not tests)
    elif grown and _EXCEPTIONS.search(key):
        yield Hit("check-relaxed", _line(pair, key, grown[0]), f"{key} gained {_shown(grown)}", milder=True)
    elif lost and _DEMANDS.search(key):
        yield Hit("check-relaxed", _line(pair, key), f"{key} lost {_shown(lost)}", milder=True)
    elif lost and _WHERE_TESTS.search(key):
        yield Hit("test-narrowed", _line(pair, key), f"{key} lost {_shown(lost)}", milder=True)


def _options(pair: Pair, key: str, was: str, now: str) -> Iterator[Hit]:
    new = set(_LEAVES_OUT.findall(f" {now}")) - set(_LEAVES_OUT.findall(f" {was}"))
    more = len(_LEAVES_OUT.findall(f" {now}")) > len(_LEAVES_OUT.findall(f" {was}"))
    if new or more:
        yield Hit("test-narrowed", _line(pair, key), f"addopts is now `{now[:80]}`")
    floor = [re.search(r"--cov-fail-under[= ](\d+)", text) for text in (was, now)]
    if floor[0] and (floor[1] is None or read_number(floor[1][1]) < read_number(floor[0][1])):
        yield Hit("check-relaxed", _line(pair, key), "the coverage that addopts asks for was lowered")


def _listed(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    return [value] if isinstance(value, str) and value else []


def _first(value: Any) -> Any:
    value = value[0] if isinstance(value, list) and value else value
    return int(value) if isinstance(value, float) and math.isfinite(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _line(pair: Pair, key: str, item: str = "") -> int:
    """The line of the item, else of the key's last part, else none."""
    wanted = [item] if item else []
    wanted.append(re.split(r"\.(?=[\w-]+$)", key)[-1])
    fresh = frozenset(pair.fresh)
    for word in wanted:
        for number, line in enumerate(pair.new.raw.split("\n"), start=1):
            if word and word in line and (number in fresh or word == wanted[-1]):
                return number
    return 0


def _shown(items: list[str]) -> str:
    more = f" and {len(items) - 3} more" if len(items) > len("abc") else ""
    return ", ".join(f"`{item[:40]}`" for item in items[:3]) + more


def ci_relaxed(pair: Pair) -> Iterator[Hit]:
    if not CI.search(pair.path) and not CI.search(pair.old_path):
        return
    if pair.after is None:
        return
    for number, bare, _ in pair.fresh_code():
        if _CI_SOFT.match(bare):
            yield Hit("ci-relaxed", number, f"`{bare.strip()[:80]}`", milder=True)
    jobs = [set(_JOB.findall(text.partition("\njobs:")[2])) for text in (f"\n{pair.old.bare}", f"\n{pair.new.bare}")]
    if pair.existed and jobs[0] - jobs[1] and len(jobs[1]) < len(jobs[0]):
        yield Hit("ci-relaxed", 0, f"gone: {_shown(sorted(jobs[0] - jobs[1]))}", milder=True)
    ran = [line for line in pair.gone if RUNNER.search(line)]
    runs = [line for _, line, _ in pair.fresh_code() if RUNNER.search(line)]
    if len(ran) > len(runs):
        yield Hit("ci-relaxed", 0, f"`{ran[0][:80]}` is no longer run", milder=bool(runs))


def ci_gone(scene: Scene) -> Iterator[Hit]:
    """A definition that checked something is gone; a new one beside it may do the same in other words."""
    definitions = [pair for pair in scene.pairs if CI.search(pair.path) or CI.search(pair.old_path)]
    others = any(pair.after is not None and RUNNER.search(pair.new.bare) for pair in definitions)
    for pair in definitions:
        if pair.after is None or not CI.search(pair.path):
            checked = RUNNER.search(pair.old.bare) is not None
            yield Hit("ci-relaxed", 0, "a CI definition is gone", milder=others or not checked, path=pair.path)
