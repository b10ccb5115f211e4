"""Other machines than this one: `python -c` beginnings that take away what a sandbox is made of."""

from autopilot.sandbox.seccomp import LIKE_A_CONTAINER, compiled, machine_here

LANDLOCK = "landlock_create_ruleset"


def without_namespaces(*also: str) -> str:
    """Code that refuses namespaces, and the calls named besides, to its process and all it starts."""
    machine = machine_here()
    if machine is None:
        return ""
    rules = type(LIKE_A_CONTAINER)(
        refused=(*LIKE_A_CONTAINER.refused, *also), absent=LIKE_A_CONTAINER.absent, families=LIKE_A_CONTAINER.families
    )
    return (
        "from autopilot.sandbox import confine\n"
        "confine.libc().prctl(confine.NO_NEW_PRIVS, 1, 0, 0, 0)\n"
        f"confine.apply_filter(bytes.fromhex('{compiled(rules, machine).hex()}'))\n"
    )
