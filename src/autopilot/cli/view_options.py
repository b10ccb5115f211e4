"""What may stand on the command line about how a run is shown."""

import argparse

SHOWING = frozenset({"run", "resume", "retry", "map", "discuss", "debug", "demo", "status", "replay"})
SPEED = 20.0


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser; nothing for a verb that shows no run."""
    if verb in SHOWING:
        parser.add_argument("--plain", action="store_true")
    if verb == "status":
        parser.add_argument("--watch", action="store_true")
    if verb == "replay":
        parser.add_argument("run", nargs="?", default="")
        parser.add_argument("--speed", type=positive, default=SPEED, metavar="N")


def positive(word: str) -> float:
    """Raises `ValueError`, as argparse wants it, for what is no number above 0."""
    value = float(word)
    if not 0 < value < float("inf"):
        raise ValueError(word)
    return value
