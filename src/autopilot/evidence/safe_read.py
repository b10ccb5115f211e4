"""Reads a plain file below a folder that a command or an agent filled: through no link, and never more than asked."""

import os
import stat
from pathlib import Path, PurePosixPath

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_beneath(folder: str | Path, path: str, most: int) -> bytes | None:
    """Its first `most` bytes; None for a link, a pipe, a device, a second name of a file, or what lies elsewhere."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        return None
    try:
        file = _opened(folder, parts)
    except OSError:
        return None
    with os.fdopen(file, "rb", buffering=0) as opened:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            return None
        return _begin(opened.fileno(), most)


def _opened(folder: str | Path, parts: tuple[str, ...]) -> int:
    """Name by name, so that a link on the way is met and not followed, whoever changes it meanwhile."""
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            deeper = os.open(part, FOLDER, dir_fd=here)
            os.close(here)
            here = deeper
        return _no_folder(os.open(parts[-1], READ, dir_fd=here))
    finally:
        os.close(here)


def _no_folder(file: int) -> int:
    if stat.S_ISDIR(os.fstat(file).st_mode):
        os.close(file)
        raise IsADirectoryError
    return file


def _begin(file: int, most: int) -> bytes:
    content = bytearray()
    while len(content) < most and (chunk := os.read(file, min(most - len(content), 1 << 20))):
        content += chunk
    return bytes(content)
