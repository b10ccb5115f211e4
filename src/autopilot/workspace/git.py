"""Runs git so that nothing of the surroundings decides what it does: no hooks, no foreign config, no prompts."""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from autopilot.domain.errors import AgentUnavailable, RepositoryInvalid, StorageFailed
from autopilot.domain.process import Job, Processes, Ran, killer

TIMEOUT_S = 900.0
MAX_OUTPUT = 256_000_000
NO_HOME = "/nonexistent"
COMMON = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.fsync=all", "gc.auto=0", "maintenance.auto=false",
    "submodule.recurse=false", "fetch.recurseSubmodules=false", "commit.gpgsign=false", "advice.detachedHead=false",
    "advice.addEmbeddedRepo=false", "core.quotePath=false", "protocol.ext.allow=never",
    "core.alternateRefsCommand=true", "transfer.bundleURI=false",
)  # fmt: skip
OURS = (
    *COMMON, "core.safecrlf=false", "core.trustctime=true", "core.checkStat=default", "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null", "core.autocrlf=false", "core.untrackedCache=false", "core.splitIndex=false",
    "merge.directoryRenames=false",
)  # fmt: skip
# They take no lock that a kill would leave behind, so one that was killed from outside can simply be run again.
LOCKLESS = frozenset({
    "ls-tree", "ls-files", "rev-parse", "cat-file", "diff-tree", "hash-object", "merge-base", "check-ignore",
    "rev-list", "log", "for-each-ref", "commit-tree", "merge-tree", "status", "diff-files",
})  # fmt: skip
# Objects that are missing are not fetched: a remote can name a program.
CLOSED = {"GIT_ALLOW_PROTOCOL": "-", "GIT_NO_LAZY_FETCH": "1"}
AGAIN = 3
FULL = ("No space left on device", "Disk quota exceeded", "File too large")
# What git says when it is our own repository that cannot be written.
OURS_FAILED = ("repository database", "unable to write", "unable to create", "index file")
BARRED = ("Permission denied", "Read-only file system", "Operation not permitted")
STORAGE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG}


def our_env(path: str) -> dict[str, str]:
    """The environment of git in our own repository: nothing of the user's."""
    return {
        "PATH": path,
        "LC_ALL": "C",
        "HOME": NO_HOME,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def user_env(env: Mapping[str, str]) -> dict[str, str]:
    """The user's own environment without what would point git at another repository."""
    kept = {k: v for k, v in env.items() if not k.startswith("GIT_") or k.startswith("GIT_CONFIG")}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """git with a fixed folder, environment and set of flags."""

    processes: Processes
    cwd: Path
    env: dict[str, str]
    flags: tuple[str, ...]

    def at(self, **env: Path | str) -> "Git":
        """The same git with more in its environment, such as GIT_INDEX_FILE."""
        return replace(self, env={**self.env, **{name: str(value) for name, value in env.items()}})

    def run(self, *words: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,), max_output: int = MAX_OUTPUT) -> Ran:
        """Raises `StorageFailed` when git ends with another exit code than those in `ok`."""
        flags = [word for flag in self.flags for word in ("-c", flag)]
        job = Job(
            argv=("git", *flags, *words),
            cwd=str(self.cwd),
            env=self.env,
            stdin=stdin,
            timeout_s=TIMEOUT_S,
            max_output=max_output,
        )
        try:
            ran = self.processes.run(job)
            for _ in range(AGAIN):
                if not (words[0] in LOCKLESS and killer(ran.exit_code)):
                    break
                ran = self.processes.run(job)
        except AgentUnavailable as error:
            raise RepositoryInvalid(
                "git is not installed", why="Every step of a run is a git commit.", do="Install git 2.36 or newer."
            ) from error
        if ran.exit_code not in ok:
            raise git_failure(words[0], ran)
        return ran

    def out(self, *words: str, stdin: bytes = b"") -> bytes:
        return self.run(*words, stdin=stdin).stdout

    def text(self, *words: str, stdin: bytes = b"") -> str:
        return self.out(*words, stdin=stdin).decode("utf-8", "replace").strip()


def is_ours_to_fail(ran: Ran) -> bool:
    """Whether it was the disk or our repository, and not the files git was to look at."""
    # Names stand in quotes, and an agent chooses them.
    said = re.sub(r"'.*'", "", ran.stderr.decode("utf-8", "replace")).lower()
    return ran.exit_code is None or any(sign.lower() in said for sign in (*FULL, *OURS_FAILED))


def git_failure(verb: str, ran: Ran) -> StorageFailed:
    said = "; ".join(ran.stderr.decode("utf-8", "replace").split("\n")).strip("; ")
    if any(sign in said for sign in FULL):
        what, do = f"git {verb} found the disk full", "Free some space, then run `autopilot resume`."
    elif any(sign in said for sign in BARRED):
        what, do = f"git {verb} may not write", "Make the folder writable, then run `autopilot resume`."
    elif signal := killer(ran.exit_code):
        what, do = f"git {verb} was killed from outside ({signal})", "Run `autopilot resume`."
    elif ran.exit_code is None:
        what, do = f"git {verb} took longer than {TIMEOUT_S:.0f} s", "See what keeps the disk busy, then resume."
    else:
        what, do = f"git {verb} failed with exit code {ran.exit_code}", "Run `autopilot doctor`, then resume."
    return StorageFailed(what, why=said[-500:] or "It gave no reason.", do=do)


@contextmanager
def storage_errors(doing: str) -> Iterator[None]:
    """Turns a full disk, a read-only folder and their like into an error the user can act on."""
    try:
        yield
    except OSError as error:
        if error.errno not in STORAGE_ERRORS:
            raise
        raise StorageFailed(
            f"{doing} failed: {error.strerror}",
            why=f"{error.filename or 'The disk'} could not be written; nothing half-made was kept.",
            do="Free space or make it writable, then run `autopilot resume`.",
        ) from error
