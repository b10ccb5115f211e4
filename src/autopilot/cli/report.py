"""`autopilot report`: a run told at its end, on the terminal, as a page or as JSON."""

import argparse
from typing import Any, Protocol

import msgspec

from autopilot.cli import console

DEFAULT = ""


class Reporter(Protocol):
    """The part of the program this verb needs."""

    def report_text(self, folder: str, run: str | None) -> str: ...

    def report_data(self, folder: str, run: str | None) -> dict[str, Any]: ...

    def report_page(self, folder: str, run: str | None, file: str | None) -> str: ...


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what the verb takes to its parser; nothing for any other verb."""
    if verb != "report":
        return
    parser.add_argument("run", nargs="?", metavar="RUN")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--html", nargs="?", const=DEFAULT, metavar="FILE")
    shape.add_argument("--json", action="store_true")


def perform(options: argparse.Namespace, folder: str, app: Reporter) -> int:
    """The exit code: that of a run is no part of it."""
    run, file = options.run, options.html
    if file and run is None and file.startswith("run-") and "." not in file:
        run, file = file, DEFAULT  # `--html RUN`: a page is named for its kind, a run is not
    if file is not None:
        console.say(f"Written: {app.report_page(folder, run, file or None)}")
    elif options.json:
        console.say(msgspec.json.encode(app.report_data(folder, run)).decode())
    else:
        console.say(app.report_text(folder, run))
    return 0
