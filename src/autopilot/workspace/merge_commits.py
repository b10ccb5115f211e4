"""Joins two lines of work in our own repository, without any checkout."""

import os

from autopilot.ports.agents import Merging
from autopilot.workspace.own_repository import Store

# Beside the work of the phases, so that theirs stays the newest of its own ref.
SLOT = "merge"
CLEAN, CONFLICT, USAGE = 0, 1, 129


def merge(store: Store, onto: str, commit: str, message: str) -> Merging:
    """A durable commit behind both; a git too old to try (before 2.38) counts as one that found a conflict."""
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", onto, commit)
    ran = store.git.run(*words, ok=(CLEAN, CONFLICT, USAGE))
    tree, *paths = ran.stdout.split(b"\0") if ran.exit_code != USAGE else (b"",)
    if ran.exit_code != CLEAN:
        return Merging(
            commit=None,
            conflicts=tuple(sorted({store.named(os.fsdecode(path)) for path in paths if path})),
        )
    made = store.commit(tree.decode().strip(), onto, message, beside=commit)
    store.set_ref(store.work_ref(SLOT), made)
    return Merging(commit=made)
