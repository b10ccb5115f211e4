"""Which files of a project are tests, by the conventions of its languages. Pure."""

import re
from pathlib import PurePosixPath

FOLDERS = frozenset(
    {
        "test", "tests", "__tests__", "spec", "specs", "e2e", "testdata", "test_data", "__snapshots__", "snapshots",
        "__image_snapshots__", "__mocks__", "acceptance", "golden", "goldens", "golden_files",
    }
)  # fmt: skip
PROSE = frozenset({".md", ".rst", ".adoc"})
# Neither program nor test: what a revert of the sources leaves alone.
NO_SOURCE = PROSE | {
    ".txt", ".toml", ".cfg", ".ini", ".json", ".yaml", ".yml", ".lock", ".csv", ".svg", ".png", ".sum", ".mod", ".xml",
    "",
}  # fmt: skip
_NAME = re.compile(
    r"test_[^/]*\.(?:py|sh|c|cc|cpp|rb|lua|php|ex|exs)"
    r"|[^/]*_(?:test|tests)\.(?:py|go|sh|rb|exs?|dart|c|cc|cpp|lua)"
    r"|[^/]*_spec\.(?:rb|lua)"
    r"|[^/]*[.-](?:test|spec|cy|e2e)\.(?:[cm]?[jt]sx?|vue|dart)"
    r"|[^/]*(?:Test|Tests|Spec|IT)\.(?:java|kt|kts|scala|groovy|cs|swift|php|m)"
    r"|[^/]*\.(?:bats|feature|snap|golden|approved)|[^/]*\.(?:golden|approved)\.\w+|conftest\.py"
)


def is_test(path: str) -> bool:
    """A test, or what tests are made of: fixtures and snapshots beside them."""
    pure = PurePosixPath(path)
    if pure.suffix.lower() in PROSE:
        return False
    return bool(_NAME.fullmatch(pure.name)) or bool(FOLDERS & {part.lower() for part in pure.parts[:-1]})


def is_source(path: str) -> bool:
    return not is_test(path) and PurePosixPath(path).suffix.lower() not in NO_SOURCE
