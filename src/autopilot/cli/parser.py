"""What may stand on the command line, verb by verb."""

import argparse
from typing import NoReturn, get_args

from autopilot.cli import consent, network_options, view_options, wait_options
from autopilot.cli import options as mode_options
from autopilot.cli.verbs import (
    debug_options,
    export_options,
    loop_options,
    phase_options,
    receipt_options,
    report,
    serve_options,
    verdict_options,
)
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.phase import Evidence, RoadmapChoice
from autopilot.domain.settings import SandboxChoice

MOST = 10**9
ASKING = ("map", "discuss")
REPORTING = frozenset(
    {"run", "resume", "retry", "debug", "status", "explain", "doctor", "progress", "verdict", "trends", *ASKING}
)


class Parser(argparse.ArgumentParser):
    """Reports what it cannot read as an error of ours, and never guesses what an option was meant to be."""

    def __init__(self, verb: str) -> None:
        super().__init__(prog=f"autopilot {verb}", allow_abbrev=False, add_help=False)
        self.verb = verb
        self.set_defaults(verb=verb)

    def flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings]

    def error(self, message: str) -> NoReturn:
        raise UsageInvalid(
            f"{message[:1].upper()}{message[1:]}.",
            why="A command line that is only half understood would run something else than you meant.",
            do=self.advice(),
        )

    def advice(self) -> str:
        known = ", ".join(self.flags()) or "none"
        return f"Options of {self.verb}: {known}. See autopilot --help."


def parse(verb: str, words: list[str]) -> argparse.Namespace:
    """Raises `UsageInvalid` for whatever the verb does not know; nothing is ignored."""
    parser = parser_of(verb)
    options, unknown = parser.parse_known_intermixed_args(words)
    if unknown:
        kind = "option" if unknown[0].startswith("-") else "word"
        raise UsageInvalid(
            f"Unknown {kind} {unknown[0]!r} after {verb!r}.",
            why="It is not ignored, because you would believe it had an effect.",
            do=parser.advice(),
        )
    return options


def parser_of(verb: str) -> Parser:
    parser = Parser(verb)
    _describe_asking(parser, verb)
    if verb == "run":
        parser.add_argument("--from", dest="first", metavar="PHASE")
        parser.add_argument("--to", dest="last", metavar="PHASE")
        parser.add_argument("--only", metavar="PHASES")
        parser.add_argument("--dry-run", action="store_true")
        parser.add_argument("--evidence", choices=get_args(Evidence))
    if verb in {"run", "resume", "retry", "debug", *ASKING}:
        _describe_caps(parser)
        parser.add_argument("--no-keep-awake", dest="keep_awake", action="store_false")
    wait_options.describe(parser, verb)
    view_options.describe(parser, verb)
    if verb in REPORTING:
        parser.add_argument("--json", action="store_true")
    _describe_continuing(parser, verb)
    if verb in {"stop", "resume"}:
        parser.add_argument("--now", action="store_true")
    if verb == "doctor":
        parser.add_argument("--write-config", action="store_true")
        parser.add_argument("--notify", action="store_true")
    if verb.startswith("phases ") or verb == "init":
        phase_options.describe(parser, verb)
    receipt_options.describe(parser, verb)
    consent.describe(parser, verb)
    report.describe(parser, verb)
    verdict_options.describe(parser, verb)
    loop_options.describe(parser, verb)
    debug_options.describe(parser, verb)
    serve_options.describe(parser, verb)
    export_options.describe(parser, verb)
    if verb == "demo":
        parser.add_argument("--keep", metavar="FOLDER")
    return parser


def _describe_asking(parser: Parser, verb: str) -> None:
    """What every verb takes that asks agents about phases; nothing for any other verb."""
    if verb not in {"run", *ASKING}:
        return
    parser.add_argument("phases", nargs="*")
    parser.add_argument("--agent", default="auto")
    if verb == "run":
        parser.add_argument("--reviewer")
    parser.add_argument("--model")
    if verb == "run":
        mode_options.describe(parser)
    else:
        parser.add_argument("--answers", metavar="FILE")
    _describe_confinement(parser)


def _describe_confinement(parser: Parser) -> None:
    confinement = parser.add_mutually_exclusive_group()
    confinement.add_argument("--sandbox", choices=get_args(SandboxChoice))
    confinement.add_argument("--unsandboxed", dest="sandbox", action="store_const", const="none")
    network_options.describe(parser)


def _describe_continuing(parser: Parser, verb: str) -> None:
    if verb in {"resume", "retry"}:
        parser.add_argument("--agent")
        _describe_confinement(parser)
    if verb == "retry":
        parser.add_argument("phase", nargs="?", default="")
        parser.add_argument("--step", default="", metavar="STEP")
    if verb in {"run", "resume", "retry"}:
        parser.add_argument("--roadmap", choices=get_args(RoadmapChoice))


def _describe_caps(parser: Parser) -> None:
    parser.add_argument("--max-usd", type=amount, metavar="N")
    parser.add_argument("--max-tokens", type=count, metavar="N")
    parser.add_argument("--max-hours", type=amount, metavar="N")


def amount(word: str) -> float:
    """Raises `ValueError`, as argparse wants it, for what is no number from 0 up to a thousand million."""
    value = float(word)
    if not 0 <= value < MOST:
        raise ValueError(word)
    return value


def count(word: str) -> int:
    return int(amount(word.replace("_", "").replace(",", "")))
