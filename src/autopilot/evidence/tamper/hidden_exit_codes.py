"""Exit codes hidden in scripts, recipes, CI steps and package scripts."""

import json
import re
from collections.abc import Iterator

from autopilot.evidence.tamper.file_pairs import Hit, Pair

CI = re.compile(
    r"(?:^|/)(?:\.github/(?:workflows|actions)/|\.circleci/|\.gitlab-ci|\.travis\.yml"
    r"|azure-pipelines|bitbucket-pipelines"
    r"|\.drone\.yml|\.woodpecker|\.buildkite/|\.forgejo/|\.gitea/)"
)
RUNNER = re.compile(
    r"(?<![\w./-])(?:py\.?test|unittest|tox|nox|jest|vitest|mocha|playwright|cypress|rspec|phpunit"
    r"|ctest|bats|mypy|pyright|ruff"
    r"|flake8|pylint|eslint|tsc|shellcheck|golangci-lint|clippy|biome|semgrep|bandit|coverage)(?![\w/-])"
    r"|\bgo\s+(?:test|vet|build)\b|\bcargo\s+(?:test|check|clippy|build|nextest)\b|\b(?:prettier"
    r"|black)\b[^|;&]*--check"
    r"|\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+|-s\s+)*(?:test|lint|build|check|typecheck|tsc|ci)\b"
    r"|\b(?:make|just)\s+(?:-\w+\s+)*(?:test|check|lint|build|verify|all)\b|\b(?:mvnw?|gradlew?"
    r"|dotnet|mix|swift)\b[^|;&]*\b(?:test|verify|check|build)\b"
    r"|(?:\b(?:ba|z)?sh\s+|\./|\bpython3?\s+)\S*(?:tests?|check|verify|lint)\w*\.?(?:sh|py|bats)?\b"
)
_EXCUSED = re.compile(
    r"\|\|\s*(?P<by>true\b|:(?=\s|$|[\"';)])|/bin/true\b|exit\s+0\b|return\s+0\b|echo\b)"
    r"|;\s*(?P<after>true|exit\s+0|:)\s*(?=[\"']?\s*,?\s*$)"
)
_CLEANUP = re.compile(
    r"^\W*(?:sudo\s+|@|-)*(?:rm|rmdir|mkdir|p?kill|killall|docker|podman|u?mount|wait|read|cp|mv"
    r"|ln|chmod|chown|unset|touch|cd|popd|find"
    r"|pushd|source|command|which|type|hash|stty|tput|git\s+(?:branch|tag|remote|worktree|stash"
    r"|config|fetch)|brew|apt(?:-get)?"
    r"|pip3?\s+uninstall|systemctl|createdb|dropdb|nvm|rustup|deactivate|ulimit|sleep|curl|wget|\w+=)\b"
)
_ASKS = re.compile(r"^\W*(?:!\s*)?(?:\[\[?|test|grep|egrep|diff|cmp|assert\w*|python3?|node)\b")
_PIPED = re.compile(r"[^|]\|\s*(?:tee|cat|head|tail|sed|awk|ts)\b")
_NARROWS = re.compile(
    r"--deselect\b|--ignore(?:-glob)?[=\s]|-k\s*[\"']?\s*not\b|-m\s*[\"']?\s*not\b"
    r"|-run\s+[\"']?\^\$|--collect-only\b|-x\s+test\b"
)
_NARROWS_MAYBE = re.compile(
    r"--passWithNoTests\b|-DskipTests\b|-Dmaven\.test\.skip|--no-run\b|--testPathIgnorePatterns\b" r"|--exclude[=\s]"
)
_PLAIN_EXIT = re.compile(r"^\s*exit(?:\s+0)?\s*;?\s*$")
_BLOCK_OPEN = re.compile(
    r"(?:^|[;&|]\s*|\bthen\s+|\bdo\s+|\belse\s+)(?:if|case|for|while|until|select)\b|\{\s*$" r"|^\s*\(\s*$"
)
_BLOCK_CLOSE = re.compile(r"(?:^|;)\s*(?:fi|esac|done)\b|^\s*[})]")
_ERREXIT = re.compile(r"\bset\s+-\w*e|\bset\s+-o\s+errexit|^#!.*\s-\w*e", re.MULTILINE)
_PIPEFAIL = re.compile(r"\bpipefail\b")
_ERREXIT_OFF = re.compile(r"\bset\s+\+\w*e|\bset\s+\+o\s+(?:errexit|pipefail)")
_HOLLOW = re.compile(
    r"^[@\-\s]*(?:true|:|/bin/true|exit(?:\s+0)?|return(?:\s+0)?|echo\b[^|;&`$]*|printf\b[^|;&`$]*"
    r"|set\s+[-+]\w+.*)?$"
)
_SCRIPTS = re.compile(
    r"^(?:pre|post)?(?:test|lint|build|check|typecheck|verify|ci|coverage|tsc" r"|type-check)(?:[:\w-]*)$"
)


