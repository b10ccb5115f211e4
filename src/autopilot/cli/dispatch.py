"""Which module performs a verb; each is imported when it is asked for."""

import argparse

from autopilot import app
from autopilot.cli import consent, look, verbs


def perform(verb: str, options: argparse.Namespace) -> int:
    """The exit code of a verb that needs the program."""
    match verb:
        case "demo" | "serve" | "export":
            from autopilot.cli import showing

            done = showing.perform(options)
        case "phases" | "init":
            from autopilot.cli import init, phases

            folder = verbs.here()
            desk = app.desk(folder)
            if verb == "init":
                done = init.perform(options, desk)
                consent.offer(lambda: app.require_trust(folder))
            elif options.verb in phases.EDITS:
                with app.trusted_edit(folder):
                    done = phases.perform(options, desk)
            else:
                done = phases.perform(options, desk)
        case "trust" | "adopt":
            from autopilot.cli import adopt, trust

            done = trust.perform(options, app) if verb == "trust" else adopt.perform(verbs.here(), app)
        case "receipt" | "verdict":
            from autopilot.cli import receipt, verdict

            done = verdict.perform(options, app) if verb == "verdict" else receipt.perform(options, app)
        case "loop":
            from autopilot import looping
            from autopilot.cli import loop

            done = loop.perform(options, looping)
        case _:
            done = look.perform(options, app) if look.only_looks(options) else verbs.perform(options, app)
    return done
