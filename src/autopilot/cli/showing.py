"""The verbs that show Autopilot at work: the demo, the dashboard and traces."""

import argparse

from autopilot.cli import verbs


def perform(options: argparse.Namespace) -> int:
    """The exit code of the verb in `options`. What a verb needs is loaded for that verb only."""
    if options.verb == "demo":
        from autopilot.cli.demo import show

        return verbs.demonstrate(options.keep, show.run, plain=options.plain)
    if options.verb == "export":
        from autopilot import tracing
        from autopilot.cli import export

        return export.perform(options, tracing)
    from autopilot import serving
    from autopilot.cli import serve

    return serve.perform(options, serving)