def hidden_exit_codes(pair: Pair) -> Iterator[Hit]:
    """`|| true` and its kin on new lines."""
    for number, line in _commands(pair):
        command = _excused_command(line)
        if command is not None:
            checks = bool(RUNNER.search(command))
            soft = "echo" in line[line.find("||") : line.find("||") + 8]
            if checks or not (soft or _CLEANUP.match(command)):
                blocks = checks or (pair.is_check and bool(_ASKS.match(command)))
                yield Hit("exit-code-hidden", number, f"`{line.strip()[:80]}`", milder=not blocks)
        elif RUNNER.search(line) and _PIPED.search(line) and not _PIPEFAIL.search(pair.new.bare):
            yield Hit("exit-code-hidden", number, f"`{line.strip()[:80]}` without pipefail", milder=True)
        if RUNNER.search(line) and (_NARROWS.search(line) or _NARROWS_MAYBE.search(line)):
            ran_more = any(RUNNER.search(gone) for gone in pair.gone)
            milder = not (ran_more and _NARROWS.search(line))
            yield Hit("test-narrowed", number, f"`{line.strip()[:80]}`", milder=milder)


def _excused_command(line: str) -> str | None:
    """The command whose failure is let go; None when there is none, or when only its output is wanted."""
    for found in _EXCUSED.finditer(line):
        left = line[: found.start()]
        if left.count("$(") + left.count("`") % 2 > left.count(")"):
            continue
        return re.split(r"&&|;|\|\||\brun:|^\s*-\s", left)[-1].strip().strip("\"'")
    return None


def _commands(pair: Pair) -> Iterator[tuple[int, str]]:
    if pair.language == "shell":
        for number, bare, code in pair.fresh_code():
            yield number, bare if re.search(r"\s-\w*c\s", code) else _with_names(bare, code)
    elif pair.language in {"make", "ini"} or (pair.language == "yaml" and CI.search(pair.path)) or _manifest(pair.path):
        yield from ((number, bare) for number, bare, _ in pair.fresh_code())


def _with_names(bare: str, code: str) -> str:
    """Strings only hide words; a line with an operator inside a string is read without it."""
    return code if re.search(r"\|\|", bare) and not re.search(r"\|\|", code) else bare


def _manifest(path: str) -> bool:
    return path.rpartition("/")[2] in {"package.json", "composer.json", "deno.json", "turbo.json"}


def forced_exits(pair: Pair) -> Iterator[Hit]:
    if pair.language != "shell":
        return
    lines, fresh = pair.new.code.split("\n"), frozenset(pair.fresh)
    for number, bare, _ in pair.fresh_code():
        if re.search(r"\btrap\s+.*\bexit\s+0\b.*\b(?:EXIT|ERR|0)\s*$", bare):
            yield Hit("exit-forced", number, f"`{bare.strip()[:80]}`")
    depth = 0
    for number, line in enumerate(lines, start=1):
        depth = max(0, depth - len(_BLOCK_CLOSE.findall(line)))
        if depth == 0 and number in fresh and _PLAIN_EXIT.match(line):
            yield from _plain_exit(pair, number, any(later.strip() for later in lines[number:]))
        depth += len(_BLOCK_OPEN.findall(line))


def _plain_exit(pair: Pair, number: int, more: bool) -> Iterator[Hit]:  # noqa: FBT001 - said by its name at both calls
    if more:
        yield Hit("exit-forced", number, "`exit 0` before the rest of the script")
    elif pair.is_check and not _accounts(pair.new.code):
        yield Hit("exit-code-hidden", number, "the script ends in `exit 0` whatever failed", milder=not pair.existed)


