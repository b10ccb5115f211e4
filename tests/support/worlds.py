"""
Starts a program as on another machine: one without namespaces, so without bubblewrap, or one without Landlock too.

In a `blind` one there is Landlock, but nobody can take an open file of another process.

As a program: `python tests/support/worlds.py landlock|blind|unsandboxed PROGRAM WORD...`
"""

import os
import sys
from dataclasses import replace

from autopilot.sandbox.tiers import confine
from autopilot.sandbox.tiers.seccomp import LIKE_A_CONTAINER, compiled, machine_here

# What is left to confine commands with, and what the kernel refuses so that nothing else is.
WORLDS = {
    "landlock": LIKE_A_CONTAINER,
    "blind": replace(LIKE_A_CONTAINER, refused=(*LIKE_A_CONTAINER.refused, "pidfd_getfd")),
    "unsandboxed": replace(LIKE_A_CONTAINER, absent=(*LIKE_A_CONTAINER.absent, "landlock_create_ruleset")),
}


def start_of(world: str) -> tuple[str, ...]:
    """The words before a command line that is to run there; empty on a machine whose system calls are unknown."""
    return (sys.executable, __file__, world) if sys.platform == "linux" and machine_here() else ()


def main(world: str, *words: str) -> None:
    """The filter holds for the program and for all it starts."""
    machine = machine_here()
    if machine is None:
        sys.exit("The system calls of this machine are unknown, so none can be refused.")
    confine.libc().prctl(confine.NO_NEW_PRIVS, 1, 0, 0, 0)
    confine.apply_filter(compiled(WORLDS[world], machine))
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(*sys.argv[1:])
