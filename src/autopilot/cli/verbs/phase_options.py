"""What may stand behind `phases` and `init` on the command line."""

import argparse

from autopilot.domain.errors import UsageInvalid

PHASE_VERBS = ("list", "check", "add", "insert", "remove")


def narrowed(verb: str, words: list[str]) -> tuple[str, list[str]]:
    """`phases add ...` is a verb of two words; `phases` alone lists them."""
    if verb != "phases":
        return verb, words
    if not words or words[0].startswith("-"):
        return "phases list", words
    if words[0] not in PHASE_VERBS:
        raise UsageInvalid(
            f"Unknown word {words[0]!r} after 'phases'.",
            why="Autopilot does nothing it was not asked for in words it knows.",
            do=f"Verbs of phases: {', '.join(PHASE_VERBS)}.",
        )
    return f"phases {words[0]}", words[1:]


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser."""
    if verb == "init":
        _start(parser)
        return
    parser.add_argument("--json", action="store_true")
    if verb == "phases check":
        parser.add_argument("--no-run", action="store_true")
    if verb == "phases insert":
        parser.add_argument("after", metavar="AFTER")
    if verb in {"phases add", "phases insert"}:
        parser.add_argument("text", nargs="+", metavar="TEXT")
        parser.add_argument("--goal", metavar="TEXT")
        parser.add_argument("--criterion", action="append", default=[], metavar="TEXT")
        parser.add_argument("--anyway", action="store_true")
    if verb == "phases add":
        parser.add_argument("--depends", action="append", default=[], metavar="N[,M]")
    if verb == "phases remove":
        parser.add_argument("phase", metavar="N")
        parser.add_argument("--yes", action="store_true")


def _start(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from-file", metavar="FILE")
    parser.add_argument("--name", metavar="TEXT")
    parser.add_argument("--goal", metavar="TEXT")
    parser.add_argument("--phase", action="append", default=[], metavar="TEXT")
