"""Put a canary into a checkout, without following anything out of it."""

import os
from pathlib import Path

from autopilot.evidence.canary import Bird, canary
from autopilot.evidence.content.references import NOT_OURS
from autopilot.evidence.safe_read import read_beneath

MOST_FILES = 20_000
HEAD_BYTES = 10_000


def planted(folder: str, command: str) -> Bird | None:
    """The canary, on disk now; None when none can be made for the command, or no place is safe for it."""
    top = Path(os.path.realpath(folder))
    bird = canary(command, listing(top), lambda path: _head(top, path))
    if bird is None:
        return None
    target = top / bird.path
    if not Path(os.path.realpath(target.parent)).is_relative_to(top):
        return None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o755)
    except OSError:
        return None
    with os.fdopen(file, "w", encoding="utf-8") as opened:
        opened.write(bird.text)
    return bird


def listing(top: Path) -> list[str]:
    """The files of a checkout by their path below it, as far as they are looked at."""
    found: list[str] = []
    for at, folders, files in os.walk(top):
        folders[:] = sorted(set(folders) - NOT_OURS)
        found += (Path(at, name).relative_to(top).as_posix() for name in sorted(files))
        if len(found) > MOST_FILES:
            break
    return found[:MOST_FILES]


def _head(top: Path, path: str) -> str:
    return (read_beneath(top, path, HEAD_BYTES) or b"").decode("utf-8", "replace")
