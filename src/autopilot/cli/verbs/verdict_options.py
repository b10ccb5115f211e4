"""What may stand behind `verdict` on the command line."""

import argparse


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser."""
    if verb == "verdict":
        parser.add_argument("phase", metavar="N")
        parser.add_argument("word", metavar="pass|fail|issues")
        parser.add_argument("issues", nargs="*", metavar="TEXT")
