"""`autopilot receipt`: show what a phase was decided by, and check it by doing it again."""

import argparse
from collections.abc import Callable
from typing import Protocol

import msgspec

from autopilot.cli import console
from autopilot.cli.consent import with_consent
from autopilot.cli.verbs.run import here, warn
from autopilot.domain.receipt import Recheck, Statement
from autopilot.domain.settings import SandboxChoice
from autopilot.views.lines import receipt_tables as receipts

DIFFERS = 10


class Held(Protocol):
    """A receipt and where it is from."""

    @property
    def statement(self) -> Statement: ...
    @property
    def text(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def signature(self) -> str | None: ...


class Attester(Protocol):
    """What these verbs need of the program; `autopilot.app` is one."""

    def receipts(self, folder: str) -> tuple[Held, ...]: ...

    def receipt(self, folder: str, phase: str) -> Held: ...

    def check_receipt(
        self,
        folder: str,
        phase: str,
        file: str | None,
        sandbox: SandboxChoice,
        warn: Callable[[str], None],
        trust: str = "",
    ) -> Recheck: ...


def perform(options: argparse.Namespace, app: Attester) -> int:
    """The exit code of the verb in `options`."""
    folder = here()
    if options.verb == "receipt check":
        asked = (folder, options.phase, options.file, options.sandbox, warn)
        done = with_consent(lambda agreed: app.check_receipt(*asked, agreed), options.trust)
        console.say(msgspec.json.encode(done).decode() if options.json else receipts.comparison(done))
        return 0 if done.same else DIFFERS
    if options.phase is None:
        console.say(_list(app.receipts(folder), as_json=options.json))
        return 0
    held = app.receipt(folder, options.phase)
    shown = receipts.page(held.statement, held.where, signed=held.signature is not None)
    console.say(held.text.rstrip("\n") if options.json else shown)
    return 0


def _list(found: tuple[Held, ...], *, as_json: bool) -> str:
    if as_json:
        return msgspec.json.encode([held.statement for held in found]).decode()
    return receipts.listing([(held.statement, held.signature is not None) for held in found])
