"""A changed file on both sides, with what is new in it; a file that moved is paired with what it was."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autopilot.domain.evidence import FileTexts, FileVersion
from autopilot.evidence.tamper.masking import LONGEST_LINE, Masked, language_of, masked

ALIKE, MOST_MOVES, SIGNIFICANT = 0.5, 200, 3
LINK, GITLINK = "120000", "160000"
_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "e2e", "testing", "integration_tests", "t"})
_PROSE = (".md", ".rst", ".txt", ".adoc", ".html", ".log", ".csv", ".lock", ".svg")
_COLLECTED = re.compile(
    r"(?:^test_[^/]*\.py|_test\.py|^tests?\.py|[^/]*[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?|_test\.go|\.bats"
    r"|^Test[^/]*\.java|(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|groovy|scala)|_(?:test|spec)\.rb|_tests?\.rs|^tests?\.rs)$"
)
_HELD_BY_FOLDER = {"javascript": {"__tests__"}, "rust": {"tests"}, "shell": {"test", "tests", "t"}}
_CHECK_NAME = re.compile(
    r"(?:^|[/_.-])(?:tests?|checks?|verify|lint|ci|smoke|spec|accept\w*|validate)(?:[/_.-]|$)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found. `milder`: only a concern, though the rule's cases block."""

    rule: str
    line: int
    what: str
    milder: bool = False
    path: str = ""


@dataclass(frozen=True)
class Pair:
    """`old_path` differs from `path` for a file that moved; `path` is where a finding is shown."""

    path: str
    old_path: str
    before: FileVersion | None
    after: FileVersion | None

    @cached_property
    def language(self) -> str:
        return language_of(self.path, self._text(self.after)) or language_of(self.old_path, self._text(self.before))

    @cached_property
    def old(self) -> Masked:
        return masked(self._text(self.before), language_of(self.old_path, self._text(self.before)))

    @cached_property
    def new(self) -> Masked:
        return masked(self._text(self.after), self.language)

    @cached_property
    def fresh(self) -> tuple[int, ...]:
        """The numbers of the lines that were not there before, wherever in the file they stood."""
        left = Counter(map(str.strip, self.old.raw.split("\n")))
        numbers = []
        for number, line in enumerate(self.new.raw.split("\n"), start=1):
            if left[line.strip()] > 0:
                left[line.strip()] -= 1
            elif line.strip():
                numbers.append(number)
        return tuple(numbers)

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """Lines that are nowhere in the file any more, without their comments."""
        left = Counter(map(str.strip, self.new.raw.split("\n")))
        left.subtract(map(str.strip, self.old.raw.split("\n")))
        bare = zip(self.old.raw.split("\n"), self.old.bare.split("\n"), strict=True)
        return tuple(line.strip() for raw, line in bare if left[raw.strip()] < 0 and line.strip())

    def fresh_code(self) -> Iterator[tuple[int, str, str]]:
        """Each new line: its number, and it without comments, and also without strings."""
        bare, code = self.new.bare.split("\n"), self.new.code.split("\n")
        for number in self.fresh:
            if bare[number - 1].strip():
                yield number, bare[number - 1], code[number - 1]

    @property
    def is_test(self) -> bool:
        return is_test(self.path) or is_test(self.old_path)

    @property
    def is_check(self) -> bool:
        """A script whose exit code somebody relies on."""
        return self.is_test or any(_CHECK_NAME.search(path) for path in (self.path, self.old_path))

    @property
    def existed(self) -> bool:
        return self.before is not None

    @property
    def is_prose(self) -> bool:
        return self.path.lower().endswith(_PROSE)

    @property
    def unreadable(self) -> str:
        """Why a side cannot be looked at, if so."""
        for version in (self.after, self.before):
            if version is None or version.mode in {LINK, GITLINK}:
                continue
            if version.text is None:
                return "too large or not text"
            if version is self.after and any(len(line) > LONGEST_LINE for line in version.text.split("\n")):
                return f"a line of more than {LONGEST_LINE} letters"
        return ""

    @staticmethod
    def _text(version: FileVersion | None) -> str:
        return version.text or "" if version and version.mode != LINK else ""


def is_test(path: str) -> bool:
    """Test code by its name or folder, support files such as conftest.py included."""
    *folders, name = path.split("/")
    return collected(path) or name == "conftest.py" or any(folder.lower() in _FOLDERS for folder in folders)


def collected(path: str) -> bool:
    """Whether the usual runner of its language would look for tests in the file."""
    *folders, name = path.split("/")
    if _COLLECTED.search(name):
        return True
    held = _HELD_BY_FOLDER.get(language_of(path), set())
    return any(folder.lower() in held for folder in folders)


def pairs(files: Sequence[FileTexts]) -> tuple[Pair, ...]:
    """One pair a file; an added file most of whose lines stood in a removed one is that file, moved."""
    gone = {f.path: f.before for f in files if f.after is None and f.before is not None and f.before.text}
    made = {f.path: f.after for f in files if f.before is None and f.after is not None and f.after.text}
    moves = _moves(gone, made) if len(gone) <= MOST_MOVES and len(made) <= MOST_MOVES else {}
    moved = set(moves.values())
    found = []
    for file in files:
        origin = moves.get(file.path)
        if origin is not None:
            found.append(Pair(file.path, origin, gone[origin], file.after))
        elif file.path not in moved:
            found.append(Pair(file.path, file.path, file.before, file.after))
    return tuple(found)


def _moves(gone: dict[str, FileVersion], made: dict[str, FileVersion]) -> dict[str, str]:
    """Each added path to the removed one it is most like; each removed one is used once."""
    lines = {path: _significant(version) for path, version in (*gone.items(), *made.items())}
    scores = sorted(
        (
            (_alike(lines[new], lines[old]), new.rpartition("/")[2] == old.rpartition("/")[2], new, old)
            for new in made
            for old in gone
        ),
        reverse=True,
    )
    moves: dict[str, str] = {}
    used: set[str] = set()
    for score, _, new, old in scores:
        if score >= ALIKE and new not in moves and old not in used:
            moves[new] = old
            used.add(old)
    return moves


def _significant(version: FileVersion) -> frozenset[str]:
    stripped = (line.strip() for line in (version.text or "").split("\n"))
    return frozenset(line for line in stripped if len(line) >= SIGNIFICANT)


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one), len(other)) if one and other else 0.0
