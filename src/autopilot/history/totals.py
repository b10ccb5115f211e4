"""What is summed over the passes of a run. Those that are over are summed once, however long the run goes on. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from autopilot.history.digest import PassDigest, Spent, fresh_tokens
from autopilot.history.run_index import Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """
    Numbers are added one by one in the order of the passes, so that it does not matter where a sum was taken up.

    `usd` is of passes, each rounded. `retries` and `steps` are counts; `error` and `last` are the newest.
    """

    calls: int = 0
    tokens: int | None = None
    usd: float | None = None
    untold_tokens: int = 0
    untold_usd: int = 0
    fresh: int = 0
    unpriced: int = 0
    retries: int = 0
    steps: int = 0
    error: str = ""
    last: str = ""

    @property
    def spent(self) -> Spent:
        return Spent(
            calls=self.calls,
            tokens=self.tokens,
            usd=None if self.usd is None else round(self.usd, 6),
            untold_tokens=self.untold_tokens,
            untold_usd=self.untold_usd,
            fresh=self.fresh,
            unpriced=self.unpriced,
        )

    def plus(self, digest: PassDigest) -> "Figures":
        spent = digest.spent
        return Figures(
            calls=self.calls + spent.calls,
            tokens=self.tokens if spent.tokens is None else (self.tokens or 0) + spent.tokens,
            usd=self.usd if spent.usd is None else (self.usd or 0.0) + spent.usd,
            untold_tokens=self.untold_tokens + spent.untold_tokens,
            untold_usd=self.untold_usd + spent.untold_usd,
            fresh=self.fresh + spent.fresh,
            unpriced=self.unpriced + spent.unpriced,
            retries=self.retries + digest.retries,
            steps=self.steps + len(digest.trials),
            error=digest.error or self.error,
            last=max(self.last, digest.last),
        )


@dataclass(frozen=True, slots=True)
class Price:
    """The most that one call has cost, in tokens that did not come from a cache; nothing where none told."""

    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """`dearest` is by role, `seconds` is how long each pass was worked on, `call_usd` what all single calls cost."""

    figures: Figures = Figures()
    call_usd: float = 0.0
    dearest: dict[str, Price] = field(default_factory=dict)
    by_phase: dict[str, tuple[PassDigest, ...]] = field(default_factory=dict)
    seconds: dict[tuple[str, int], float] = field(default_factory=dict)

    def after(self, passes: Iterable[PassDigest]) -> "Sums":
        """With more passes, in their order."""
        figures, call_usd = self.figures, self.call_usd
        dearest, by_phase, seconds = dict(self.dearest), dict(self.by_phase), dict(self.seconds)
        for digest in passes:
            figures = figures.plus(digest)
            by_phase[digest.phase] = (*by_phase.get(digest.phase, ()), digest)
            seconds[digest.phase, digest.number] = digest.seconds
            for call in digest.calls:
                most, usd = dearest.get(call.role, Price()), call.usage.cost_usd or 0.0
                dearest[call.role] = Price(max(most.tokens, fresh_tokens(call.usage)), max(most.usd, usd))
                call_usd += usd
        return Sums(figures=figures, call_usd=call_usd, dearest=dearest, by_phase=by_phase, seconds=seconds)


class Tally(tuple[PassDigest, ...]):  # noqa: SLOT001 - what is worked out from it is kept in its dictionary
    """
    The passes of a run in the order of their start, of which the first `settled` are over and summed up already.

    `pieces` is how many pieces of the run's time are over with them, and the seconds these took.
    """

    settled: int = 0
    sums: Sums = Sums()
    pieces: tuple[int, float] = (0, 0.0)

    @cached_property
    def whole(self) -> Sums:
        """Of all passes."""
        return self.sums.after(self[self.settled :])

    def settling(self, count: int, over: tuple[Stretch, ...]) -> "Tally":
        """Those passes, known to be over to the number of `count`; `over` is the run's time that is past."""
        tally = Tally(self)
        tally.settled, tally.sums = count, self.sums.after(self[self.settled : count])
        known, seconds = self.pieces
        for keys, measured in over[known:]:
            if not all(key in tally.sums.seconds for key in keys):
                break
            seconds += max((measured, *(tally.sums.seconds[key] for key in keys)))
            known += 1
        tally.pieces = (known, seconds)
        return tally

    def with_open(self, at_work: Iterable[PassDigest]) -> "Tally":
        """The settled ones and those behind them as they are."""
        tally = Tally((*self[: self.settled], *at_work))
        tally.settled, tally.sums, tally.pieces = self.settled, self.sums, self.pieces
        return tally


def tallied(passes: Iterable[PassDigest]) -> Tally:
    """The passes with what is known of their sums, or with nothing known of them yet."""
    return passes if isinstance(passes, Tally) else Tally(passes)
