"""What verdicts on deferred phases have taught over all runs: the threshold, and the rows it rests on. Pure."""

import msgspec

from autopilot.domain.events import Noted
from autopilot.domain.people import HumanWord
from autopilot.domain.value import Value
from autopilot.history.record import RunRecord
from autopilot.policy.deferrals import ADJUSTED, HIGHEST, LOWEST, Adjustment, adjustment, deferral_history

Key = tuple[str, str, str]


class Row(Value, frozen=True, kw_only=True):
    """A phase that was left to a person. `counted`: its verdict has had its part in moving the threshold."""

    run: str
    phase_id: str
    autonomous_confidence: float | None = None
    human_verdict: HumanWord | None = None
    timestamp: str = ""
    counted: bool = False

    @property
    def key(self) -> Key:
        return self.run, self.phase_id, self.timestamp


class Calibration(Value, frozen=True, kw_only=True):
    deferral_threshold: float = 6.0
    history: tuple[Row, ...] = ()

    @property
    def threshold(self) -> float:
        """Within its bounds, whatever somebody wrote into the file."""
        return min(HIGHEST, max(LOWEST, self.deferral_threshold))

    @property
    def fresh(self) -> tuple[Row, ...]:
        """Rows whose verdict has moved nothing yet."""
        return tuple(row for row in self.history if row.human_verdict is not None and not row.counted)


def learnt(held: Calibration, run: RunRecord) -> Calibration:
    """With what the run knows: its rows as they are now, and an adjustment it has noted and the file has not."""
    known = {row.key: row for row in held.history}
    for told in deferral_history(run):
        if told["reason"] == "deferred":
            row = Row(
                run=run.start.run,
                phase_id=told["phase_id"],
                autonomous_confidence=told["autonomous_confidence"],
                human_verdict=told["human_verdict"],
                timestamp=told["timestamp"],
            )
            before = known.get(row.key)
            known[row.key] = msgspec.structs.replace(row, counted=before is not None and before.counted)
    found = Calibration(deferral_threshold=held.threshold, history=tuple(known.values()))
    for note in run.of(Noted):
        if note.event == ADJUSTED:
            found = _noted(found, note)
    return found


def _noted(held: Calibration, note: Noted) -> Calibration:
    counted = {(row[0], row[1], row[2]) for row in note.details.get("counted", ())}
    missed = any(row.key in counted for row in held.fresh)
    return _counting(held, counted, float(note.details["new_threshold"])) if missed else held


def adjusted(held: Calibration) -> tuple[Calibration, Noted | None]:
    """STAT-06a: three fresh verdicts move the threshold, or, where they are mixed, leave it; each counts once."""
    fresh = held.fresh
    change = adjustment([row.human_verdict for row in fresh if row.human_verdict], held.threshold)
    if change is None:
        return held, None
    keys = {row.key for row in fresh}
    return _counting(held, keys, change.new), _note(change, sorted(keys)) if change.message else None


def _counting(held: Calibration, keys: set[Key], threshold: float) -> Calibration:
    rows = (msgspec.structs.replace(row, counted=row.counted or row.key in keys) for row in held.history)
    return Calibration(deferral_threshold=threshold, history=tuple(rows))


def _note(change: Adjustment, counted: list[Key]) -> Noted:
    details = {
        "old_threshold": change.old,
        "new_threshold": change.new,
        "pass_rate": round(change.pass_rate, 3),
        "counted": [list(key) for key in counted],
        "message": change.message,
    }
    return Noted(event=ADJUSTED, details=details)
