"""What may stand on the command line about agents that are not to be had."""

import argparse

ASKING = frozenset({"run", "resume", "retry", "map", "discuss", "debug", "loop"})


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Nothing for a verb that asks no agent."""
    if verb not in ASKING:
        return
    parser.add_argument("--wait", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--failover", action="append", default=[], metavar="NAME")
