"""The user's own files as a run needs them before it starts: read, never written."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.errors import RepositoryInvalid, StorageFailed


def find_root(folder: Path) -> Path:
    """The project's folder: the nearest one with `.planning` from here upwards, at most the top of the repository."""
    top, here = find_top(folder), folder.resolve()
    upwards = (here, *here.parents)
    inside = upwards[: upwards.index(top) + 1]
    return next((place for place in inside if (place / ".planning").is_dir()), top)


def find_top(folder: Path) -> Path:
    """The top of the repository the folder is in."""
    for place in (folder.resolve(), *folder.resolve().parents):
        if (place / ".git").exists():
            return place
    raise RepositoryInvalid(
        f"{folder.resolve()} is not in a git repository",
        why="every step of a run is a git commit; without a repository nothing could be kept or undone",
        do="run `git init` and make a first commit, or go to your project's folder",
    )


@dataclass(frozen=True, slots=True)
class GitFolders:
    """`own` has HEAD and the index of this checkout; `common` has what all checkouts of the repository share."""

    own: Path
    common: Path


def git_folders(top: Path) -> GitFolders:
    """Found without git. Of a linked worktree they are two folders; a `.git` that leads nowhere is taken as it is."""
    own = top / ".git"
    if own.is_file():
        told = (read_bytes(own) or b"").decode("utf-8", "surrogateescape").strip()
        own = top / told.removeprefix("gitdir:").strip()
    shared = (read_bytes(own / "commondir") or b"").decode("utf-8", "surrogateescape").strip()
    return GitFolders(own, own / shared if shared else own)


def read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise StorageFailed(
            f"{path} cannot be read: {error.strerror}", why="it decides what the run does", do="make it readable"
        ) from error


def root_files(root: Path, with_text: AbstractSet[str]) -> dict[str, str]:
    """The files in the project's root by name; those in `with_text` with what is in them, unless they link away."""
    found = {}
    for path in root.iterdir():
        if path.is_file():
            wanted = path.name in with_text and path.resolve().is_relative_to(root.resolve())
            content = read_bytes(path) if wanted else None
            found[path.name] = (content or b"").decode("utf-8", "replace")
    return found


def phase_folders(root: Path) -> dict[str, tuple[str, ...]]:
    """The folders below `.planning/phases` in order, each with the names of its files."""
    phases = root / ".planning" / "phases"
    found = sorted(path for path in phases.iterdir() if path.is_dir()) if phases.is_dir() else []
    return {path.name: tuple(sorted(each.name for each in path.iterdir() if each.is_file())) for path in found}
