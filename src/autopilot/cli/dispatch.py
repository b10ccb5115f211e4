"""Which module performs a verb; each is imported when it is asked for."""

import argparse

from autopilot.app import prepare as app
from autopilot.cli import consent, look
from autopilot.cli.verbs import run as verbs


def perform(verb: str, options: argparse.Namespace) -> int:
    """The exit code of a verb that needs the program."""
    match verb:
        case "demo" | "serve" | "export":
            from autopilot.cli import showing

            done = showing.perform(options)
        case "phases" | "init":
            from autopilot.cli.verbs import init, phases

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
            from autopilot.cli.verbs import adopt, trust

            done = trust.perform(options, app) if verb == "trust" else adopt.perform(verbs.here(), app)
        case "receipt" | "verdict":
            from autopilot.cli.verbs import receipt, verdict

            done = verdict.perform(options, app) if verb == "verdict" else receipt.perform(options, app)
        case "loop":
            from autopilot.app.loop import run_loop as looping
            from autopilot.cli.verbs import loop

            done = loop.perform(options, looping)
        case _:
            done = look.perform(options, app) if look.only_looks(options) else verbs.perform(options, app)
    return done
