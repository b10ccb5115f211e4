"""What git itself is told, and files that are not what they seem: links, modes, ignore lists, hooks, submodules."""

import posixpath
import re
from collections.abc import Iterator

from autopilot.evidence import built_files
from autopilot.evidence.tamper.file_pairs import GITLINK, LINK, Hit, Pair
from autopilot.evidence.tamper.hidden_exit_codes import CI
from autopilot.evidence.tamper.masking import language_of

_SOURCE = r"py|js|jsx|ts|tsx|mjs|go|rs|java|kt|rb|c|h|cpp|cs|php|swift|sh|bats"
_ATTRIBUTE = re.compile(
    r"\s(?:filter=(?!lfs\b)|diff=(?!lfs\b|python|go|rust|java|css|html|markdown|c|php|ruby|bash"
    r"|tex|image)|merge=(?!lfs\b|union\b|binary\b|ours\b)|textconv|ident\b|export-subst\b)"
)
_HIDES = re.compile(
    rf"^\s*(?:\*|[\w*/.-]*\.(?:{_SOURCE})|(?:src|lib|tests?|app)/\S*)\s.*(?:(?<!\w)-diff\b"
    rf"|\bbinary\b|linguist-generated)"
)
_IGNORED = re.compile(
    rf"^/?(?:\*\*/)?(?:\*\.(?:{_SOURCE})|(?:src|lib|app|tests?|spec|__tests__|test_\*|\*_test"
    rf"|\*\.test|\*\.spec)(?:\.\*|\.\w+|/\**)?/?|test_\w+\.py)$"
)
_HOOKS = re.compile(
    r"(?:^|/)(?:\.husky|\.githooks|\.git-hooks|githooks|hooks)/[^/]+$|(?:^"
    r"|/)(?:\.pre-commit-config\.yaml|lefthook\.ya?ml|\.lintstagedrc[^/]*)$"
)
_SECRET_NAME = re.compile(
    r"(?:^|/)(?:\.env(?:\.(?!example|sample|template|dist|test|defaults?)[\w-]+)?|id_(?:rsa"
    r"|ed25519|ecdsa|dsa)|[^/]*\.(?:pem|p12|pfx|keystore))$"
)
_SECRET = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b"
    r"|\bsk-[A-Za-z0-9_-]{32,}"
    r"|\bxox[abpr]-[A-Za-z0-9-]{10,}|\bAIza[0-9A-Za-z_-]{35}\b"
)
_CONFIG_NAME = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|package\.json|Makefile|conftest\.py" r"|tsconfig[^/]*\.json)$"
)


def git_files(pair: Pair) -> Iterator[Hit]:
    name = pair.path.rpartition("/")[2]
    if name == ".gitattributes":
        yield from _attributes(pair)
    elif name == ".gitignore":
        for number, line in _plain_fresh(pair):
            if _IGNORED.match(line.strip()):
                yield Hit("sources-ignored", number, f"`{line.strip()[:80]}` covers sources or tests")
    elif name == ".gitmodules":
        yield Hit("submodule-changed", 0, "the list of submodules changed")
    elif _HOOKS.search(pair.path) and "src/" not in pair.path and language_of(pair.path) != "javascript":
        done = "is gone" if pair.after is None else "changed" if pair.existed else "is new"
        yield Hit("git-hooks", 0, f"a hook or list of hooks {done}")


def _attributes(pair: Pair) -> Iterator[Hit]:
    for number, line in _plain_fresh(pair):
        if _ATTRIBUTE.search(line) or _HIDES.search(line):
            yield Hit("git-attributes", number, f"`{line.strip()[:80]}`")


def _plain_fresh(pair: Pair) -> Iterator[tuple[int, str]]:
    lines = pair.new.raw.split("\n")
    return ((number, lines[number - 1]) for number in pair.fresh if not lines[number - 1].lstrip().startswith("#"))


def special_files(pair: Pair) -> Iterator[Hit]:
    new, old = pair.after, pair.before
    if new is not None and new.mode == GITLINK:
        yield Hit("submodule-changed", 0, "a repository inside the repository")
    elif new is not None and new.mode == LINK and (old is None or old.text != new.text or old.mode != LINK):
        yield from _link(pair.path, new.text or "")
    elif new is not None and old is not None and (old.mode, new.mode) == ("100755", "100644") and _runnable(pair):
        yield Hit("mode-changed", 0, "it can no longer be run as a program")


def _runnable(pair: Pair) -> bool:
    return pair.language in {"shell", "python"} or not language_of(pair.path)


def _link(path: str, target: str) -> Iterator[Hit]:
    there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith(("/", "~")) or there == ".." or there.startswith("../") or "\0" in target or ":" in target[:3]:
        yield Hit("symlink-outside", 0, f"a link to `{target[:80]}`, outside the repository")
    elif there.split("/")[0] in {".git", ".planning", ".autopilot"}:
        yield Hit("symlink-outside", 0, f"a link into `{there[:80]}`")
    else:
        yield Hit("symlink-added", 0, f"a link to `{target[:80]}`")


def programs(pair: Pair) -> Iterator[Hit]:
    """Compiled code, by its name or because it can be run and is no text."""
    new = pair.after
    if new is None or new.mode in {LINK, GITLINK} or pair.before == new:
        return
    unread = new.text is None or built_files.is_binary(new.text)
    if built_files.is_program(pair.path) or (unread and new.mode == "100755" and built_files.may_be_program(pair.path)):
        yield Hit("binary-committed", 0, "a compiled program or an archive of one", milder=pair.existed)


def planning_files(pair: Pair) -> Iterator[Hit]:
    if pair.path.split("/")[0] in {".planning", ".autopilot"} or pair.old_path.split("/")[0] in {
        ".planning",
        ".autopilot",
    }:
        yield Hit("planning-files", 0, "a planning file is part of the change")


def secrets(pair: Pair) -> Iterator[Hit]:
    if not pair.existed and _SECRET_NAME.search(pair.path):
        yield Hit("secret-committed", 0, "a file of this name usually holds secrets")
        return
    lines = pair.new.raw.split("\n")
    for number in pair.fresh:
        if _SECRET.search(lines[number - 1]):
            yield Hit("secret-committed", number, "this looks like a key")


def not_analysed(pair: Pair) -> Iterator[Hit]:
    """A large or binary file is no finding in itself; one whose name says that it checks something is."""
    matters = (pair.is_test and bool(pair.language)) or pair.language in {"shell", "make"}
    if matters or CI.search(pair.path) or _CONFIG_NAME.search(pair.path):
        why = pair.unreadable
        if why:
            yield Hit("not-analysed", 0, why)
