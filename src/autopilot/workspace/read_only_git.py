"""
Reads the user's repository with a git folder and settings of ours, so that nothing the repository brings along runs.

The real git folder gives objects, refs and the index. Its config is not git's config here: a few harmless values of it
are copied, and what could name a program (filters, hooks, fsmonitor, remotes) is not among them.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.errors import RepositoryInvalid
from autopilot.domain.process import Processes, Room
from autopilot.workspace.agent_git.skeleton import SHA256_DIGITS
from autopilot.workspace.git import CLOSED, COMMON, Git, our_env, user_env
from autopilot.workspace.project_folder import OURS_ALONE, Within
from autopilot.workspace.user_files import GitFolders, git_folders, read_bytes
from autopilot.workspace.user_repository import Shape, UserRepository

# How files are stored and compared. None of these names a program or a path.
COPIED = frozenset({
    "core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.precomposeunicode", "core.safecrlf",
    "core.sparsecheckout", "core.sparsecheckoutcone", "core.symlinks", "core.trustctime", "index.sparse",
    "core.repositoryformatversion", "extensions.objectformat", "extensions.refstorage",
})  # fmt: skip
LINKED = ("refs", "packed-refs", "reftable", "shallow")
_PLAIN = re.compile(r"[A-Za-z0-9]{1,20}")


@dataclass(frozen=True, slots=True)
class ReadOnlyRepository(UserRepository):
    """The user's repository, to look at: the real places of its files, and a git that reads none of its settings."""

    folders: GitFolders = GitFolders(Path(), Path())  # noqa: RUF009 - frozen, so it is safe to share

    def tree(self) -> str:
        """The newest commit's tree as facts name it: without planning files. Empty for a project below the top."""
        ran = self.git.run("ls-tree", "-z", "--full-tree", "HEAD", ok=(0, 128))
        if ran.exit_code or self.within.prefix:
            return ""
        content, width = b"", 0
        for line in ran.stdout.split(b"\0")[:-1]:
            head, name = line.split(b"\t", 1)
            mode, _, oid = head.split(b" ")
            width = len(oid)
            if name.decode("utf-8", "surrogateescape") not in OURS_ALONE:
                content += mode.lstrip(b"0") + b" " + name + b"\0" + bytes.fromhex(oid.decode())
        algorithm = hashlib.sha256 if width == SHA256_DIGITS else hashlib.sha1
        return algorithm(b"tree %d\0" % len(content) + content).hexdigest()

    def shape(self) -> Shape:
        form = self.git.run("rev-parse", "--show-object-format", ok=(0, 128))
        if form.exit_code:
            raise RepositoryInvalid(
                f"{self.root} is not a git repository",
                why=form.stderr.decode("utf-8", "replace").strip() or "Every step of a run is a git commit.",
                do="Run `git init` and make a first commit, or go to your project's folder.",
            )
        own, common = self.folders.own, self.folders.common
        return Shape(own, common, common / "info" / "exclude", own / "index", form.stdout.decode().strip())


@contextmanager
def read_only(
    top: Path, within: Within, processes: Processes, environment: Mapping[str, str], room: Room
) -> Iterator[ReadOnlyRepository]:
    """Nothing is written to the repository. What is made for git in a room of our own is gone afterwards."""
    folders = git_folders(top)
    with room() as made:
        place, bare = Path(made), Git(processes=processes, cwd=Path("/"), env=our_env(_path(environment)), flags=())
        wide = _settings(_as_user(bare, environment), "--global", "--includes")
        own = _settings(bare, "--no-includes", "--file", str(folders.common / "config"))
        beside = folders.own / "config.worktree"
        own |= _settings(bare, "--no-includes", "--file", str(beside)) if beside.is_file() else {}
        _lay(place, folders, {**wide, **own})
        git = Git(
            processes=processes,
            cwd=top,
            env={
                **bare.env,
                **CLOSED,
                "GIT_DIR": str(place),
                "GIT_WORK_TREE": str(top),
                "GIT_INDEX_FILE": str(folders.own / "index"),
                "GIT_OBJECT_DIRECTORY": str(folders.common / "objects"),
            },
            flags=(*COMMON, "core.attributesFile=/dev/null", f"core.excludesFile={_ignored(wide, environment)}"),
        )
        yield ReadOnlyRepository(top, git, within, folders)


def _lay(place: Path, folders: GitFolders, settings: Mapping[str, str]) -> None:
    """A git folder with our own config in it, and links to the rest of the user's that only tells what is stored."""
    sections = dict[str, list[str]]()
    for name in sorted(COPIED & settings.keys()):
        section, _, key = name.partition(".")
        if _PLAIN.fullmatch(settings[name]):
            sections.setdefault(section, []).append(f"\t{key} = {settings[name]}\n")
    text = "".join(f"[{section}]\n{''.join(lines)}" for section, lines in sections.items())
    (place / "config").write_text(text, encoding="utf-8")
    (place / "HEAD").write_bytes(read_bytes(folders.own / "HEAD") or b"")
    (place / "info").mkdir()
    for name in LINKED:
        (place / name).symlink_to(folders.common / name)
    for name in ("exclude", "sparse-checkout"):
        (place / "info" / name).symlink_to(folders.common / "info" / name)
    for shared in folders.own.glob("sharedindex.*"):
        (place / shared.name).symlink_to(shared)


def _settings(git: Git, *words: str) -> dict[str, str]:
    """Read as a file: git acts upon none of it. The last value of a name counts, as for git."""
    try:
        ran = git.run("config", *words, "-z", "--list", ok=(0, 1, 3, 128, 129))
    except RepositoryInvalid:
        return {}  # Without git there is nothing to read it for, which the first real question says.
    told = ran.stdout.decode("utf-8", "replace").split("\0") if ran.exit_code == 0 else []
    pairs = (line.partition("\n")[::2] for line in told if line)
    return {name.lower(): value or "true" for name, value in pairs}


def _as_user(git: Git, environment: Mapping[str, str]) -> Git:
    return Git(processes=git.processes, cwd=git.cwd, env=user_env(environment), flags=())


def _ignored(wide: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """The user's own list of files that git leaves out everywhere."""
    home = environment.get("HOME", "")
    named = wide.get("core.excludesfile", "")
    if named:
        return os.path.join(home, named[2:]) if named.startswith("~/") else named  # noqa: PTH118 - may be empty
    settings = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    return f"{settings}/git/ignore"


def _path(environment: Mapping[str, str]) -> str:
    return environment.get("PATH", os.defpath)
