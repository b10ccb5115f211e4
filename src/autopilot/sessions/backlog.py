"""What is left to do, by the kind of session that does it, and the run each kind of session asks for."""

from collections.abc import Sequence

from msgspec.structs import replace

from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from autopilot.domain.value import Value
from autopilot.sessions.selector import Executed

MOST_PHASES = 3
MOST_PRIORITIES = 5


class Backlog(Value, frozen=True, kw_only=True):
    """
    Phases by what they need. `ready` wait for no other; `failed` were tried and did not pass; `weak` passed below the
    bar; `gaps` passed, but the audit or the integration check found something missing.
    """

    ready: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def wanted(self) -> Executed | None:
        """The kind of session that the work left asks for first; None when there is none."""
        order: tuple[Executed, ...] = ("feature", "deep", "housekeeping")
        return next((mode for mode in order if self.has(mode)), None)

    @property
    def first(self) -> tuple[str, ...]:
        return (*self.failed, *self.ready, *self.weak, *self.gaps)[:MOST_PRIORITIES]

    @property
    def all(self) -> frozenset[str]:
        return frozenset((*self.ready, *self.failed, *self.weak, *self.gaps))

    def without(self, phases: Sequence[str]) -> "Backlog":
        """What is left when these are done."""
        kept = {
            name: tuple(phase for phase in getattr(self, name) if phase not in phases)
            for name in self.__struct_fields__
        }
        return Backlog(**kept)

    def has(self, mode: str) -> bool:
        work = {"feature": self.ready, "deep": self.failed or self.weak, "housekeeping": self.gaps}
        return bool(work.get(mode))


class SessionWork(Value, frozen=True, kw_only=True):
    """The phases of one session, and the run that does them."""

    phases: tuple[str, ...]
    request: RunRequest


def work_for(mode: Executed, backlog: Backlog, base: RunRequest, cap: int | None = None) -> SessionWork:
    """
    `feature` runs the next ready phases; `deep` tries failed ones again, else raises weak ones; `housekeeping` closes
    gaps. `base` is what the user said about agents and limits; `cap` bounds how many phases run, and how many at once.
    """
    jobs = max(1, cap) if cap is not None else base.modes.jobs
    modes = replace(base.modes, jobs=min(base.modes.jobs, jobs))
    if mode == "feature":
        return _named(backlog.ready[: _size(cap)], base, modes)
    if mode == "deep" and backlog.failed:
        return _named(backlog.failed[: _size(cap)], base, modes)
    if mode == "deep":
        chosen = backlog.weak[: _size(cap)]
        return SessionWork(phases=chosen, request=replace(base, modes=replace(modes, quality=_list(chosen))))
    chosen = backlog.gaps[: _size(cap)]
    return SessionWork(phases=chosen, request=replace(base, modes=replace(modes, gaps=_list(chosen))))


def _named(phases: tuple[str, ...], base: RunRequest, modes: Modes) -> SessionWork:
    return SessionWork(phases=phases, request=replace(base, phases=_list(phases), modes=modes))


def _size(cap: int | None) -> int:
    return MOST_PHASES if cap is None else max(1, min(MOST_PHASES, cap))


def _list(phases: Sequence[str]) -> str:
    return ",".join(phases)
