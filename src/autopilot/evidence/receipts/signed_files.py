"""The files of a receipt: the statement, and its signature where one is wanted and can be had."""

from collections.abc import Callable
from dataclasses import dataclass

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.receipt import FILE, SIGNATURE, Blobs, no_blobs
from autopilot.domain.verdict import Verdict
from autopilot.evidence.receipts.build_receipt import statement, text_of
from autopilot.history.record import PhaseRecord, RunRecord


def unsigned(text: str) -> str | None:  # noqa: ARG001 - the signature of every signer
    return None


@dataclass(frozen=True, slots=True)
class PhaseReceipts:
    """Implements `Receipts`."""

    sign: Callable[[str], str | None] = unsigned
    blobs: Blobs = no_blobs

    def files(
        self,
        record: PhaseRecord,
        run: RunRecord,
        outcome: PhaseOutcome,
        verdict: Verdict,
        earlier: tuple[PhaseRecord, ...] = (),
    ) -> dict[str, str]:
        text = text_of(statement(record, run, outcome, verdict, earlier, self.blobs))
        signature = self.sign(text)
        return {FILE: text} | ({SIGNATURE: signature} if signature else {})
