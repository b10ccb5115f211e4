"""Lends a home to each conversation: only the program's own account is in it, and only that comes back."""

import errno
import hashlib
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from autopilot.agents import safe_write as placing
from autopilot.agents.accounts.credentials import (
    Copied,
    bring_back,
    copy_in,
    is_changed,
    is_newer,
    keep_aside,
    own_file,
)
from autopilot.agents.backend import Backend
from autopilot.domain.agent_call import Call, Reply
from autopilot.domain.errors import StorageFailed
from autopilot.domain.process import Keeping, NotKeeping
from autopilot.domain.value import Value

LOOK_S = 1.0
# How long to wait for a renewal that another call made, before a refused account is believed.
PATIENCE_S = 3.0
# Conversations of one process that can be gone on with; the homes of older ones are removed.
MOST_KEPT = 32
MOST_FILES, MOST_BYTES = 2_000, 64_000_000
ASIDE = "aside"
BASES = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}
RENEWED = "the account was refused, but it was renewed meanwhile: the call is made again with the new sign-in"


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePlan:
    """
    What belongs in the home of an agent. `name` is how the user's config.toml calls it.

    `account` is the program that signs in there, `wrapped` are others whose credentials the user listed. `carry` are
    files that the user wants to be there too, below `folder` or, with `~/`, below the home.
    """

    name: str
    folder: str = ""
    account: Backend | None = None
    wrapped: tuple[Backend, ...] = ()
    carry: tuple[str, ...] = ()

    @property
    def accounts(self) -> tuple[Backend, ...]:
        return (*((self.account,) if self.account else ()), *self.wrapped)


class AccountRecord(Value, frozen=True, kw_only=True):
    """
    What a later process has to know of a home and the account files in it. It is next to the home, where no agent
    can write.

    `files` are the account files that were copied there. `contacted` are the hosts that the call was seen to reach, if
    it was `guarded`.
    """

    agent: str
    role: str
    call: str
    thread: str | None = None
    files: tuple[Copied, ...] = ()
    guarded: bool = False
    contacted: tuple[str, ...] = ()


class Home:
    """The home of one conversation while a call uses it. `issues` is what the user must know, once it is over."""

    def __init__(
        self, path: Path, record: AccountRecord, homes: "Homes", variables: Mapping[str, str] | None = None
    ) -> None:
        self.path, self.record, self.variables = path, record, dict(variables or {})
        self.thread: str | None = None
        self.issues: list[str] = []
        self._homes, self._lock = homes, threading.Lock()

    def look(self, *, over: bool) -> None:
        """Bring home what was renewed. What cannot be is told when the call is over: before, it may be half written."""
        with self._lock:
            hosts, files = self._hosts(), list[Copied]()
            for copied in self.record.files:
                settled, problem = copied, ""
                if copied.token_hosts:
                    settled, problem = bring_back(str(self.path), copied, hosts, self._homes.vault)
                if problem and over:
                    settled = self._tell(copied, problem)
                files.append(settled)
            self._write(msgspec.structs.replace(self.record, files=tuple(files)))

    def settled(self, reply: Reply) -> Reply:
        """The reply with what the user must know. An account that another call renewed meanwhile was not refused."""
        if reply.outcome == "auth" and self._was_renewed():
            reply = msgspec.structs.replace(reply, outcome="cancelled", text=f"{reply.text}\n{RENEWED}".strip())
        return msgspec.structs.replace(reply, issues=(*reply.issues, *self.issues)) if self.issues else reply

    def take_down(self, thread: str | None) -> None:
        """The conversation that can be gone on with here."""
        with self._lock:
            self.thread = thread
            self._write(msgspec.structs.replace(self.record, thread=thread))

    @property
    def unsettled(self) -> bool:
        """Whether a sign-in lies here that is neither home nor kept aside: a full disk may have taken neither."""
        return any(is_changed(str(self.path), copied) for copied in self.record.files if copied.token_hosts)

    def _was_renewed(self) -> bool:
        files = [copied for copied in self.record.files if copied.token_hosts]
        until = time.monotonic() + PATIENCE_S
        while files:
            self._homes.look_around()
            if any(map(is_newer, files)):
                return True
            if time.monotonic() > until:
                break
            time.sleep(LOOK_S / 5)
        return False

    def _tell(self, copied: Copied, problem: str) -> Copied:
        kept = keep_aside(str(self.path), copied, self._homes.vault / ASIDE)
        where = f" What the call left is kept in {kept}." if kept else ""
        self.issues.append(
            f"{self.record.agent}: the sign-in that call {self.record.call} left was not taken over: {problem}. "
            f"Your {copied.source} is as it was.{where}"
        )
        if not kept and is_changed(str(self.path), copied):
            return copied
        return msgspec.structs.replace(copied, token_hosts=())  # it is told once

    def _hosts(self) -> frozenset[str] | None:
        """What the call reached, as far as anybody saw; None where its network was not guarded."""
        seen, record = self._homes.contacted(self.record.call), self.record
        if seen is None:
            return frozenset(record.contacted) if record.guarded else None
        known = frozenset(record.contacted) | seen
        self._write(msgspec.structs.replace(record, guarded=True, contacted=tuple(sorted(known))))
        return known

    def _write(self, record: AccountRecord) -> None:
        if record != self.record:
            self.record = record
            with suppress(OSError):
                write_record(self.path, record)


