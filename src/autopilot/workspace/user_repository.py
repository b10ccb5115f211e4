"""The user's own repository: looked at freely, changed only by new branches and by landing."""

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.domain.errors import RepositoryInvalid, StorageFailed
from autopilot.text.checksum import intact
from autopilot.workspace.files.beneath import Refused, opened, read_regular, sync_ref, write_atomic
from autopilot.workspace.git import Git
from autopilot.workspace.locks import clear_ref_lock
from autopilot.workspace.own_repository import Identity, Store, shown
from autopilot.workspace.project_folder import OURS_ALONE, Within

MERGING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer")
MAX_NAMES = 1000
BRANCH = re.compile(r"autopilot[/-][A-Za-z0-9](?:[A-Za-z0-9._-]{0,120}[A-Za-z0-9_-])?", re.ASCII)


class Start(msgspec.Struct, frozen=True):
    """Where a run begins: the commit, and the branch that was checked out (None: detached)."""

    branch: str | None
    base: str


def read_start(path: Path) -> Start:
    """As it was kept when the run began."""
    content = path.read_bytes()
    try:
        start = msgspec.json.decode(content, type=Start) if intact(content) else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        start = None
    if start is None:
        raise StorageFailed(
            f"{str(path)!r} is damaged.",
            why="It says from which commit and branch the run began; work could land in the wrong place.",
            do="Restore it from a backup, or start a new run; commits that were made stay in the repository.",
        )
    return start


@dataclass(frozen=True, slots=True)
class Shape:
    """The lie of the repository's own files."""

    git_dir: Path
    common_dir: Path
    exclude: Path
    index: Path
    object_format: str


