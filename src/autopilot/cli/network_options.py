"""The options about what agents may reach, of every verb that asks agents."""

import argparse


def describe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--allow-host", dest="hosts", action="append", default=[], metavar="HOST[:PORT]")
    parser.add_argument("--open-network", action="store_true")