def _accounts(code: str) -> bool:
    """Whether failures end the script before its last line."""
    return bool(_ERREXIT.search(code) or re.search(r"\bexit\s+(?:[1-9]|\"?\$)|\|\|\s*(?:exit|return|die|fail)\b", code))


def errexit_off(pair: Pair) -> Iterator[Hit]:
    if pair.language != "shell" and not (pair.language == "yaml" and CI.search(pair.path)):
        return
    lines = pair.new.bare.split("\n")
    for number, _, code in pair.fresh_code():
        if _ERREXIT_OFF.search(code):
            following = "\n".join(lines[number : number + 8])
            looked = re.search(r"\$\?|PIPESTATUS|\bset\s+-\w*e", following)
            yield Hit("errexit-off", number, f"`{code.strip()[:80]}`", milder=bool(looked) or not pair.is_check)
    if pair.language == "shell" and pair.existed and pair.after is not None:
        for name, pattern in (("set -e", _ERREXIT), ("pipefail", _PIPEFAIL)):
            if pattern.search(pair.old.code) and not pattern.search(pair.new.code):
                milder = not pair.is_check or name == "pipefail" or _accounts(pair.new.code)
                yield Hit("errexit-off", 0, f"`{name}` was taken away", milder=milder)


def recipes(pair: Pair) -> Iterator[Hit]:
    """`-` before a make recipe's or a tox command."""
    if pair.language == "make":
        for number, bare, _ in pair.fresh_code():
            if re.match(r"\t@?-", bare) and not _CLEANUP.match(bare.strip().lstrip("@-")):
                checks = RUNNER.search(bare.strip().lstrip("@-"))
                yield Hit("exit-code-hidden", number, f"`{bare.strip()[:80]}`", milder=not checks)
            elif bare.startswith(".IGNORE"):
                yield Hit("exit-code-hidden", number, "`.IGNORE` lets every recipe fail unnoticed")
    elif pair.language == "ini":
        for number, bare, _ in pair.fresh_code():
            if re.match(r"\s*(?:commands\s*=\s*)?-\s+\w", bare) and RUNNER.search(bare):
                yield Hit("exit-code-hidden", number, f"`{bare.strip()[:80]}`")


def hollow_checks(pair: Pair) -> Iterator[Hit]:
    """Commands that used to check something and now only say so."""
    if pair.before is None or pair.after is None:
        return
    if pair.language == "make":
        yield from _hollow(pair, _targets(pair.old.bare), _targets(pair.new.bare))
    elif _manifest(pair.path):
        yield from _hollow(pair, _package_scripts(pair.old.raw), _package_scripts(pair.new.raw))
    elif pair.language == "shell" and pair.is_check:
        old, new = (re.split(r"[\n;]|&&", masked.bare) for masked in (pair.old, pair.new))
        if not _is_hollow(old) and _is_hollow(new):
            yield Hit("check-hollow", 1, "the script no longer checks anything")


def _hollow(pair: Pair, old: dict[str, list[str]], new: dict[str, list[str]]) -> Iterator[Hit]:
    lines = pair.new.raw.split("\n")
    for name, commands in new.items():
        if _SCRIPTS.match(name) and name in old and _is_hollow(commands) and not _is_hollow(old[name]):
            line = next(
                (i for i, text in enumerate(lines, start=1) if re.match(rf"\s*\"?{re.escape(name)}\b", text)), 0
            )
            yield Hit("check-hollow", line, f"`{name}` no longer checks anything")


def _is_hollow(commands: list[str]) -> bool:
    return all(_HOLLOW.match(command.strip()) for command in commands)


def _targets(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.split("\n"):
        target = re.match(r"([\w-]+)\s*:(?!=)\s*(\S.*)?$", line)
        if target:
            # A target that only needs others is as good as they are.
            current = found.setdefault(target[1], [f"needs {target[2]}"] if target[2] else [])
        elif line.startswith("\t"):
            current.append(line.strip())
    return {name: lines for name, lines in found.items() if lines}


def _package_scripts(text: str) -> dict[str, list[str]]:
    try:
        scripts = json.loads(text).get("scripts", {})
        return {name: re.split(r";|&&", value) for name, value in scripts.items() if isinstance(value, str)}
    except (ValueError, AttributeError, RecursionError):
        return {}
