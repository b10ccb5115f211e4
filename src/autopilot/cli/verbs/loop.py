"""`autopilot loop`: start the session loop, show what happens, and tell at the end what stopped it."""

import argparse
import sys
from typing import Protocol

import msgspec
from msgspec.structs import replace

from autopilot.app.loop.run_loop import LoopEnd, LoopRequest, Step, flags, loop_summary
from autopilot.cli import console
from autopilot.cli.consent import with_consent
from autopilot.cli.verbs import loop_options
from autopilot.cli.verbs.run import Warn, here, trusting, warn
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from autopilot.ports.agents import Listener
from autopilot.views.lines.plain import PlainView


class Looper(Protocol):
    """What this verb needs of the program; `autopilot.app.loop.run_loop` is one."""

    def run(self, request: LoopRequest, listener: Listener, warn: Warn) -> LoopEnd: ...

    def foresee(self, request: LoopRequest) -> tuple[Step, ...]: ...


def perform(options: argparse.Namespace, looper: Looper) -> int:
    """The exit code of the loop."""
    words = loop_options.words_of(options)
    for remark in flags.remarks(words):
        warn(remark)
    request = LoopRequest(flags=flags.parse(words), base=_base(options), mode=options.mode)
    if options.dry_run:
        steps = looper.foresee(request)
        plan = loop_summary.preview(
            request.flags, tuple(step.choice for step in steps), tuple(step.phases for step in steps)
        )
        _tell("\n".join(plan), as_json=options.json)
    out = sys.stderr if options.json else sys.stdout
    view = PlainView(out)
    end = with_consent(
        lambda agreed: looper.run(replace(request, base=trusting(request.base, agreed)), view, warn), options.trust
    )
    if view.broken:
        console.silence(out.fileno())
    if options.json:
        console.say(msgspec.json.encode(_plain(end)).decode())
    else:
        console.say("\n".join(["", *loop_summary.summary(end), loop_summary.last_line(end)]))
    return loop_summary.exit_code(end)


def _base(options: argparse.Namespace) -> RunRequest:
    return RunRequest(
        folder=here(),
        agent=options.agent,
        reviewer=options.reviewer,
        model=options.model,
        lenient=options.lenient,
        sandbox=options.sandbox,
        hosts=tuple(options.hosts),
        open_network=options.open_network,
        visual=options.visual,
        modes=Modes(jobs=options.jobs),
        wait=options.wait,
        failover=tuple(options.failover),
    )


def _plain(end: LoopEnd) -> dict[str, object]:
    record: dict[str, object] = msgspec.to_builtins(end.record)
    return {**record, "exit": loop_summary.exit_code(end)}


def _tell(text: str, *, as_json: bool) -> None:
    (console.warn if as_json else console.say)(text)
