"""The folders agents work in: pooled, reset between uses, and read back without believing anything in them."""

import os
import re
import shutil
import stat
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autopilot.domain.errors import TOO_MUCH, NoAnswer, StorageFailed
from autopilot.domain.evidence import Change
from autopilot.domain.process import Ran
from autopilot.domain.settings import Limits
from autopilot.text.bounded import remember
from autopilot.workspace.agent_git.history import History
from autopilot.workspace.agent_git.skeleton import Skeleton
from autopilot.workspace.agent_git.veil import Veil
from autopilot.workspace.files.removal import make_plain, remove, remove_below, tidy_modes
from autopilot.workspace.files.volume import BY_PRODUCTS, Measuring
from autopilot.workspace.git import Git, git_failure, is_ours_to_fail
from autopilot.workspace.own_repository import GITLINK, LEFT_OUT, Difference, Store, safe_name, shown


class Laid(msgspec.Struct, frozen=True):
    """
    What was last laid out in a slot. Written last, so a slot without it was cut off half-way.

    `planning` has the hashes of our own files there, by path: what differs from them the agent did, whatever a later
    process would lay there.
    """

    commit: str
    links: tuple[str, ...]
    planning: dict[str, str] = {}


MOST_TOLD, MOST_LISTED = 20, 16
_COMPLAINT = re.compile(rb"^(?:error|fatal): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Staged:
    """`left_out` is there although no commit can hold it."""

    tree: str
    found: Difference
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths of an index that need care: submodules."""

    links: tuple[str, ...]


def parse_listing(out: bytes) -> Listing:
    lines = (line.split(b"\t", 1) for line in out.split(b"\0")[:-1])
    return Listing(tuple(os.fsdecode(name) for meta, name in lines if meta.startswith(GITLINK.encode())))


@dataclass(frozen=True, slots=True)
class Slot:
    """
    One pooled folder. Its index and its record lie beside it, where no agent writes. `listings` is by commit.

    What is named in `aside` is no part of any commit: dependency folders are linked there. Where there is a `veil` the
    folder's `.git` shows the history without planning files.
    """

    folder: Path
    store: Store
    history: History
    skeleton: Skeleton
    listings: dict[str, Listing] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    veil: Veil | None = None
    limits: Limits = Limits()  # noqa: RUF009 - frozen, so it is safe to share

    @property
    def index(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.index")

    @property
    def swollen(self) -> Path:
        """There as long as more lies in the folder than can be committed: it is not cleared for something else then."""
        return self.folder.with_name(f"{self.folder.name}.swollen")

    @property
    def _record(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.json")

    def laid(self) -> Laid | None:
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=Laid)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def reset(self, commit: str) -> Listing:
        """
        The folder holds exactly the commit when this returns; only what differs was written.

        What is ours alone is left out: it is laid there by whom it is for, and there is more of it with every phase.
        """
        before = self.laid()
        self._record.unlink(missing_ok=True)
        bare = self.store.bare(commit)
        if before is None or not self._reused(before, bare):
            self._made_anew(bare)
        if commit not in self.listings:
            listed = self.store.git.at(GIT_INDEX_FILE=self.index).out("ls-files", "-s", "-z")
            return remember(self.listings, commit, parse_listing(listed), MOST_LISTED)
        return self.listings[commit]

    def finish(self, commit: str, listing: Listing, planning: dict[str, str]) -> None:
        """Give the folder its `.git` and mark the slot as complete."""
        shown = self.veil.over(commit) if self.veil else commit
        self.history.hold(shown)
        self.skeleton.lay(self.folder, shown, self.index)
        part = self._record.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(Laid(commit, listing.links, planning)))
        part.replace(self._record)

    def _reused(self, before: Laid, bare: str) -> bool:
        """Whether what is there could be turned into the tree without a word of complaint from git."""
        try:
            if not (stat.S_ISDIR(self.folder.lstat().st_mode) and self.index.exists()):
                return False
            remove(self.folder / ".git")
            for link in before.links:
                remove_below(self.folder, link)
            for own in self.store.within.ours:
                remove_below(self.folder, own)
            git = self.store.git.at(GIT_INDEX_FILE=self.index, GIT_WORK_TREE=self.folder)
            # Cleaning comes first: a folder swapped for a link is gone before files are compared through it.
            cleaned = git.run("clean", "-ffdxq", ok=(0, 1, 128))
            written = git.run("read-tree", "-u", "--reset", bare, ok=(0, 128))
            tidy_modes(self.folder)
        except (OSError, StorageFailed):
            return False
        return not (cleaned.exit_code or written.exit_code or cleaned.stderr or written.stderr)

    def _made_anew(self, bare: str) -> None:
        remove(self.folder)
        self.index.unlink(missing_ok=True)
        self.folder.mkdir(parents=True)
        git = self.store.git.at(GIT_INDEX_FILE=self.index, GIT_WORK_TREE=self.folder)
        git.run("read-tree", "-u", "--reset", bare)

    def is_whole(self) -> bool:
        """Whether an agent's work may be in the folder: it was laid out to the end and is still there."""
        return self.laid() is not None and self.index.exists() and self.folder.is_dir() and not self.folder.is_symlink()

    def stage(self, base: str) -> Staged:
        """What is in the folder as a tree, `.planning` and `.autopilot` as in `base`."""
        if not self.is_whole():
            raise StorageFailed(
                f"the agent's folder {self.folder} is gone",
                why="What was not committed from it is lost; a missing folder is never taken for deleted files.",
                do="Run `autopilot resume`; the step is done again.",
            )
        if over := self.volume():
            self.swollen.write_text(over, encoding="utf-8")
            raise NoAnswer(TOO_MUCH, over)
        staged = self._staged(base)
        if not staged.left_out and not staged.found.new_links:
            return staged
        make_plain(self.folder)
        again = self._staged(base)
        taken = {shown(touched.path) for touched in again.found.touched}
        cleared = (name for name in staged.left_out if name not in taken)
        return Staged(again.tree, again.found, tuple(dict.fromkeys((*again.left_out, *cleared))))

    def volume(self) -> str:
        """What there is too much of, before git looks at a single file; empty where all is within bounds."""
        git = self.store.git.at(GIT_INDEX_FILE=self.index, GIT_WORK_TREE=self.folder)
        aside = (*self.aside, *self.store.within.ours)
        found = Measuring(folder=self.folder, aside=aside, git=git, limits=self.limits).measure()
        return found.told() if found.over else ""

    def set_aside(self, place: Path) -> None:
        """The folder with more in it than can be committed is moved there as it is."""
        if self.swollen.exists():
            place.mkdir(parents=True, exist_ok=True)
            name = f"{safe_name(self.store.run)}-{self.folder.name}-{time.time_ns()}"
            with suppress(FileNotFoundError):
                self.folder.rename(place / name)
            self._record.unlink(missing_ok=True)
            self.swollen.unlink()

    def _staged(self, base: str) -> Staged:
        index = self.folder.with_name(f"{self.folder.name}.seal.index")
        git = self.store.git.at(GIT_INDEX_FILE=index, GIT_WORK_TREE=self.folder)
        try:
            links = self._prepared(index, base)
            for link in links:
                remove_below(self.folder, f"{link}/.git")
            without = [f":(exclude,top,literal){path}" for path in (*links, *self.aside)]
            # In any spelling: on a file system that does not tell them apart it would be the same folder.
            without += [f":(exclude,top,literal,icase){path}" for path in self.store.within.ours]
            without += [f":(exclude,top,glob)**/{name}/**" for name in BY_PRODUCTS]
            where = ("--", ".", *without)
            added = git.run("add", "-A", "--ignore-errors", *where, ok=(0, 1, 128))
            if added.exit_code and is_ours_to_fail(added):
                raise git_failure("add", added)
            left_out = _left_out(git, where, added) if added.exit_code else ()
            tree = self.store.grafted(git.text("write-tree"), base)
        finally:
            index.unlink(missing_ok=True)
            index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        return Staged(tree, self.store.difference(base, tree), left_out)

    def _prepared(self, index: Path, base: str) -> tuple[str, ...]:
        """An index of `base` that remembers, where it can, which files are untouched; the submodules in it."""
        laid = self.laid()
        git = self.store.git.at(GIT_INDEX_FILE=index, GIT_WORK_TREE=self.folder)
        index.unlink(missing_ok=True)
        # With its date: git compares the content of files as young as the index, and trusts the dates of older ones.
        shutil.copy2(self.index, index)
        if laid and laid.commit == base:
            return laid.links
        git.run("read-tree", "-i", "-m", self.store.bare(base))
        return parse_listing(git.out("ls-files", "-s", "-z")).links

    def seal(self, base: str, message: str) -> Change:
        """
        One durable commit of all that changed, whatever the agent committed itself.

        Raises `NoAnswer` where that is too much: then nothing is added, and the folder stays as it is.
        """
        staged = self.stage(base)
        self.swollen.unlink(missing_ok=True)
        if not staged.found.touched:
            return Change(base=base, commit=base, tree=self.store.tree(base), left_out=staged.left_out)
        trailers = "".join(f"{LEFT_OUT}: {name}\n" for name in staged.left_out)
        commit = self.store.commit(staged.tree, base, f"{message}{trailers}")
        self.store.set_ref(self.store.work_ref(self.folder.name), commit)
        return self.store.described(base, commit, staged.found, staged.left_out)

    def keep_interrupted(self, base: str, step: str) -> str | None:
        laid = self.laid()
        if laid is None or not self.is_whole():
            return None
        try:
            staged = self.stage(laid.commit)
        except NoAnswer:
            return None  # it is not lost: the folder is moved aside before something else is laid out there
        same = not staged.found.touched or not self.store.difference(base, staged.tree).touched
        return None if same else self.store.keep(staged.tree, base, step)


def clear_locks(folder: Path) -> None:
    """Those a killed git left on the index files beside the slots."""
    for lock in folder.glob("*.lock"):
        remove(lock)


def _left_out(git: Git, where: tuple[str, ...], added: Ran) -> tuple[str, ...]:
    """
    What an addition that failed did not take; it may have taken nothing at all.

    Git also fails when it has added everything: if a path that it is to leave out is one that it ignores.
    """
    new = git.out("ls-files", "-z", "--others", "--exclude-standard", *where)
    changed = git.out("diff-files", "-z", "--name-only", *where)
    names = dict.fromkeys(shown(os.fsdecode(name)) for name in (*new.split(b"\0"), *changed.split(b"\0")) if name)
    told = tuple(" ".join(name.split()) for name in names)
    return told[:MOST_TOLD] or (("what git could not read",) if _COMPLAINT.search(added.stderr) else ())
