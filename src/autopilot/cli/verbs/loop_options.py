"""What may stand behind `loop` on the command line."""

import argparse
from typing import get_args

from autopilot.cli import network_options
from autopilot.cli import options as mode_options
from autopilot.domain.settings import SandboxChoice


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Nothing for any other verb. Numbers are taken as they are written: `flags.parse` knows their bounds."""
    if verb != "loop":
        return
    from autopilot.app.loop.run_loop import EXECUTED, flags

    for bound in flags.BOUNDS:
        parser.add_argument(bound.flag, metavar="N")
    parser.add_argument("--mode", choices=EXECUTED)
    parser.add_argument(*flags.DRY_RUN, dest="dry_run", action="store_true")
    parser.add_argument("--agent", default="auto")
    parser.add_argument("--reviewer")
    parser.add_argument("--model")
    parser.add_argument("--lenient", action="store_true")
    parser.add_argument("--visual", action="store_true")
    parser.add_argument("--jobs", type=mode_options.jobs, default=1, metavar="N")
    confinement = parser.add_mutually_exclusive_group()
    confinement.add_argument("--sandbox", choices=get_args(SandboxChoice))
    confinement.add_argument("--unsandboxed", dest="sandbox", action="store_const", const="none")
    network_options.describe(parser)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--json", action="store_true")


def words_of(options: argparse.Namespace) -> list[str]:
    """The numbers as `--flag=value`, and whether it is a dry run."""
    from autopilot.app.loop.run_loop import flags

    said = {bound.flag: getattr(options, bound.flag[2:].replace("-", "_")) for bound in flags.BOUNDS}
    given = [f"{flag}={value}" for flag, value in said.items() if value is not None]
    return [*given, *(["--dry-run"] if options.dry_run else [])]
