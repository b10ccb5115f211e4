"""Phases that passed and are not on the user's branch: which they are, and another try to land them."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from autopilot.app.run import wind_up
from autopilot.app.wiring import cache_folder, looked_at, processes_of
from autopilot.domain.events import PhaseLanded, RunFinished
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.results import COMPLETION
from autopilot.engine.decide.next_move import OPEN_ENDS, dependents, last_word
from autopilot.engine.perform.run_log import Streams
from autopilot.journal.earlier_runs import Ledger
from autopilot.workspace.git_workspace import GitWorkspace, Places


def land_again(root: Path, ledger: Ledger, streams: Streams) -> tuple[str, bool]:
    """
    Try to land what the newest run could not, in words; empty where all is landed. And whether all is landed now.

    The lock is held. The work of a run is one line of commits: its newest commit brings the others along.
    """
    run = streams.run()
    missing = run.unlanded
    if not missing or ledger.finished is None:
        return "", True
    workspace = GitWorkspace(Places(root=root, cache=cache_folder()), processes_of(root), run.start.run, os.environ)
    workspace.recover()
    landing = workspace.land(missing[-1].commit)
    if not landing.landed:
        return f"{_named(missing)} not on your branch yet: {landing.note}.", False
    for each in missing:
        streams.append_run(msgspec.structs.replace(each, landed=True, note=""))
    finished, word = ledger.finished, last_word(streams.run())
    if finished.exit_code == OPEN_ENDS and word.exit_code != OPEN_ENDS:
        finished = RunFinished(status=word.status, exit_code=word.exit_code, reason=word.reason)
        streams.append_run(finished)
    wind_up(root / ".autopilot", streams, finished)
    return f"{_named(missing)} on {run.start.branch} now.", True


def merges(root: Path, ledger: Ledger) -> dict[str, str]:
    """
    For each completed phase that is not on the checked-out branch, the command that merges it.

    A phase whose branch is gone is left out: the user settled it in a way of their own.
    """
    if not ledger.unlanded:
        return {}
    found, known = dict[str, str](), (0, 1, 128, 129)
    with looked_at(root, processes_of(root)) as repository:
        git = repository.git
        for phase, (run, commit) in ledger.unlanded.items():
            names = (f"refs/heads/autopilot/{run}*", f"refs/heads/autopilot-{run}*")
            held = git.run("for-each-ref", f"--contains={commit}", "--format=%(refname:short)", *names, ok=known)
            on_branch = git.run("merge-base", "--is-ancestor", commit, "HEAD", ok=(0, 1, 128)).exit_code == 0
            branches = held.stdout.decode().split() if held.exit_code == 0 else []
            if branches and not on_branch:
                found[phase] = f"git merge {branches[0]}"
    return found


def without_work_of(root: Path, ledger: Ledger, roadmap: Roadmap, chosen: Collection[Phase]) -> Iterator[str]:
    """A warning for each phase that the chosen ones depend on and whose work is not on the checked-out branch."""
    own = {phase.id for phase in chosen}
    for missing, merge in merges(root, ledger).items():
        needs = [phase.id for phase in chosen if phase.id in dependents(missing, roadmap.phases)]
        if needs and missing not in own:
            who = f"Phase {needs[0]} depends" if len(needs) == 1 else f"Phases {', '.join(needs)} depend"
            yield (
                f"{who} on phase {missing}, which is completed and not on your branch yet: "
                f"the run starts without its work. Stop it and merge first: {merge}"
            )


def _named(landings: Iterable[PhaseLanded]) -> str:
    phases = [landing.phase for landing in landings if landing.phase != COMPLETION]
    if not phases:
        return "What followed the last phase is"
    return f"Phase {phases[0]} is" if len(phases) == 1 else f"Phases {', '.join(phases)} are"
