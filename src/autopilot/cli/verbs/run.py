"""The verbs that need the program: call it, show what happens, print what came of it."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.cli import options as mode_options
from autopilot.cli.consent import with_consent
from autopilot.cli.keys import RetryKey
from autopilot.cli.terminal_person import somebody
from autopilot.cli.view_choice import View, view_of
from autopilot.domain.errors import AutopilotError, ConsentMissing, Interrupted, RepositoryInvalid, UsageInvalid
from autopilot.domain.events import Entry
from autopilot.domain.people import NOBODY, Person
from autopilot.domain.request import Resumption, RunEnd, RunRequest
from autopilot.domain.settings import FlagsClash, Modes, RunCaps
from autopilot.ports.agents import Listener
from autopilot.text.clean import clean

Warn = Callable[[str], None]
Demo = Callable[[str | None, Listener, Warn], tuple[RunEnd, str]]
MOST_PRINTED = 12


class App(Protocol):
    """What the command line needs of the program; `autopilot.app` is one."""

    def start(self, request: RunRequest, listener: Listener, warn: Warn, person: Person = NOBODY) -> RunEnd: ...

    def debug(self, request: RunRequest, listener: Listener, warn: Warn, person: Person = NOBODY) -> RunEnd: ...

    def consult(self, request: RunRequest, warn: Warn, person: Person = NOBODY) -> RunEnd: ...

    def resume(
        self,
        folder: str,
        listener: Listener,
        warn: Warn,
        changes: Resumption | None = None,
        person: Person = NOBODY,
    ) -> RunEnd: ...

    def stop(self, folder: str, *, now: bool) -> str: ...

    def retry(self, folder: str) -> str: ...

    def rebuild(self, folder: str) -> str: ...

    def note(self, folder: str, event: str, message: str) -> None: ...


def perform(options: argparse.Namespace, app: App) -> int:
    """The exit code of the verb in `options`."""
    match options.verb:
        case "run":
            request = _requested(options, app)
            return _drive(
                lambda view, hear, agreed: app.start(trusting(request, agreed), hear, warn, somebody(view.say)),
                options,
                app,
            )
        case "debug":
            request = debug_request(options, folder=here())
            return _drive(
                lambda view, hear, agreed: app.debug(trusting(request, agreed), hear, warn, somebody(view.say)),
                options,
                app,
            )
        case "map" | "discuss":
            request = asking_request(options, folder=here())
            return _drive(
                lambda view, _, agreed: app.consult(trusting(request, agreed), warn, somebody(view.say)), options, app
            )
        case "retry" if not options.phase:
            console.say(waiting_call(options, app))
        case "resume" | "retry":
            folder, changes = here(), resumption_of(options)
            return _drive(
                lambda view, hear, agreed: app.resume(
                    folder, hear, warn, msgspec.structs.replace(changes, trust=agreed), somebody(view.say)
                ),
                options,
                app,
            )
        case "stop":
            console.say(app.stop(here(), now=options.now))
        case "rebuild":
            console.say(f"Written anew: {app.rebuild(here())}")
        case unknown:
            raise AssertionError(f"the parser let the verb {unknown!r} through")
    return 0


def trusting(request: RunRequest, agreed: str) -> RunRequest:
    return msgspec.structs.replace(request, trust=agreed)


def resumption_of(options: argparse.Namespace) -> Resumption:
    """`retry N` resumes the run for the sake of one failed phase."""
    again = options.verb == "retry"
    return Resumption(
        agent=options.agent,
        sandbox=options.sandbox,
        hosts=tuple(options.hosts),
        open_network=options.open_network,
        caps=caps_of(options),
        now=again or options.now,
        keep_awake=options.keep_awake,
        wait=options.wait,
        failover=tuple(options.failover),
        retry=options.phase if again else "",
        step=options.step if again else "",
        roadmap=options.roadmap,
    )


def waiting_call(options: argparse.Namespace, app: App) -> str:
    """Bare `retry`: a call that waits for an agent is asked again."""
    if options.step:
        raise UsageInvalid(
            "--step needs a phase.",
            why="Without a phase, `retry` only asks an agent again that a run waits for.",
            do=f"Name the failed phase: autopilot retry 3 --step {options.step}",
        )
    return app.retry(here())


def request_of(options: argparse.Namespace, folder: str) -> RunRequest:
    return RunRequest(
        folder=folder,
        phases=" ".join(options.phases),
        agent=options.agent,
        reviewer=options.reviewer,
        model=options.model,
        lenient=options.lenient,
        sandbox=options.sandbox,
        hosts=tuple(options.hosts),
        open_network=options.open_network,
        visual=options.visual,
        first=options.first,
        last=options.last,
        only=options.only,
        caps=caps_of(options),
        modes=mode_options.chosen(options),
        answers=options.answers,
        keep_awake=options.keep_awake,
        wait=options.wait,
        failover=tuple(options.failover),
        evidence=options.evidence,
        roadmap=options.roadmap,
    )


def debug_request(options: argparse.Namespace, folder: str) -> RunRequest:
    return RunRequest(
        folder=folder,
        agent=options.agent,
        reviewer=options.reviewer,
        model=options.model,
        sandbox=options.sandbox,
        hosts=tuple(options.hosts),
        open_network=options.open_network,
        caps=caps_of(options),
        modes=Modes(debug=True),
        keep_awake=options.keep_awake,
        wait=options.wait,
        failover=tuple(options.failover),
        symptom=" ".join(options.symptom),
        checks=tuple(options.check),
    )


def _requested(options: argparse.Namespace, app: App) -> RunRequest:
    """Flags that exclude each other are an event of the run that is open here, if one is."""
    folder = here()
    try:
        return request_of(options, folder)
    except FlagsClash as clash:
        app.note(folder, clash.event, clash.what)
        raise


def asking_request(options: argparse.Namespace, folder: str) -> RunRequest:
    """`map` and `discuss` as verbs: people are asked, and nothing is run."""
    phases = " ".join(options.phases)
    modes = Modes(map=phases) if options.verb == "map" else Modes(discuss=phases)
    return RunRequest(
        folder=folder,
        agent=options.agent,
        model=options.model,
        sandbox=options.sandbox,
        hosts=tuple(options.hosts),
        open_network=options.open_network,
        caps=caps_of(options),
        modes=modes,
        answers=options.answers,
        wait=options.wait,
        failover=tuple(options.failover),
    )


def caps_of(options: argparse.Namespace) -> RunCaps:
    return RunCaps(usd=options.max_usd, tokens=options.max_tokens, hours=options.max_hours)


def warn(text: str) -> None:
    """The first line says it; below it may be what a command printed."""
    first, *printed = text.split("\n")
    lines = (f"    {clean(line, 160)}" for line in printed[:MOST_PRINTED] if line.strip())
    console.warn("\n".join((f"autopilot: warning: {clean(first, 800)}", *lines)))


def _drive(work: Callable[[View, Listener, str], RunEnd], options: argparse.Namespace, app: App) -> int:
    """With --json, standard output is for the result, so progress is plain lines on standard error."""
    out, folder = sys.stderr if options.json else sys.stdout, here()
    view = view_of(out, folder, plain=options.plain or options.json)
    key = RetryKey(sys.stdin, lambda: app.retry(folder))

    def hear(stream: str, entry: Entry) -> None:
        view(stream, entry)
        key(entry)

    try:
        end = with_consent(lambda agreed: work(view, hear, agreed), options.trust)
    except (AutopilotError, Interrupted) as error:
        if options.json:
            reason = error.what if isinstance(error, AutopilotError) else "interrupted"
            do = error.do if isinstance(error, ConsentMissing) else ""
            _print_end(RunEnd(run=view.narrator.run, exit=error.exit_code, reason=reason, do=do))
        raise
    finally:
        key.close()
        view.close()
    view.announce(end)
    if view.broken:
        console.silence(out.fileno())
    if options.json:
        _print_end(end)
    return end.exit


def _print_end(end: RunEnd) -> None:
    line = msgspec.to_builtins(end)
    if not end.do:
        del line["do"]
    console.say(msgspec.json.encode(line).decode())


def demonstrate(keep: str | None, demo: Demo, *, plain: bool = False) -> int:
    """Run the demo and print what it has to tell at its end."""
    view = view_of(sys.stdout, here(), plain=plain)
    try:
        end, account = demo(str(Path(keep).absolute()) if keep else None, view, warn)
    finally:
        view.close()
    if view.broken:
        console.silence(sys.stdout.fileno())
    console.say(f"\n{account.rstrip()}")
    return end.exit


def here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError as error:
        raise RepositoryInvalid(
            "The current folder no longer exists.",
            why="Autopilot works on the repository you stand in.",
            do="Change into the repository and try again.",
        ) from error
