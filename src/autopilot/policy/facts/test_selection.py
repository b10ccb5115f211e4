"""Finds the tests that a command selects by name, and the part of it that an older test file can run. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Each runner, and the option that takes a name or a pattern. Patterns match a part of a name.
_BY_OPTION = tuple(
    (re.compile(runner), re.compile(rf"(?<!\S)(?:{option})(?:\s+|=)(?P<pattern>{_W})"))
    for _W in (r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'|&;()<>])+""",)
    for runner, option in (
        (r"\b(?:pytest|py\.test|unittest)\b", r"-k"),
        (r"\bgo\s+test\b", r"--?(?:test\.)?run"),
        (r"\b(?:jest|vitest|mocha|playwright|ava|bun|npm|npx|pnpm|yarn)\b",
         r"-t|-g|--grep|--match|--test-?[nN]ame-?[pP]attern"),
        (r"\bnode\b.*\s--test\b", r"--test-name-pattern"),
        (r"\brspec\b", r"-e|--example"),
        (r"\b(?:ruby|rake|minitest)\b.*\btest", r"-n|--name|TESTOPTS"),
        (r"\b(?:phpunit|pest|dotnet\s+test|deno\s+test|swift\s+test)\b", r"--filter"),
        (r"\b(?:gradle|gradlew)\b", r"--tests"),
        (r"\b(?:mvn|mvnw)\b", r"-Dtest"),
        (r"\bctest\b", r"-R|--tests-regex"),
    )
)  # fmt: skip
_CARGO = re.compile(r"\bcargo\s+(?:\+\S+\s+)?(?:nextest\s+run|test|t)\b(?P<words>[^|&;<>]*)")
_CARGO_VALUED = re.compile(
    r"\s-(?:-(?:package|features|test|bin|example|bench|target|manifest-path|jobs|profile|test-threads|skip|color"
    r"|target-dir|exclude)|p|F|j)(?:\s+|=)\S+"
)
_WORD = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'|&;()<>])+""")
_SEPARATOR = re.compile(r"[|&;()<>\n]")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_OF_A_SCRIPT = re.compile(r"[A-Z]\w*(?:\.[A-Za-z_]\w*)?")
# Names of single tests as pytest and unittest write them.
_BY_ID = re.compile(r"\.py::|\bunittest\s[^|&;]*\b\w+\.[A-Z]\w*")
_JOINT = re.compile(r"(\s*(?:&&|;|\n)\s*)")
_NESTED = re.compile(r"\|\||[(`\"'][^\"']*(?:&&|;|\n)|\b(?:if|for|while|case)\b")
_SET_UP = re.compile(r"\s*(?:cd|export|set|source|\.|\w+=\S*)(?:\s|$)(?!.*\s-m\s)")
_CONNECTIVES = frozenset({"and", "or", "not"})


@dataclass(frozen=True, slots=True)
class Version:
    """A test file before and after the work; None: it is not there."""

    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class _Named:
    """A word of the command, from `start` to `end`, that means the file `path` or, with names, some tests in it."""

    start: int
    end: int
    path: str
    names: tuple[str, ...]


def selects_tests(command: str) -> bool:
    """Whether the command asks for tests by their names, so that it must run at least one."""
    return bool(_BY_ID.search(command) or any(_patterns(command)))


def within(command: str, files: Mapping[str, Version]) -> str | None:
    """
    The part of the command that the files can run as they were; None when there is no such part.

    A name counts as new when the file has it after the work and did not have it before, or is new itself. What is not
    understood is left in: then the command runs as a whole.
    """
    parts = _JOINT.split(command) if not _NESTED.search(command) else [command]
    kept = [_known(part, files) if at % 2 == 0 else part for at, part in enumerate(parts)]
    if not any(part and not _SET_UP.match(part) for part in kept[::2]):
        return None
    whole = zip(kept[::2], ["", *parts[1::2]], strict=True)
    return "".join(f"{joint}{part}" for part, joint in whole if part).lstrip("&; \n") or None


