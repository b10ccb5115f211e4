"""Which coding agents are installed: found on PATH and asked for their version, nothing else."""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from autopilot.agents.accounts.credentials import LARGEST
from autopilot.agents.accounts.homes import own_place
from autopilot.agents.backend import Backend
from autopilot.agents.backends.catalogue import BY_NAME, PREFERRED
from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.process import Job, Processes, Ran
from autopilot.domain.request import Check

KNOWN = tuple(backend.name for backend in PREFERRED)
SECONDS = 10.0
# What signs in at each program where starting it is not all there is to do.
SIGNING_IN: Mapping[str, str] = {
    "claude": "start `claude` and type /login",
    "codex": "run `codex login`",
    "opencode": "run `opencode auth login`",
    "goose": "run `goose configure`",
    "qwen": "start `qwen` and type /auth",
    "copilot": "start `copilot` and type /login",
    "pi": "start `pi` and type /login",
}
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


def agent_checks(
    processes: Processes, environment: Mapping[str, str], is_foreign: Callable[[str], bool] = lambda _: False
) -> Iterator[Check]:
    """One line for each that is there, or one that says that none is. A foreign program is named and not started."""
    path = environment.get("PATH", os.defpath)
    found = [(backend, place) for backend in PREFERRED if (place := place_of(backend, environment))]
    for backend, place in found:
        if is_foreign(place):
            yield Check(level="ok", what="agent", found=f"{backend.name} at {place}, of the repository (not asked)")
            continue
        ran = _asked(processes, place, path)
        if ran is None or ran.exit_code not in {0, None}:
            yield _broken(backend, place, ran)
            continue
        said = _version(ran)
        told = f"{backend.name} {said}" if said else f"{backend.name} (does not tell its version)"
        yield _account(backend, f"{told} at {place}{_beside(said, backend)}", environment)
    if not found:
        yield Check(
            level="warn",
            what="agent",
            found=f"none of {', '.join(KNOWN)} is on PATH",
            fix="Install one, or bring your own with --agent exec:'COMMAND' (docs/agents.md).",
        )


def place_of(backend: Backend, environment: Mapping[str, str]) -> str | None:
    """Where the program is, None if it is not on PATH."""
    return shutil.which(backend.program, path=environment.get("PATH", os.defpath))


def sign_of(backend: Backend, environment: Mapping[str, str]) -> str | None:
    """What shows that it is signed in: a variable that is set, or a file that is there; neither is looked into."""
    variable = next((name for name in backend.sign_in.variables if environment.get(name)), None)
    return variable or next(
        (f"~/{file}" for file in backend.sign_in.files if Path(own_place(file, backend, environment)).is_file()), None
    )


def _beside(said: str | None, backend: Backend) -> str:
    """A note where the version is another one than the adapter was made on, by its first number."""
    differs = said and said.split(".")[0] != backend.tested.split(".")[0]
    return f" (made for {backend.tested})" if differs else ""


def _account(backend: Backend, told: str, environment: Mapping[str, str]) -> Check:
    """Whether the agent seems signed in; an account in the system's own keychain cannot be given to a call."""
    sign, variable = sign_of(backend, environment), next(iter(backend.sign_in.variables), "")
    if sign is None:
        return Check(
            level="warn",
            what="agent",
            found=f"{told}, no sign of an account",
            fix=f"Start `{backend.program}` once and sign in. An account in the system's keychain cannot be copied "
            f"into the home of a call: set {variable} to a token of it instead.",
        )
    if trouble := _not_plain(backend, sign, environment):
        return Check(
            level="warn",
            what="agent",
            found=f"{told}, but agents cannot be given {sign}: {trouble}",
            fix=f"Put a plain file there that has no other name, or set {variable}.",
        )
    return Check(level="ok", what="agent", found=f"{told}, signed in by {sign}")


def _not_plain(backend: Backend, sign: str, environment: Mapping[str, str]) -> str:
    """Why the file that shows an account cannot be copied; empty where it can, or where a variable is the sign."""
    file = sign.removeprefix("~/")
    if file not in backend.credentials:
        return ""
    try:
        found = os.lstat(own_place(file, backend, environment))
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return "it is a link or has another name"
    return f"it is larger than {LARGEST:,} bytes" if found.st_size > LARGEST else ""


def _broken(backend: Backend, place: str, ran: Ran | None) -> Check:
    text = (ran.stderr or ran.stdout).decode("utf-8", "replace").strip() if ran else "it cannot be started"
    said = text.partition("\n")[0] or f"exit code {ran.exit_code if ran else None}"
    return Check(
        level="warn",
        what="agent",
        found=f"{backend.name} at {place} does not run: {said}",
        fix=f"Install it again until `{backend.program} --version` answers, also with an empty HOME.",
    )


def _asked(processes: Processes, program: str, path: str) -> Ran | None:
    """Asked in an empty home and an empty folder, without a variable of the user's: it cannot sign in to anything."""
    with tempfile.TemporaryDirectory(prefix="autopilot-doctor-") as empty:
        env = {"PATH": path, "HOME": empty, "TMPDIR": empty, "LANG": "C.UTF-8"}
        job = Job(argv=(program, "--version"), cwd=empty, env=env, timeout_s=SECONDS, max_output=10_000)
        try:
            return processes.run(job)
        except AgentUnavailable:
            return None


def _version(ran: Ran) -> str | None:
    said = _VERSION.search((ran.stdout + ran.stderr).decode("utf-8", "replace")) if ran.exit_code == 0 else None
    return said[0] if said else None


def signing_in(name: str) -> str:
    """What to do about an agent that has no account, or one that is refused."""
    kind = name.partition(":")[0]
    backend = BY_NAME.get(name) or BY_NAME.get(kind)
    if backend is None:
        return f"sign in with the program behind {name!r}, or mend its key"
    variable = f", or set {backend.sign_in.variables[0]}" if backend.sign_in.variables else ""
    return f"{SIGNING_IN.get(backend.program, f'start `{backend.program}` once and sign in')}{variable}"
