"""Stores what went into and came out of each agent call."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.process import Ran
from autopilot.domain.value import Value
from autopilot.files import home_files
from autopilot.text.redact import Redactor

UNSAFE = re.compile(r"[^A-Za-z0-9._~-]")
CAP = 4_000_000


class Transcript(Value, frozen=True, kw_only=True):
    """`exit` is None for a call that we ended. `agent` is the kind of program that printed this."""

    call: str
    command: tuple[str, ...]
    stdin: dict[str, Any]
    stdout: str
    stderr: str
    exit: int | None
    seconds: float
    agent: str = "exec"


def transcript(call: str, command: tuple[str, ...], stdin: dict[str, Any], ran: Ran, agent: str = "exec") -> Transcript:
    return Transcript(
        call=call,
        command=command,
        stdin=stdin,
        stdout=ran.stdout[-CAP:].decode(errors="replace"),
        stderr=ran.stderr[-CAP:].decode(errors="replace"),
        exit=ran.exit_code,
        seconds=round(ran.seconds, 3),
        agent=agent,
    )


def path_of(folder: Path, call: str) -> Path:
    """`<folder>/<run>/<phase>/<step>/<n>.json`; whatever a call is named, it stays inside the folder."""
    parts = [UNSAFE.sub("_", part).lstrip(".") or "_" for part in call.split("/")]
    return folder.joinpath(*parts[:-1], f"{parts[-1]}.json")


def store(folder: Path, entry: Transcript) -> bool:
    """Whole or not at all, without secrets. One that cannot be written (a full disk) never stops a run: False."""
    path, redact = path_of(folder, entry.call), Redactor.of(os.environ)
    # One name a call: what a killed run left of it is written over, not left.
    part = path.with_name(f".{path.name}.part")
    try:
        with home_files.folder(path.parent, make=True):
            pass
        part.unlink(missing_ok=True)
        with open(part, "xb", opener=_private) as file:
            file.write(msgspec.json.format(redact(msgspec.json.encode(entry).decode()), indent=1).encode())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except (OSError, home_files.Foreign):
        with suppress(OSError):
            part.unlink()
        return False
    return True


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def recorded(folder: Path, call: str) -> Transcript | None:
    """The transcript of a call, None where there is none or what is there is not whole."""
    try:
        return msgspec.json.decode(home_files.read_file(path_of(folder, call)), type=Transcript)
    except (OSError, home_files.Foreign, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
