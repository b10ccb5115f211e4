"""Which module performs a verb; each is imported when it is asked for."""

import argparse

from autopilot import app
from autopilot.cli import look, verbs


def perform(verb: str, options: argparse.Namespace) -> int:
    """The exit code of a verb that needs the program."""
    match verb:
        case "demo" | "serve" | "export":
            from autopilot.cli import showing

            done = showing.perform(options)
        case "phases" | "init":
            from autopilot.cli import init, phases

            desk = app.desk(verbs.here())
            done = init.perform(options, desk) if verb == "init" else phases.perform(options, desk)
        case "receipt" | "verdict":
            from autopilot.cli import receipt, verdict

            done = verdict.perform(options, app) if verb == "verdict" else receipt.perform(options, app)
        case "adopt":
            from autopilot.cli import adopt

            done = adopt.perform(verbs.here(), app)
        case "loop":
            from autopilot import looping
            from autopilot.cli import loop

            done = loop.perform(options, looping)
        case _:
            done = look.perform(options, app) if look.only_looks(options) else verbs.perform(options, app)
    return done