class Homes:
    """
    The homes of one repository's runs, below `folder`; `vault` is where sign-ins are kept that were not taken over.

    `carry` has the files by the name of the agent that the user wants its homes to have. `contacted` tells which hosts
    a call reached, also one of an earlier process; None where its network was open. `keeping` knows calls that go on
    though the process that made them is gone. `remove` takes away a folder whatever an agent did to it.
    """

    def __init__(
        self,
        folder: Path,
        vault: Path,
        *,
        carry: Mapping[str, tuple[str, ...]] | None = None,
        contacted: Callable[[str], frozenset[str] | None] = lambda _: None,
        keeping: Keeping = NotKeeping(),  # noqa: B008 - it holds nothing
        remove: Callable[[Path], None] = lambda path: shutil.rmtree(path, ignore_errors=True),
    ) -> None:
        self.folder, self.vault, self.carry, self.contacted = folder, vault, dict(carry or {}), contacted
        self._keeping, self._remove = keeping, remove
        self._lent: list[Home] = []
        self._left: list[Path] = []
        self._lock = threading.Lock()

    def plan(self, backend: Backend) -> HomePlan:
        name = backend.name.partition(":")[0]
        return HomePlan(name=name, folder=backend.folder, account=backend, carry=self.carry.get(name, ()))

    def plan_of_command(self, name: str, known: Collection[Backend], account: Backend | None = None) -> HomePlan:
        """
        The home of a command of the user's: its account, if it is a program we know, and what they list.

        Credentials among that go by the rules of their program, so that a renewed token is not lost.
        """
        carry = tuple(file.removeprefix("~/") for file in self.carry.get(name, ()))
        wrapped = tuple(one for one in known if {*one.credentials} & {*carry} and one is not account)
        return HomePlan(name=name, account=account, wrapped=wrapped, carry=carry)

    @contextmanager
    def lend(self, call: Call, run: str, plan: HomePlan) -> Iterator[Home]:
        """
        The home of a new conversation, or that of the one the call goes on with.

        What the program renews is brought home while it runs, and when this is left.
        """
        try:
            home = self._opened(call, run, plan)
        except OSError as error:
            raise StorageFailed(
                f"The home of an agent's call below {str(self.folder)!r} could not be made: {error}.",
                why="An agent works in a home of its own, never in yours.",
                do="Free some space or fix the permissions, then run `autopilot resume`.",
            ) from error
        over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(home, over), daemon=True)
        with self._lock:
            self._lent.append(home)
        watch.start()
        try:
            yield home
        finally:
            over.set()
            watch.join()
            home.look(over=True)
            with self._lock:
                self._lent.remove(home)
            self._put_away(home)

    def bring_home(self, held: Collection[str] = ()) -> tuple[str, ...]:
        """What killed processes left, brought home; what could not be. Calls that are `held` still go on."""
        told: list[str] = []
        for record, path in self._known("*"):
            home = Home(path, record, self)
            home.look(over=record.call not in held)
            told += home.issues
        return tuple(told)

    def clear(self, sparing: str) -> None:
        """Remove the homes of every run but one."""
        for place in self.folder.iterdir() if self.folder.is_dir() else ():
            if place.name != named(sparing):
                self.end(place.name)

    def end(self, run: str) -> None:
        """Remove the homes of a run, but for those with a sign-in that could be put nowhere else."""
        place = self.folder / named(run)
        kept = [path for record, path in self._known(place.name) if Home(path, record, self).unsettled]
        if not kept:
            self._remove(place)
            return
        spared = {*kept, *map(record_file, kept)}
        for path in place.iterdir():
            if path not in spared:
                self._remove(path)

    def look_around(self) -> None:
        """Bring home what other calls of this process renewed just now."""
        with self._lock:
            lent = tuple(self._lent)
        for home in lent:
            home.look(over=False)

    def _opened(self, call: Call, run: str, plan: HomePlan) -> Home:
        place = self.folder / named(run)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        path, record = self._of_thread(call, place, plan) or self._of_call(call, place, plan)
        variables = home_variables(path, plan)
        if record is not None and self._keeping.place(call.id, call.prompt) is not None:
            return Home(path, record, self, variables)
        left = self._settled(path, record) if record is not None else []
        thread = record.thread if record and call.thread and record.thread == call.thread.id else None
        files, issues = self._furnished(path, plan, goes_on=thread is not None)
        fresh = AccountRecord(agent=plan.name, role=call.role, call=call.id, thread=thread, files=files)
        write_record(path, fresh)
        home = Home(path, fresh, self, variables)
        home.issues += (*left, *issues)
        return home

    def _settled(self, path: Path, record: AccountRecord) -> list[str]:
        """What is to be told of an earlier call here. Raises OSError where its sign-in could be put nowhere else."""
        before = Home(path, record, self)
        before.look(over=True)
        if before.unsettled:
            raise OSError(errno.EBUSY, " ".join(before.issues))
        return before.issues

    def _furnished(self, path: Path, plan: HomePlan, *, goes_on: bool) -> tuple[tuple[Copied, ...], list[str]]:
        """An agent may have put links in the way of its next call: then that begins in an empty home after all."""
        if goes_on:
            with suppress(OSError):
                return furnish(str(path), plan, os.environ)
        self._remove(path)
        path.mkdir(mode=0o700)
        return furnish(str(path), plan, os.environ)

    def _of_thread(self, call: Call, place: Path, plan: HomePlan) -> tuple[Path, AccountRecord] | None:
        """The home of the conversation that the call goes on with: of the same run, role and agent, or none."""
        for record, path in self._known(place.name) if call.thread else ():
            same = (record.agent, record.role) == (plan.name, call.role)
            if same and call.thread and record.thread == call.thread.id:
                return path, record
        return None

    def _of_call(self, call: Call, place: Path, plan: HomePlan) -> tuple[Path, AccountRecord | None]:
        key = hashlib.sha256(f"{plan.name}\0{call.role}\0{call.id}".encode()).hexdigest()[:24]
        return place / key, read_record(place / key)

    def _known(self, run: str) -> Iterator[tuple[AccountRecord, Path]]:
        for file in sorted(self.folder.glob(f"{run}/*.json")):
            record = read_record(file.with_suffix(""))
            if record is not None:
                yield record, file.with_suffix("")

    def _watch(self, home: Home, over: threading.Event) -> None:
        while not over.wait(LOOK_S):
            home.look(over=False)

    def _put_away(self, home: Home) -> None:
        """One that nobody can go on with is removed, and the oldest where there are too many."""
        if home.unsettled:
            return
        with self._lock:
            self._left = [path for path in self._left if path != home.path]
            self._left.append(home.path)
            gone = [home.path] if home.thread is None else self._left[:-MOST_KEPT]
            self._left = [path for path in self._left if path not in gone]
        for path in gone:
            self._remove(path)
            record_file(path).unlink(missing_ok=True)


