"""The workspace of a run: our own repository, agents' clones, disposable checkouts, and the way home."""

import hashlib
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from autopilot.domain.errors import RepositoryInvalid
from autopilot.domain.evidence import Change, FileTexts
from autopilot.domain.process import Processes, Ran
from autopilot.domain.settings import Limits
from autopilot.files.home_files import folder as home_folder
from autopilot.ports.agents import Landing, Merging, Taken
from autopilot.text.bounded import remember
from autopilot.text.checksum import sealed
from autopilot.workspace.agent_git.history import History
from autopilot.workspace.agent_git.skeleton import Skeleton
from autopilot.workspace.agent_git.veil import Veil
from autopilot.workspace.checkouts import Checkouts
from autopilot.workspace.clones import Listing, Slot, clear_locks
from autopilot.workspace.dependencies.link import Nothing, SetUp, Source, lay_links, scripts_in
from autopilot.workspace.file_texts import changed_texts, wanted_texts
from autopilot.workspace.files.beneath import opened, write_atomic
from autopilot.workspace.files.planning_files import Homeward, checked, overlay, snapshot, take_back
from autopilot.workspace.files.removal import remove
from autopilot.workspace.files.screenshots import FileAlbum
from autopilot.workspace.files.written import Written
from autopilot.workspace.git import COMMON, OURS, Git, our_env, storage_errors, user_env
from autopilot.workspace.landing import Lander
from autopilot.workspace.locks import PATIENCE_S
from autopilot.workspace.merge_commits import merge
from autopilot.workspace.own_repository import MOST_KNOWN, Identity, Store
from autopilot.workspace.portions import portion, tree_with
from autopilot.workspace.project_folder import Within
from autopilot.workspace.user_files import find_top
from autopilot.workspace.user_repository import Start, UserRepository, read_start

Run = Callable[[str, str], Ran]
RUN_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9]))*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """`root` is the project's folder in the user's checkout, `cache` where clones may be put: not below the root."""

    root: Path
    cache: Path

    @property
    def top(self) -> Path:
        """The top of the user's checkout; the project's folder itself where that is in no repository."""
        try:
            return find_top(self.root)
        except RepositoryInvalid:
            return self.root.resolve()

    @property
    def within(self) -> Within:
        below = self.root.resolve().relative_to(self.top).as_posix()
        return Within("" if below == "." else below)

    @property
    def home(self) -> Path:
        return self.root / ".autopilot"

    @property
    def pool(self) -> Path:
        """Where this repository's clones live."""
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", self.root.name)[:40]
        return self.cache / f"{name}-{hashlib.sha256(str(self.root).encode()).hexdigest()[:12]}"


