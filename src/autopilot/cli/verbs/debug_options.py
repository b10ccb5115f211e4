"""Defines the options of `autopilot debug`."""

import argparse
from typing import get_args

from autopilot.cli import network_options
from autopilot.domain.settings import SandboxChoice


def describe(parser: argparse.ArgumentParser, verb: str) -> None:
    """Nothing for any other verb."""
    if verb != "debug":
        return
    parser.add_argument("symptom", nargs="*", metavar="WHAT IS WRONG")
    parser.add_argument("--check", action="append", default=[], metavar="COMMAND")
    parser.add_argument("--agent", default="auto")
    parser.add_argument("--reviewer")
    parser.add_argument("--model")
    confinement = parser.add_mutually_exclusive_group()
    confinement.add_argument("--sandbox", choices=get_args(SandboxChoice))
    confinement.add_argument("--unsandboxed", dest="sandbox", action="store_const", const="none")
    network_options.describe(parser)
