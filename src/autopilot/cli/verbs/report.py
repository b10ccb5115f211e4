"""`autopilot report`: a run told at its end, on the terminal, as a page or as JSON."""

import argparse
from typing import Any, Protocol

import msgspec

from autopilot.cli import console

DEFAULT = ""


class Reporter(Protocol):
    """Tells of the runs of a repository."""

    def text(self, run: str | None) -> str: ...

    def stranger(self) -> str: ...

    def data(self, run: str | None) -> dict[str, Any]: ...

    def page(self, run: str | None, file: str | None) -> str: ...


class Teller(Protocol):
    """The part of the program this verb needs."""

    def reports(self, folder: str) -> Reporter: ...


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser; nothing for any other verb."""
    if verb != "report":
        return
    parser.add_argument("run", nargs="?", metavar="RUN")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--html", nargs="?", const=DEFAULT, metavar="FILE")
    shape.add_argument("--json", action="store_true")


def perform(options: argparse.Namespace, folder: str, app: Teller) -> int:
    """The exit code: that of a run is no part of it."""
    told, run, file = app.reports(folder), options.run, options.html
    if file and run is None and file.startswith("run-") and "." not in file:
        run, file = file, DEFAULT  # `--html RUN`: a page is named for its kind, a run is not
    if note := told.stranger():
        console.warn(f"autopilot: warning: {note}")
    if file is not None:
        console.say(f"Written: {told.page(run, file or None)}")
    elif options.json:
        console.say(msgspec.json.encode(told.data(run)).decode())
    else:
        console.say(told.text(run))
    return 0
