"""The entry point: find the verb, call it, turn errors into three lines and an exit code."""

import os
import re
import sys

from autopilot.cli import console
from autopilot.domain.errors import AutopilotError, Interrupted, TrustMissing, UsageInvalid

_KEYWORDS = ("all", "next")
_NUMBERED = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,15}-\d")
"""A phase with a prefix: CK-01, or v1.0-2 for phase 2 of milestone v1.0."""


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    console.prepare()
    try:
        return _dispatch(_placed(words))
    except AutopilotError as error:
        if isinstance(error, TrustMissing):
            console.warn("\n".join(error.table))
        console.complain(error.what, error.why, error.do)
        return error.exit_code
    except (KeyboardInterrupt, Interrupted):
        console.complain("Interrupted.", "Every finished step is kept.", "Go on with: autopilot resume")
        return Interrupted.exit_code


def _placed(words: list[str]) -> list[str]:
    """What follows `--project DIR`, done as if it was typed in that folder."""
    if not words or words[0].partition("=")[0] != "--project":
        return words
    _, _, folder = words[0].partition("=")
    rest = words[1:] if folder else words[2:]
    folder = folder or "".join(words[1:2])
    try:
        os.chdir(folder)
    except OSError as error:
        raise UsageInvalid(
            f"There is no project at {folder!r}: {error.strerror}." if folder else "--project needs a folder.",
            why="What follows it is done in that folder.",
            do="Name the project's folder before the verb: autopilot --project DIR status",
        ) from error
    return rest


def _dispatch(words: list[str]) -> int:
    """`--help`, `--version` and `status` are answered here, before anything heavy is imported."""
    if "--help" in words or "-h" in words:
        from autopilot.cli.help import HELP

        console.say(HELP.rstrip())
        return 0
    if words == ["--version"]:
        from autopilot import __version__

        console.say(f"autopilot {__version__}")
        return 0
    if words in (["status"], ["status", "--json"]):
        from autopilot.cli.verbs import status

        console.say(status.show(as_json="--json" in words))
        return 0
    return _perform(*verb_of(words))


def _perform(verb: str, words: list[str]) -> int:
    from autopilot.cli import parser as arguments
    from autopilot.cli.verbs import phase_options, receipt_options

    options = arguments.parse(*receipt_options.narrowed(*phase_options.narrowed(verb, words)))
    if verb == "explain":
        from autopilot.app import explain as tables
        from autopilot.cli.verbs import explain

        console.say(explain.explain(tables.stages(), as_json=options.json))
        return 0
    if verb in {"status", "replay"}:
        from autopilot.cli.verbs import watch

        return watch.perform(options)
    from autopilot.cli import dispatch

    return dispatch.perform(verb, options)


def verb_of(words: list[str]) -> tuple[str, list[str]]:
    """The verb and what follows it. Phases or options without a verb belong to `run`."""
    from autopilot.cli.help import VERBS

    if not words:
        return "run", []
    first = words[0]
    if first in VERBS:
        return first, words[1:]
    if first.startswith("-") or first[:1].isdigit() or first in _KEYWORDS or _NUMBERED.match(first):
        return "run", words
    raise UsageInvalid(
        f"Unknown verb {first!r}.",
        why="Autopilot does nothing it was not asked for in words it knows.",
        do=f"Verbs: {', '.join(VERBS)}; or phases such as 3, 3-7, all, next.",
    )
