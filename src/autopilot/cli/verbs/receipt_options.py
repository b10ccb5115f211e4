"""What may stand behind `receipt` on the command line."""

import argparse
from typing import get_args

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.settings import SandboxChoice

RECEIPT_VERBS = ("show", "check")


def narrowed(verb: str, words: list[str]) -> tuple[str, list[str]]:
    """`receipt check ...` is a verb of two words; `receipt` alone shows them."""
    if verb != "receipt":
        return verb, words
    if not words or words[0].startswith("-"):
        return "receipt show", words
    if words[0] not in RECEIPT_VERBS:
        raise UsageInvalid(
            f"Unknown word {words[0]!r} after 'receipt'.",
            why="Autopilot does nothing it was not asked for in words it knows.",
            do=f"Verbs of receipt: {', '.join(RECEIPT_VERBS)}.",
        )
    return f"receipt {words[0]}", words[1:]


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser; nothing for any other verb."""
    if not verb.startswith("receipt "):
        return
    parser.add_argument("--json", action="store_true")
    if verb == "receipt show":
        parser.add_argument("phase", nargs="?", metavar="N")
        return
    parser.add_argument("phase", metavar="N")
    parser.add_argument("--file", metavar="RECEIPT.json")
    parser.add_argument("--sandbox", choices=get_args(SandboxChoice), default="auto")
