"""The verbs that show Autopilot at work: the demo, the dashboard and traces."""

import argparse

from autopilot.cli.verbs import run as verbs


def perform(options: argparse.Namespace) -> int:
    """The exit code of the verb in `options`. What a verb needs is loaded for that verb only."""
    if options.verb == "demo":
        from autopilot.cli.demo import show

        return verbs.demonstrate(options.keep, show.run, plain=options.plain)
    if options.verb == "export":
        from autopilot.app import traces as tracing
        from autopilot.cli.verbs import export

        return export.perform(options, tracing)
    from autopilot.app import dashboard as serving
    from autopilot.cli.verbs import serve

    return serve.perform(options, serving)
