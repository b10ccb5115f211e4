"""What may stand behind `export` on the command line."""

import argparse


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser; nothing for any other verb."""
    if verb != "export":
        return
    parser.add_argument("run", nargs="?", metavar="RUN")
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--otel", action="store_true")
    form.add_argument("--json", action="store_true")
