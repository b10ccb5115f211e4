"""What may stand behind `serve` on the command line."""

import argparse

MOST_PORT = 65_535


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser; nothing for any other verb."""
    if verb != "serve":
        return
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--port", type=port, metavar="N")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS")
    parser.add_argument("--read-only", action="store_true")


def port(word: str) -> int:
    """Raises `ValueError`, as argparse wants it, for what is no port; 0 takes any that is free."""
    value = int(word)
    if not 0 <= value <= MOST_PORT:
        raise ValueError(word)
    return value
