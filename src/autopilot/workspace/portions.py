"""Part of a commit's change as a commit of its own, made without any checkout."""

import os
from collections.abc import Collection

from autopilot.domain.evidence import Change
from autopilot.workspace.own_repository import Store, Touched

# Beside the run's newest work, so that what a portion is taken from stays the newest of its own ref.
SLOT = "part"


def portion(store: Store, whole: Change, paths: Collection[str], onto: str, message: str) -> Change:
    """A durable commit on `onto` that leaves those paths as `whole` leaves them; `onto` itself when nothing differs."""
    wanted = [t for t in store.difference(whole.base, whole.commit).touched if store.named(t.path) in paths]
    tree = tree_with(store, onto, wanted, _own("portion", store))
    found = store.difference(onto, tree)
    if not found.touched:
        return Change(base=onto, commit=onto, tree=store.tree(onto))
    commit = store.commit(tree, onto, message)
    store.set_ref(store.work_ref(_own(SLOT, store)), commit)
    return store.described(onto, commit, found)


def tree_with(store: Store, onto: str, wanted: list[Touched], name: str) -> str:
    """The tree of `onto` with those paths as they are after the change; `name` is nobody else's at this moment."""
    index = store.folder / f"{name}.index"
    git = store.git.at(GIT_INDEX_FILE=index)
    try:
        index.unlink(missing_ok=True)
        git.run("read-tree", onto)
        git.run("update-index", "-z", "--replace", "--index-info", stdin=b"".join(_line(touched) for touched in wanted))
        return git.text("write-tree")
    finally:
        index.unlink(missing_ok=True)


def _line(touched: Touched) -> bytes:
    mode, blob = touched.new or ("0", "0" * len(touched.old[1] if touched.old else ""))
    return f"{mode} {blob}\t".encode() + os.fsencode(touched.path) + b"\0"


def _own(name: str, store: Store) -> str:
    """Phases at work at the same time have one each."""
    return name if store.slot == "0" else f"{name}{store.slot}"
