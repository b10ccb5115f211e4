"""Writes CONTEXT.md into the user's planning folder, through no link and never over a person's words."""

from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.errors import RepositoryInvalid
from autopilot.planning.plan.folders import own_file
from autopilot.planning.start.context_md import Talk, context_md
from autopilot.workspace.files.beneath import Refused, opened, read_regular, write_atomic
from autopilot.workspace.git import storage_errors

NAME = "CONTEXT.md"


@dataclass(frozen=True, slots=True)
class ContextFile:
    root: Path

    def write(self, folder: str, phase: str, talk: Talk) -> str:
        """The file's path: the user's own `03-CONTEXT.md` if there is one. It is on disk when this returns."""
        place = self.root / folder
        names = [each.name for each in place.iterdir()] if place.is_dir() else []
        path = f"{folder}/{own_file(names, phase, NAME) or NAME}"
        with storage_errors("writing to .planning"), opened(self.root) as top:
            write_atomic(top, path, context_md(talk, self.read(path)).encode("utf-8", "replace"))
        return path

    def read(self, path: str) -> str | None:
        try:
            with opened(self.root) as top:
                return read_regular(top, path).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Refused as refusal:
            raise RepositoryInvalid(
                f"{path} is not read: {refusal}.",
                why="It holds what was decided about the phase; planning files are read and written as plain files.",
                do="Put the file itself in its place.",
            ) from refusal
