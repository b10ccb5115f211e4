"""Diagnostics without a disk."""

from autopilot.domain.errors import StorageFailed


class Shelf:
    """Diagnostics in memory; a full one takes nothing."""

    def __init__(self, *, full: bool = False) -> None:
        self.full = full
        self.files: dict[str, str] = {}

    def write(self, name: str, text: str) -> None:
        if self.full:
            raise StorageFailed("the disk is full", why="nothing fits", do="make room")
        self.files[name] = text

    def learn(self, entry: str) -> None:
        self.write("learnings", entry)

    def learnings(self) -> str:
        return self.files.get("learnings", "")
