"""The verbs that look and tell, and start nothing: doctor, progress, report, trends and a dry run."""

import argparse
from typing import Protocol

from autopilot.cli.verbs import doctor, dry_run, progress, report, trends
from autopilot.cli.verbs.run import here, request_of, trusting


class Looker(doctor.Examiner, dry_run.Seer, progress.Surveyor, report.Teller, trends.Counter, Protocol):
    """What these verbs need of the program; `autopilot.app` is one."""


def only_looks(options: argparse.Namespace) -> bool:
    return options.verb in {"doctor", "progress", "report", "trends"} or (options.verb == "run" and options.dry_run)


def perform(options: argparse.Namespace, app: Looker) -> int:
    """The exit code of the verb in `options`."""
    folder = here()
    if options.verb == "doctor":
        wanted = {"write_config": options.write_config, "notify": options.notify}
        return doctor.show(folder, app, as_json=options.json, **wanted)
    if options.verb == "progress":
        return progress.show(folder, app, as_json=options.json)
    if options.verb == "report":
        return report.perform(options, folder, app)
    if options.verb == "trends":
        return trends.show(folder, app, as_json=options.json)
    request = trusting(request_of(options, folder=folder), options.trust)
    return dry_run.show(request, app, as_json=options.json)