def furnish(home: str, plan: HomePlan, environment: Mapping[str, str]) -> tuple[tuple[Copied, ...], list[str]]:
    """Put into a home what belongs there; the credentials among it, and what could not be put there."""
    files, issues = list[Copied](), list[str]()
    for backend in plan.accounts:
        for path, source in _needed(home, backend, environment, wanted=backend in plan.wrapped):
            try:
                own = own_file(source)
            except FileNotFoundError:
                continue
            except OSError as error:
                issues.append(f"{plan.name}: the agent was not given {source}: {error.strerror}.")
                continue
            copied = copy_in(home, path, source, own, backend.withheld)
            rule = {"identity": backend.identity, "token_hosts": backend.token_hosts}
            files.append(msgspec.structs.replace(copied, **rule))
    signed = {path for backend in plan.accounts for path in backend.credentials}
    for name in plan.carry:
        below = name.removeprefix("~/") if name.startswith("~/") or not plan.folder else f"{plan.folder}/{name}"
        if below not in signed:
            issues += _carried(home, plan, below, environment)
    return tuple(files), issues


def _needed(home: str, backend: Backend, environment: Mapping[str, str], *, wanted: bool) -> Iterator[tuple[str, str]]:
    """Writes the settings, then tells the credentials: none where a variable holds the key, unless they are wanted."""
    written = ""
    for file in backend.settings:
        try:
            own = own_file(own_place(file.path, backend, environment)).decode("utf-8", "replace")
        except OSError:
            own = ""
        text = file.text(environment, own)
        placing.place(home, file.path, text.encode())
        written += text
    by_variable = any(environment.get(name) for name in backend.sign_in.instead)
    if not wanted and (by_variable or backend.sign_in.kind not in written):
        return
    for path in backend.credentials:
        yield path, own_place(path, backend, environment)


