"""What the user allowed a run to do when they started it, kept where no repository and no agent can write."""

from pathlib import Path

import msgspec

from autopilot.authority.places import grant_name
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.settings import Settings
from autopilot.domain.value import Value


class GrantedAgent(Value, frozen=True, kw_only=True):
    """`name` is as it was asked for; `program` is the file that was found for it, `argv` all of the command's words."""

    name: str
    roles: tuple[str, ...] = ()
    program: str = ""
    argv: tuple[str, ...] = ()


class Grant(Value, frozen=True, kw_only=True):
    """
    `settings` are those the run was started with, its commands among them; `tier` is the sandbox that held then, and
    `launch` is the folder the user stood in. `egress` and `hosts` are what agents may reach beyond their own service,
    `variables` the names of those handed on to them.
    """

    run: str
    root: str
    version: str
    settings: Settings
    tier: str
    launch: str = ""
    agents: tuple[GrantedAgent, ...] = ()
    confined: bool = True
    egress: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


class Grants:
    """One file per run. Runs of two repositories may have the same name, so the file is named for both."""

    def __init__(self, folder: UserFolder | None = None) -> None:
        self._folder = folder or UserFolder()

    def read(self, run: str, root: Path) -> Grant | None:
        """None too for one of another version that can no longer be understood: the user is asked again."""
        content = self._folder.read(grant_name(run, str(root.resolve())))
        try:
            grant = msgspec.json.decode(content, type=Grant) if content is not None else None
        except (msgspec.DecodeError, RecursionError):
            return None
        return grant if grant and (grant.run, grant.root) == (run, str(root.resolve())) else None

    def write(self, grant: Grant) -> None:
        """On disk when this returns."""
        text = msgspec.json.format(msgspec.json.encode(grant), indent=2)
        self._folder.write(grant_name(grant.run, str(Path(grant.root).resolve())), text + b"\n")