class GitWorkspace:
    """
    Fulfils the protocol `Workspace` with git.

    `env` is the user's environment: it decides what their own repository is read with, and nothing else. Sequential
    work uses slot 0; each phase run at the same time gets a workspace of its own slot from `in_slot`. What goes into
    the user's folder is written by one thread at a time.
    """

    def __init__(
        self, places: Places, processes: Processes, run: str, env: Mapping[str, str], *, slot: int = 0
    ) -> None:
        if not RUN_NAME.fullmatch(run) or run.endswith(".lock"):
            raise ValueError(f"not a name for a run: {run!r}")
        self._places = Places(root=places.root.resolve(), cache=places.cache.resolve())
        self._top, self._within = self._places.top, self._places.within
        self._processes, self._run, self._env, self._slot_number = processes, run, dict(env), slot
        self._trees: dict[str, str] = {}
        self._changes: dict[tuple[str, str], Change] = {}
        self._listings: dict[str, Listing] = {}
        self._planning: dict[str, str] = {}
        self._source: Source = Nothing()
        self._limits = Limits()
        self._turn = threading.RLock()
        self._written = Written(self._notes / f"{run}.written.json")

    def supply(self, source: Source) -> None:
        """Where clones and checkouts get their dependency folders from. To be said before the first is laid out."""
        self._source = source

    def bound(self, limits: Limits) -> None:
        """How much one agent may leave to be committed. To be said before the first folder is laid out."""
        self._limits = limits

    def set_up(self, command: str, names: tuple[str, ...], run: Run, tell: Callable[[str], None]) -> SetUp:
        """Folders made by a command of the user's instead, in a place of their own."""
        scripts = frozenset(scripts_in(command))

        def lay(place: Path, commit: str) -> None:
            with storage_errors("laying out a place for the set-up"):
                remove(place)
                self._slot_at(place).reset(self._with_own_scripts(commit, scripts))
                self._within.laid(place)

        return SetUp(
            command=command,
            names=names,
            folder=self.installed,
            manifests=self._store.top,
            lay=lay,
            run=run,
            tell=tell,
            within=self._within,
        )

    def _with_own_scripts(self, commit: str, scripts: Collection[str]) -> str:
        """The commit with these files as the run found them: the user agreed to those, and not to an agent's."""
        changed = self._store.difference(commit, self.start().base).touched
        wanted = [touched for touched in changed if self._store.named(touched.path) in scripts]
        if not wanted:
            return commit
        tree = tree_with(self._store, commit, wanted, f"set-up-{commit}")
        return self._store.commit(tree, commit, "set-up with the scripts that the run began with")

    def in_slot(self, slot: int) -> "GitWorkspace":
        """The same run with another folder for its agent."""
        other = GitWorkspace(self._places, self._processes, self._run, self._env, slot=slot)
        other.supply(self._source)
        other.bound(self._limits)
        return other

    @property
    def run(self) -> str:
        return self._run

    @property
    def places(self) -> Places:
        return self._places

    @property
    def git(self) -> Git:
        """Git in our own repository."""
        return self._store.git

    @property
    def within(self) -> Within:
        """Where in the repository, and so in every clone and checkout, the project is."""
        return self._within

    @property
    def folder(self) -> str:
        """Where this slot's agent works, whether it is laid out yet or not."""
        return str(self._within.below(self._slot_folder))

    @property
    def history(self) -> str:
        """What must be readable, and need not be writable, for `git log` in checkouts to work."""
        return str(self._history.folder)

    def history_for(self, folder: str) -> str:
        """The same for whoever stands in the folder: those who do the work see no planning files in it."""
        return str((self._shown if self._is_working(folder) and self._veil else self._history).folder)

    def brought_along(self, folder: str, names: Collection[str]) -> tuple[str, ...]:
        """Those of the names that the user's repository had; in a checkout, where nobody makes any, all of them."""
        if not self._is_working(folder):
            return tuple(names)
        place = "" if Path(folder) == self._within.above(Path(folder)) else self._within.prefix
        base = self.start().base
        tree = f"{base}:{place}" if place else base
        listed = self._store.git.run("ls-tree", "-z", "--name-only", tree, ok=(0, 128)).stdout.split(b"\0")
        return tuple(name for name in names if name.encode() in listed)

    @property
    def album(self) -> FileAlbum:
        """The pictures of the app, in the user's tree."""
        return FileAlbum(self._places.root, self._notes / "baselines.json")

    @property
    def installed(self) -> Path:
        """Where set-up commands leave dependency folders."""
        return self._places.pool / "installed"

    def ignores(self, name: str) -> bool:
        """Whether a folder of the user's checkout is one their git leaves out."""
        return self._user.ignores(name)

    def start(self) -> Start:
        """Where the run begins; the same for the whole life of the run, however often it is asked."""
        with storage_errors("setting up .autopilot"):
            if self._start_record.exists():
                return read_start(self._start_record)
            shape, start = self._user.shape(), self._user.start()
            with home_folder(self._places.home, make=True):
                pass
            self._user.ignore(self._places.home.name, shape.exclude)
            self._store.create(shape.object_format)
            self._store.fetch(self._top, start.base, f"refs/autopilot/base/{self._run}")
            self._save_start(start)
            return start

    def recover(self, sparing: Collection[str] = ()) -> None:
        """
        Clear what a killed process left. Only for the holder of the run's lock.

        In the folders of `sparing` somebody still works.
        """
        with storage_errors("clearing up after an interrupted run"):
            self._store.recover()
            clear_locks(self._trees_folder)
            self._checkouts.recover([str(self._within.above(Path(folder))) for folder in sparing])

    def snapshot_planning(self) -> dict[str, str]:
        """The user's planning files, read once a run and kept, so that a resumed run sees the same."""
        with storage_errors("keeping the planning files"):
            if self._store.resolve(self._planning_ref) is None:
                self._store.save_files(self._planning_ref, snapshot(self._places.root))
        return self.planning_files()

    def planning_files(self) -> dict[str, str]:
        """Once taken, the snapshot does not change, so it is read once."""
        self._planning = self._planning or self._store.load_files(self._planning_ref)
        return dict(self._planning)

    def commit_planning(self, commit: str, files: Mapping[str, str], message: str) -> str:
        if not self._store.git.out("ls-tree", "-z", commit, "--", self._within.whole(".planning")):
            return commit
        # A file the user changed stays out: it would keep the whole commit from landing.
        with self._turn:
            kept = self._homeward().acceptable(checked(files))
        return self._store.add_files(commit, kept, message) if kept else commit

    def commit_files(self, commit: str, files: Mapping[str, str], message: str) -> Change:
        with storage_errors("committing"):
            return self._store.change(commit, self._store.add_files(commit, files, message))

    def write_planning(self, files: Mapping[str, str]) -> tuple[str, ...]:
        with self._turn, storage_errors("writing to .planning"):
            return self._homeward().write(files)

    def clone(self, commit: str, files: Mapping[str, str]) -> str:
        with storage_errors("laying out a clone"):
            self._slot.set_aside(self._places.pool / "aside")
            return self._lay_out(self._slot, commit, files)

    def seal(self, folder: str, base: str, message: str) -> Change:
        with storage_errors("committing"):
            return self._slot_at(Path(folder)).seal(base, message)

    def portion(self, whole: Change, paths: Collection[str], onto: str, message: str) -> Change:
        with storage_errors("committing"):
            return portion(self._store, whole, paths, onto, message)

    def reopen(self) -> str | None:
        return self.folder if self._slot.is_whole() and self._within.is_plain(self._slot.folder) else None

    def sealed(self, base: str, step: str) -> Change | None:
        commit = self._store.sealed(base, step)
        if commit is None:
            return None
        return msgspec.structs.replace(self._store.change(base, commit), left_out=self._store.left_out(commit))

    def keep_interrupted(self, folder: str, base: str, step: str) -> str | None:
        with storage_errors("keeping interrupted work"):
            return self._slot_at(Path(folder)).keep_interrupted(base, step)

    def planning_changes(self, folder: str) -> Taken:
        slot = self._slot_at(Path(folder))
        laid, plain = slot.laid(), self._within.is_plain(slot.folder)
        return take_back(Path(folder) if plain else slot.folder / "gone", laid.planning if laid else {})

    @contextmanager
    def checkout(self, commit: str, files: Mapping[str, str]) -> Iterator[str]:
        with self._checkouts.new() as slot:
            with storage_errors("laying out a checkout"):
                place = self._lay_out(slot, commit, files)
            yield place

    @contextmanager
    def taken_up(self, folder: str) -> Iterator[str]:
        with self._checkouts.taken_up(self._within.above(Path(folder))) as slot:
            yield str(self._within.below(slot.folder))

    def tree(self, commit: str) -> str:
        if commit not in self._trees:
            return remember(self._trees, commit, self._store.tree(commit), MOST_KNOWN)
        return self._trees[commit]

    def change(self, base: str, commit: str) -> Change:
        if (base, commit) not in self._changes:
            return remember(self._changes, (base, commit), self._store.change(base, commit), MOST_KNOWN)
        return self._changes[base, commit]

    def read(self, commit: str, path: str) -> str | None:
        return self._store.read(commit, path)

    def blobs(self, commit: str, paths: tuple[str, ...]) -> dict[str, str]:
        """The ids of those of the project's files that the commit has as plain ones."""
        return self._store.blobs(commit, paths)

    def diff(self, base: str, commit: str) -> str:
        return self._store.diff(base, commit)

    def texts(self, base: str, commit: str) -> tuple[FileTexts, ...]:
        return changed_texts(self._store, base, commit)

    def wanted_texts(self, commit: str, wanted: Callable[[str], bool]) -> dict[str, str]:
        return wanted_texts(self._store, commit, wanted)

    def revert(self, commit: str, base: str, message: str) -> str:
        return self._store.revert(commit, base, message)

    def branch(self, name: str, commit: str) -> str:
        with self._turn:
            return self._user.publish(self._store, name, commit, self._user.shape().common_dir)

    def merge(self, onto: str, commit: str, message: str) -> Merging:
        with storage_errors("merging"):
            return merge(self._store, onto, commit, message)

    def land(self, commit: str) -> Landing:
        with self._turn, storage_errors("landing"):
            lander = self._lander(PATIENCE_S)
            landing = lander.land(self.start(), commit)
            if not landing.landed:
                lander.withdraw(commit, self._wrote)
            return landing

    def _wrote(self, path: str, content: bytes) -> bool:
        """Whether the file is a planning file as we wrote it, and what was there when the run began is in HEAD."""
        name, text = self._within.local(path), content.decode("utf-8", "replace")
        before = self.planning_files().get(name)
        return self._written.holds(name, text) and (before is None or before == self._user.committed(path))

    def dirty(self) -> tuple[str, ...]:
        return self._user.dirty()

    def file_sha256(self, path: str) -> str | None:
        return self._user.file_sha256(path)

    @property
    def _planning_ref(self) -> str:
        return f"refs/autopilot/planning/{self._run}"

    @property
    def _notes(self) -> Path:
        return self._places.home / "repo.git" / "autopilot"

    @property
    def _start_record(self) -> Path:
        return self._notes / f"{self._run}.json"

    def _save_start(self, start: Start) -> None:
        self._notes.mkdir(exist_ok=True)
        with opened(self._notes) as folder:
            write_atomic(
                folder, self._start_record.name, sealed(msgspec.json.format(msgspec.json.encode(start), indent=2))
            )

    def _lander(self, patience_s: float) -> Lander:
        return Lander(self._user, self._store, self._places.home / "landing", patience_s)

    def _homeward(self) -> Homeward:
        return Homeward(self._places.root, self._written, self.planning_files())

    def _slot_at(self, folder: Path) -> Slot:
        folder, aside = self._within.above(folder), self._source.names
        if self._is_working(str(folder)) and self._veil:
            skeleton, veil = self._veiled_skeleton, self._veil
            return Slot(folder, self._store, self._shown, skeleton, self._listings, aside, veil, self._limits)
        return Slot(folder, self._store, self._history, self._skeleton, self._listings, aside, limits=self._limits)

    def _is_working(self, folder: str) -> bool:
        return Path(folder).resolve().is_relative_to(self._trees_folder)

    @cached_property
    def _user(self) -> UserRepository:
        git = Git(
            processes=self._processes,
            cwd=self._top,
            env=user_env(self._env),
            flags=COMMON,
        )
        return UserRepository(self._top, git, self._within)

    @cached_property
    def _store(self) -> Store:
        folder = self._places.home / "repo.git"
        git = Git(
            processes=self._processes,
            cwd=self._top,
            env=our_env(self._env.get("PATH", "/usr/bin:/bin")) | {"GIT_DIR": str(folder)},
            flags=OURS,
        )
        return Store(folder, git, self._run, lambda: self._identity, str(self._slot_number), within=self._within)

    @cached_property
    def _identity(self) -> Identity:
        return self._user.identity()

    @cached_property
    def _history(self) -> History:
        return History(self._places.pool / "history.git", self._store.git)

    @cached_property
    def _skeleton(self) -> Skeleton:
        shallow = self._store.folder / "shallow"
        return Skeleton(
            self._store.git, self._history.objects, shallow, aside=self._source.names, ours=self._within.ours
        )

    @cached_property
    def _slot(self) -> Slot:
        return self._slot_at(self._slot_folder)

    @property
    def _slot_folder(self) -> Path:
        return self._trees_folder / str(self._slot_number)

    @property
    def _trees_folder(self) -> Path:
        return self._places.pool / "trees"

    @cached_property
    def _veil(self) -> Veil | None:
        """Only where planning files were ever committed; what a run commits changes nothing about that."""
        veil = Veil(self._store, self.start().base, self._slot_number)
        return veil if veil.is_needed() else None

    @cached_property
    def _shown(self) -> History:
        return History(self._places.pool / "shown.git", self._store.git)

    @cached_property
    def _veiled_skeleton(self) -> Skeleton:
        return Skeleton(
            self._store.git, self._shown.objects, None, drops=True, aside=self._source.names, ours=self._within.ours
        )

    @cached_property
    def _checkouts(self) -> Checkouts:
        return Checkouts(self._places.pool / "checkouts", self._slot_at)

    def _lay_out(self, slot: Slot, commit: str, files: Mapping[str, str]) -> str:
        """The project's folder in it."""
        listing = slot.reset(commit)
        place = self._within.laid(slot.folder)
        planning = overlay(place, files)
        lay_links(slot.folder, self._source.links(commit))
        slot.finish(commit, listing, planning)
        return str(place)