@dataclass(frozen=True, slots=True)
class UserRepository:
    """`root` is the top of the repository, `within` where in it the project is."""

    root: Path
    git: Git
    within: Within = Within()  # noqa: RUF009 - frozen, so it is safe to share

    def shape(self) -> Shape:
        """Raises `RepositoryInvalid` for a folder no run can start in."""
        asked = ("--is-bare-repository", "--show-prefix", "--show-object-format", "--path-format=absolute")
        paths = ("--git-dir", "--git-common-dir", "--git-path", "info/exclude", "--git-path", "index")
        ran = self.git.run("rev-parse", *asked, *paths, ok=(0, 128))
        if ran.exit_code:
            raise RepositoryInvalid(
                f"{self.root} is not a git repository",
                why=ran.stderr.decode("utf-8", "replace").strip() or "Every step of a run is a git commit.",
                do="Run `git init` and make a first commit, or go to your project's folder.",
            )
        bare, prefix, form, git_dir, common, exclude, index = ran.stdout.decode("utf-8", "surrogateescape").split("\n")[
            :7
        ]
        if bare == "true":
            raise RepositoryInvalid(
                f"{self.root} is a bare repository",
                why="A run reads .planning/ from a checkout and lands its work there.",
                do="Run it in a clone of that repository.",
            )
        if prefix:
            raise RepositoryInvalid(
                f"{self.root} lies inside a repository",
                why="A run works on whole repositories.",
                do=f"Run it {len(prefix.rstrip('/').split('/'))} folder(s) further up.",
            )
        return Shape(Path(git_dir), Path(common), Path(exclude), Path(index), form)

    def start(self) -> Start:
        tip = self.git.run("rev-parse", "-q", "--verify", "HEAD^{commit}", ok=(0, 1, 128))
        if tip.exit_code:
            raise RepositoryInvalid(
                f"{self.root} has no commit yet",
                why="A run starts from a commit and adds to it.",
                do="Make a first commit: git add -A && git commit -m 'start'.",
            )
        return Start(self.branch(), tip.stdout.decode().strip())

    def branch(self) -> str | None:
        ran = self.git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))
        name = ran.stdout.decode("utf-8", "surrogateescape").strip()
        return name.removeprefix("refs/heads/") or None

    def identity(self) -> Identity:
        """Who commits: as configured by the user, else Autopilot itself."""
        ran = self.git.run("config", "-z", "--get-regexp", r"^user\.(name|email)$", ok=(0, 1))
        pairs = (item.split("\n", 1) for item in ran.stdout.decode("utf-8", "replace").split("\0") if "\n" in item)
        # What git itself strips from a name; its importer would refuse it.
        found = {key: re.sub(r"[<>\n]", "", value).strip() for key, value in pairs}
        if not (found.get("user.name") and found.get("user.email")):
            return Identity()
        return Identity(name=found["user.name"], email=found["user.email"])

    def ignore(self, name: str, exclude: Path) -> None:
        """Keep a folder of ours in the project out of `git status`; an entry that covers it is enough."""
        name = self.within.whole(name)
        if self.git.run("check-ignore", "-q", f"{name}/state.json", ok=(0, 1)).exit_code == 0:
            return
        exclude = exclude.resolve()
        exclude.parent.mkdir(parents=True, exist_ok=True)
        text = exclude.read_bytes() if exclude.exists() else b""
        line = b"" if not text or text.endswith(b"\n") else b"\n"
        with opened(exclude.parent) as folder:
            write_atomic(folder, exclude.name, text + line + f"/{name}/\n".encode())

    def ignores(self, name: str) -> bool:
        """Whether git leaves the folder out; one with a tracked file in it is not left out."""
        if self.git.run("check-ignore", "-q", "--", f"{name}/", ok=(0, 1, 128)).exit_code:
            return False  # Git knows of nothing behind a symbolic link, and ends with 128.
        return not self.git.out("ls-files", "-z", "--", f":(top,literal){name}")

    def dirty(self) -> tuple[str, ...]:
        """What is uncommitted in the checkout, our own folders left out."""
        # In every folder: other projects of the repository have theirs.
        without = [f":(exclude,top,glob)**/{name}/**" for name in OURS_ALONE]
        # What is uncommitted inside a submodule is left out: git would look there with the submodule's own settings.
        words = ("status", "--porcelain", "-z", "--no-renames", "-uno", "--ignore-submodules=dirty")
        changed = self.git.out(*words, "--", ".", *without).split(b"\0")
        # Asked for by itself: `status` would look through our folders, whatever it is told to leave out.
        unlisted = [f"--exclude={name}/" for name in OURS_ALONE]
        new = self.git.out("ls-files", "-o", "-z", "--exclude-standard", *unlisted).split(b"\0")
        found = (*(line[3:] for line in changed[:-1]), *new[:-1])
        return tuple(self.within.local(shown(name.decode("utf-8", "surrogateescape"))) for name in found)

    def loose_plans(self) -> int:
        """How many planning files of the project are uncommitted: changed, or not known to git and not ignored."""
        folder = f":(top,literal){self.within.ours[0]}"
        changed = self.git.out("status", "--porcelain", "-z", "--no-renames", "-uno", "--", folder)
        new = self.git.out("ls-files", "-o", "-z", "--exclude-standard", "--", folder)
        return changed.count(b"\0") + new.count(b"\0")

    def file_sha256(self, path: str) -> str | None:
        with opened(self.root) as top, suppress(FileNotFoundError, Refused):
            return hashlib.sha256(read_regular(top, self.within.whole(path))).hexdigest()
        return None

    def tip(self, branch: str) -> str | None:
        ran = self.git.run("rev-parse", "-q", "--verify", f"refs/heads/{branch}^{{commit}}", ok=(0, 1, 128))
        return ran.stdout.decode().strip() if ran.exit_code == 0 else None

    def committed(self, path: str) -> str | None:
        """The text of a file in HEAD, by its path from the top."""
        ran = self.git.run("cat-file", "blob", f"HEAD:{path}", ok=(0, 1, 128))
        return ran.stdout.decode("utf-8", "replace") if ran.exit_code == 0 else None

    def common(self, one: str, other: str) -> str:
        """The newest commit both have in their history; empty when there is none."""
        return self.git.run("merge-base", one, other, ok=(0, 1, 128)).stdout.decode().strip()

    def unfinished(self, git_dir: Path) -> str | None:
        """What the user is in the middle of, if anything."""
        return next((name for name in MERGING if (git_dir / name).exists()), None)

    def publish(self, store: Store, name: str, commit: str, common_dir: Path) -> str:
        """
        A branch at the commit, its objects brought along. The name used.

        A name taken by another commit gets a suffix; only the run's own, and only if nowhere checked out, is moved.
        Raises `ValueError` for what is no plain name: it becomes part of a path and of a command line.
        """
        if not BRANCH.fullmatch(name) or ".." in name or any(p.endswith((".lock", ".")) for p in name.split("/")):
            raise ValueError(f"not a name for a branch: {name!r}")
        fetch = ("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-shallow")
        self.git.run(*fetch, str(store.folder), commit)
        out = self.git.out("worktree", "list", "--porcelain", "-z").split(b"\0")
        shown_now = {line.removeprefix(b"branch refs/heads/").decode("utf-8", "replace") for line in out}
        for candidate in _names(name):
            clear_ref_lock(common_dir / "refs" / "heads" / f"{candidate}.lock", commit, self.root)
            there = self.tip(candidate)
            movable = there is None or (candidate == store.branch and candidate not in shown_now)
            if there == commit or (movable and self._pointed(candidate, commit, there)):
                sync_ref(common_dir, f"refs/heads/{candidate}")
                return candidate
        raise RepositoryInvalid(
            f"no branch named {name!r} can be made",
            why="The work is finished and kept in .autopilot/repo.git, but every name for it is taken.",
            do=f"Fetch it yourself: git fetch .autopilot/repo.git {commit}",
        )

    def _pointed(self, name: str, commit: str, old: str | None) -> bool:
        zero = "0" * len(commit)
        words = ("update-ref", "-m", "autopilot", f"refs/heads/{name}", commit, old or zero)
        return self.git.run(*words, ok=(0, 1, 128)).exit_code == 0


def _names(name: str) -> list[str]:
    flat = name.replace("/", "-")
    more = [f"{form}-{n}" for n in range(2, MAX_NAMES) for form in (name, flat)]
    return list(dict.fromkeys([name, *more[:1], flat, *more[1:]])) if flat != name else [name, *more[::2]]