def own_place(path: str, backend: Backend, environment: Mapping[str, str]) -> str:
    """Where a file of a program lies in the user's own home, wherever they have put its folder."""
    moved = environment.get(backend.folder_variable) if backend.folder_variable else None
    if moved and path.startswith(f"{backend.folder}/"):
        return f"{moved}/{path.removeprefix(f'{backend.folder}/')}"
    for variable, usual in BASES.items():
        base = environment.get(variable, "")
        if base.startswith("/") and path.startswith(f"{usual}/"):
            return f"{base}/{path.removeprefix(f'{usual}/')}"
    return f"{environment.get('HOME') or '/nonexistent'}/{path}"


def home_variables(path: Path, plan: HomePlan) -> dict[str, str]:
    """All by which a program finds its own files: each leads into the home."""
    bases = {name: f"{path}/{below}" for name, below in BASES.items()}
    own = {one.folder_variable: f"{path}/{one.folder}" for one in plan.accounts if one.folder_variable}
    return {"HOME": str(path), **bases, **own}


def _carried(home: str, plan: HomePlan, below: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Copy a file or a folder of the user's; what the agent makes of the copy stays in its home."""
    user_home = environment.get("HOME") or "/nonexistent"
    source = Path(own_place(below, plan.account, environment) if plan.account else f"{user_home}/{below}")
    left = MOST_BYTES
    try:
        files = [source] if source.is_file() else _files(source)
        if len(files) > MOST_FILES:
            yield f"{plan.name}: {source} was not carried whole: it has more than {MOST_FILES:,} files."
        for file in files[:MOST_FILES]:
            left -= file.stat().st_size
            if left < 0:
                yield f"{plan.name}: {source} was not carried whole: it is larger than {MOST_BYTES:,} bytes."
                return
            inside = "" if file == source else f"/{file.relative_to(source)}"
            mode = 0o500 if os.access(file, os.X_OK) else 0o400
            placing.place(home, f"{below}{inside}", file.read_bytes(), mode)
    except OSError as error:
        yield f"{plan.name}: {source} was not carried: {error.strerror}."


def _files(folder: Path) -> list[Path]:
    """The plain files below a folder, none through a link."""
    if not folder.is_dir():
        raise FileNotFoundError(2, "it is not there")
    found = (Path(top, name) for top, _, names in os.walk(folder) for name in sorted(names))
    return list(islice((path for path in found if path.is_file() and not path.is_symlink()), MOST_FILES + 1))


def named(run: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", run) or "unnamed"


def record_file(home: Path) -> Path:
    return home.with_name(f"{home.name}.json")


def read_record(home: Path) -> AccountRecord | None:
    try:
        return msgspec.json.decode(record_file(home).read_bytes(), type=AccountRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_record(home: Path, record: AccountRecord) -> None:
    """Whole, or as before."""
    name = f".{home.name}.new"
    placing.place(str(home.parent), name, msgspec.json.encode(record))
    (home.parent / name).replace(record_file(home))
