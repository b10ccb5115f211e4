"""`autopilot export`: a run's traces, to a collector or as lines of JSON."""

import argparse
from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.cli.verbs.run import here
from autopilot.views.export.spans import Span


class Exporter(Protocol):
    """What this verb needs of the program; `autopilot.app.traces` is one."""

    def spans(self, folder: str, run: str) -> tuple[Span, ...]: ...

    def export(self, folder: str, run: str) -> int: ...


def perform(options: argparse.Namespace, tracing: Exporter) -> int:
    folder, run = here(), options.run or ""
    if options.json:
        console.say("\n".join(msgspec.json.encode(span).decode() for span in tracing.spans(folder, run)))
    else:
        console.say(f"Sent {tracing.export(folder, run)} spans.")
    return 0
