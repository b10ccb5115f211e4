"""Asks at the terminal whether a repository may do what it asks for, where only that is missing."""

import argparse
from collections.abc import Callable
from typing import Literal, TypeVar

from autopilot.cli import console, terminal
from autopilot.domain.errors import ConsentMissing, TrustMissing

T = TypeVar("T")
Answer = Literal["yes", "once", "no"]
WORDS: dict[str, Answer] = {"y": "yes", "yes": "yes", "once": "once", "o": "once", "n": "no", "no": "no", "": "no"}
CHOICES = "yes: agree until it changes.  once: agree for this time only.  no: nothing runs."
LATER = "yes: agree until it changes.  no: the first run asks again."


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """The hash for every verb that runs something of a repository, and the options of `trust` itself."""
    if verb in {"run", "resume", "retry", "debug", "map", "discuss", "loop", "phases check", "receipt check", "trust"}:
        parser.add_argument("--trust", default="", metavar="HASH")
    if verb == "trust":
        deeds = parser.add_mutually_exclusive_group()
        deeds.add_argument("--show", action="store_true")
        deeds.add_argument("--revoke", action="store_true")
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--unsandboxed", dest="sandbox", action="store_const", const="none")


def with_consent(work: Callable[[str], T], given: str = "") -> T:
    """Do the work. Where only consent is missing and somebody is at the terminal, ask, and do it with their answer."""
    try:
        return work(given)
    except TrustMissing as missing:
        if not terminal.present():
            raise
        answer = ask(missing)
        if answer == "no":
            raise ConsentMissing(
                "You did not agree to what the repository asks for.",
                why="Nothing of it was run.",
                do="Look at the files in the table. Type the command again to be asked again.",
            ) from None
        if answer == "yes":
            missing.agree()
        return work(missing.surface)


def offer(require: Callable[[], None]) -> None:
    """After the user has written the files themselves: ask now rather than at the first run. Nothing is refused."""
    try:
        require()
    except TrustMissing as missing:
        if terminal.present() and ask(missing, LATER) == "yes":
            missing.agree()


def ask(missing: TrustMissing, choices: str = CHOICES) -> Answer:
    """One screen: what it asks for, then one question. An answer that cannot be read is asked for again."""
    console.warn("\n".join([f"\n{missing.what} You would agree to:", "", *missing.table, "", choices]))
    while True:
        word = terminal.ask("Trust it? [no] ").lower()
        if word in WORDS:
            return WORDS[word]
