"""What differs between two commits as git tells it: the files a map is about."""

from autopilot.codemap.languages import grammar_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REGULAR = (b"100644", b"100755", b"100664")
EXCLUDED = frozenset(
    {"node_modules", "dist", ".git", "build", "coverage", ".next", "__pycache__", ".venv", "vendor", ".planning",
     ".autopilot"}
)  # fmt: skip
LISTING = ("ls-tree", "-r", "-z")
DIFFERENCE = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff")
Change = tuple[str, str | None]
"""A path and its blob; None for one that is gone, or no plain file any more."""


def listed(out: bytes) -> "list[Change]":
    """`ls-tree -z`: mode, kind and blob, a tab, the path."""
    return [*_wanted(_entries(out))]


def compared(out: bytes) -> "list[Change]":
    """`diff-tree --raw -z`: a line of modes and blobs, then the path."""
    return [*_wanted(_differences(out))]


def key_of(change: Change) -> str | None:
    """The same text is read once, wherever it lies, but not as two languages."""
    path, blob = change
    grammar = grammar_of(path)
    return f"{blob}:{grammar}" if grammar and blob else None


def _entries(out: bytes) -> "Iterator[Change]":
    for line in out.split(b"\0")[:-1]:
        meta, name = line.split(b"\t", 1)
        mode, _, blob = meta.split()
        if mode in REGULAR:
            yield name.decode("utf-8", "replace"), blob.decode()


def _differences(out: bytes) -> "Iterator[Change]":
    words = iter(out.split(b"\0")[:-1])
    for word in words:
        _, mode, _, blob, _ = word[1:].split(b" ")
        yield next(words).decode("utf-8", "replace"), blob.decode() if mode in REGULAR else None


def _wanted(files: "Iterable[Change]") -> "Iterator[Change]":
    return (file for file in files if EXCLUDED.isdisjoint(file[0].split("/")[:-1]))
