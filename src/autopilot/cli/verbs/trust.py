"""`autopilot trust`: show what the repository asks for, agree to it, or take that back."""

import argparse
from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.cli.consent import with_consent
from autopilot.cli.verbs.run import here
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.settings import SandboxChoice


class Standing(Protocol):
    """What the repository asks for, and whether somebody agreed to it."""

    @property
    def root(self) -> str: ...
    @property
    def trusted(self) -> bool: ...
    @property
    def sha256(self) -> str: ...
    @property
    def since(self) -> str: ...
    @property
    def table(self) -> tuple[str, ...]: ...


class Truster(Protocol):
    """What this verb needs of the program; `autopilot.app` is one."""

    def trust_of(self, folder: str, sandbox: SandboxChoice | None = None) -> Standing: ...

    def require_trust(self, folder: str, trust: str = "", sandbox: SandboxChoice | None = None) -> None: ...

    def keep_trust(self, folder: str, trust: str, sandbox: SandboxChoice | None = None) -> None: ...

    def revoke_trust(self, folder: str) -> bool: ...


def perform(options: argparse.Namespace, app: Truster) -> int:
    """The exit code of `autopilot trust`."""
    folder = here()
    if options.trust and (options.show or options.revoke):
        raise UsageInvalid(
            "--trust goes with neither --show nor --revoke.",
            why="It agrees to what the repository asks for; the others only look, or take that back.",
            do="Use one of: autopilot trust --show, autopilot trust --trust HASH, autopilot trust --revoke",
        )
    if options.revoke:
        had = app.revoke_trust(folder)
        told = "Trust is taken back. The next run asks again." if had else "Nobody had trusted it. Nothing was changed."
        console.say(msgspec.json.encode({"revoked": had}).decode() if options.json else told)
        return 0
    if options.trust:
        app.keep_trust(folder, options.trust, options.sandbox)
    elif not options.show:
        with_consent(lambda agreed: app.require_trust(folder, agreed, options.sandbox))
    standing = app.trust_of(folder, options.sandbox)
    console.say(msgspec.json.encode(standing).decode() if options.json else "\n".join(_lines(standing)))
    return 0


def _lines(standing: Standing) -> list[str]:
    if not standing.table:
        return [f"{standing.root} asks for nothing that needs your consent."]
    when = f" since {standing.since[:10]}" if standing.since else ""
    told = f"trusted{when}" if standing.trusted else "NOT trusted: a run asks you first"
    return [f"{standing.root}: {told}", "", *standing.table, "", f"Hash of all it asks for: {standing.sha256}"]
