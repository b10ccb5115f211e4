"""Phases that passed and are not on the user's branch: which they are, and another try to land them."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from autopilot.domain.completion import COMPLETION
from autopilot.domain.events import PhaseLanded
from autopilot.domain.record import RunRecord
from autopilot.driving import wind_up
from autopilot.engine.streams import Streams
from autopilot.hiring import cache_folder, processes_of
from autopilot.journal.ledger import Ledger
from autopilot.workspace.git_workspace import GitWorkspace, Places


def land_again(root: Path, ledger: Ledger, streams: Streams) -> tuple[str, bool]:
    """
    Try to land what the newest run could not, in words; empty where all is landed. And whether all is landed now.

    The lock is held. The work of a run is one line of commits: its newest commit brings the others along.
    """
    run = streams.run()
    missing = unlanded(run)
    if not missing or ledger.finished is None:
        return "", True
    workspace = GitWorkspace(Places(root=root, cache=cache_folder()), processes_of(root), run.start.run, os.environ)
    workspace.recover()
    landing = workspace.land(missing[-1].commit)
    if not landing.landed:
        return f"{_named(missing)} not on your branch yet: {landing.note}.", False
    for each in missing:
        streams.append_run(msgspec.structs.replace(each, landed=True, note=""))
    wind_up(root / ".autopilot", streams, ledger.finished)
    return f"{_named(missing)} on {run.start.branch} now.", True


def unlanded(run: RunRecord) -> tuple[PhaseLanded, ...]:
    """The landings that are still to come, in the order of the line; none where a later one brought them along."""
    landings = tuple(run.of(PhaseLanded))
    done = max((n for n, landing in enumerate(landings) if landing.landed), default=-1)
    return tuple({landing.phase: landing for landing in landings[done + 1 :]}.values())


def _named(landings: Iterable[PhaseLanded]) -> str:
    phases = [landing.phase for landing in landings if landing.phase != COMPLETION]
    if not phases:
        return "What followed the last phase is"
    return f"Phase {phases[0]} is" if len(phases) == 1 else f"Phases {', '.join(phases)} are"