def _known(part: str, files: Mapping[str, Version]) -> str:
    """One command of a list without the names that are new; empty when there were no others."""
    named = tuple(_words(part, files))
    new = tuple(one for one in named if _is_new(one, files[one.path]))
    if (new and len(new) == len(named)) or any(_is_new_pattern(pattern, files) for pattern in _patterns(part)):
        return ""
    for one in reversed(new):
        part = part[: one.start].rstrip(" ") + part[one.end :]
    return part


def _is_new(named: _Named, file: Version) -> bool:
    if file.old is None:
        return file.new is not None
    old, new = file.old, file.new or ""
    if _holds(new, named.names) and not _holds(old, named.names):
        return True
    return any(_has(new, name) and not _has(old, name) for name in named.names)


def _holds(text: str, names: tuple[str, ...]) -> bool:
    """Whether the text defines the last name inside the classes named before it."""
    for name in names[:-1]:
        head = re.search(rf"^(?P<indent>[ \t]*)class\s+{re.escape(name)}\b.*\n", text, re.MULTILINE)
        if head is None:
            return False
        end = re.compile(rf"^(?!{head['indent']}[ \t])\S?.*\S", re.MULTILINE).search(text, head.end())
        text = text[head.end() : end.start() if end else len(text)]
    return bool(names) and re.search(rf"\bdef\s+{re.escape(names[-1])}\b", text) is not None


def _has(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _is_new_pattern(pattern: str, files: Mapping[str, Version]) -> bool:
    """Whether every alternative has a word that only the new versions have."""
    alternatives = [_identifiers(part) for part in re.split(r"\||\bor\b", pattern)]
    alternatives = [names for names in alternatives if names]
    return bool(alternatives) and all(any(_appears(name, files) for name in names) for names in alternatives)


def _appears(name: str, files: Mapping[str, Version]) -> bool:
    name = name.lower()
    was = any(name in (file.old or "").lower() for file in files.values())
    return not was and any(name in (file.new or "").lower() for file in files.values())


def _identifiers(pattern: str) -> tuple[str, ...]:
    """The words of a pattern, without those that it rules out."""
    plain = re.sub(r"\\[A-Za-z]|\bnot\s+\w+", " ", pattern)
    return tuple(word for word in _IDENTIFIER.findall(plain) if word not in _CONNECTIVES)


def _patterns(command: str) -> Iterator[str]:
    for runner, option in _BY_OPTION:
        if runner.search(command):
            yield from (found["pattern"].strip("\"'") for found in option.finditer(command))
    for found in _CARGO.finditer(command):
        words = (word.strip("\"'") for word in _CARGO_VALUED.sub(" ", found["words"]).split())
        yield from (word for word in words if re.fullmatch(r"[A-Za-z_][\w:]*", word))


def _words(command: str, files: Mapping[str, Version]) -> Iterator[_Named]:
    script = ""
    end = 0
    for found in _WORD.finditer(command):
        if _SEPARATOR.search(command, end, found.start()):
            script = ""
        end = found.end()
        word = found[0].strip("\"'")
        path, separator, rest = word.partition("::")
        held_in = _file(path, files)
        if held_in and (separator or files[held_in].old is None):
            yield _Named(found.start(), end, held_in, tuple(_IDENTIFIER.findall(rest)))
        elif held_in:
            script = held_in
        elif _DOTTED.fullmatch(word) and (held := _module(word, files)):
            yield _Named(found.start(), end, *held)
        elif script and _OF_A_SCRIPT.fullmatch(word):
            yield _Named(found.start(), end, script, tuple(word.split(".")))


def _file(word: str, files: Mapping[str, Version]) -> str:
    """The file that a word names, also from a folder further down."""
    tail = word.removeprefix("./")
    return next((path for path in files if f"/{path}".endswith(f"/{tail}")), "") if "." in tail else ""


def _module(word: str, files: Mapping[str, Version]) -> tuple[str, tuple[str, ...]] | None:
    """The file of a dotted name, and the names below the module."""
    parts = word.split(".")
    for length in range(len(parts), 0, -1):
        tail = "/".join(parts[:length])
        path = next((path for path in files if f"/{path}".endswith((f"/{tail}.py", f"/{tail}/__init__.py"))), None)
        if path is not None and (length < len(parts) or files[path].old is None):
            return path, tuple(parts[length:])
    return None
