"""What to do about agents that are not to be had: ask another one, wait, or stop. From the journal alone; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autopilot.domain.agent_call import Outcome
from autopilot.domain.events import AgentAnswered, Entry, RunFinished, RunResumed, RunStopped, WaitEnded
from autopilot.domain.settings import Limits
from autopilot.domain.value import Value
from autopilot.history.record import RunRecord
from autopilot.text.times import later, seconds_of

TROUBLES = frozenset({"usage_limited", "rate_limited", "overloaded", "auth", "cancelled"})
"""How calls end that were not answered though nothing is wrong with the question: they are put again."""
MINUTE, HOUR = 60, 3600
MOST_DOUBLINGS = 30
AGES_AGO = "0000-01-01T00:00:00.000Z"


class Trouble(Value, frozen=True, kw_only=True):
    """A call that an agent was not to be had for. `resets_at` is in the journal's form."""

    outcome: Outcome
    at: str
    resets_at: str | None = None
    text: str = ""


Troubles = Mapping[str, tuple[Trouble, ...]]
"""By agent: its troubles in a row up to now, oldest first; one that answered since has none."""


class Moments(Value, frozen=True, kw_only=True):
    """
    When what was known of agents stopped counting.

    `asked_anew`: a person wanted them asked at once. `taken_up`: the run went on after an orderly end. `served`: by
    agent, when a wait for it was over.
    """

    asked_anew: str = AGES_AGO
    taken_up: str = AGES_AGO
    served: dict[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All there is to decide by. `chance` is a random number from 0 to 1; `wait` False: not for usage windows."""

    ladder: tuple[str, ...]
    troubles: Troubles
    moments: Moments
    limits: Limits
    now: str
    wait: bool = True
    chance: float = 1.0


@dataclass(frozen=True, slots=True)
class Ask:
    backend: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Ask `backend` at `until`. `told`: it said itself until when."""

    backend: str
    outcome: Outcome
    until: str
    attempt: int
    told: bool = False


@dataclass(frozen=True, slots=True)
class Halt:
    """Nobody can be asked in time. `until` is when the first window opens, if that is known."""

    backend: str
    outcome: Outcome
    until: str | None = None
    text: str = ""
    attempt: int = 1


Turn = Ask | Hold | Halt


def turn(scene: Scene) -> Turn:
    """
    The first agent of the ladder that can be asked.

    One whose service is in trouble is waited for, while its tries last; one that is shut is passed over. Where all
    are shut, the one that opens first is waited for.
    """
    shut: list[Hold | Halt] = []
    for backend in scene.ladder:
        state = _standing(backend, scene)
        if state is None:
            return Ask(backend)
        if isinstance(state, Hold) and not _is_shut(state):
            return state
        shut.append(state)
    waits = sorted((state for state in shut if isinstance(state, Hold)), key=lambda state: state.until)
    if waits and scene.wait:
        return waits[0]
    if waits:
        return Halt(waits[0].backend, "usage_limited", waits[0].until if waits[0].told else None)
    halts = [state for state in shut if isinstance(state, Halt)]
    order: tuple[Outcome, ...] = ("usage_limited", "rate_limited", "overloaded", "cancelled", "auth")
    return min(halts, key=lambda state: (order.index(state.outcome), state.until or "9"))


def _standing(backend: str, scene: Scene) -> Hold | Halt | None:
    """Why the agent cannot be asked now; None when it can."""
    series = [t for t in scene.troubles.get(backend, ()) if t.at > scene.moments.asked_anew]
    if not series or series[-1].at <= scene.moments.served.get(backend, AGES_AGO):
        return None
    newest = series[-1]
    if newest.outcome == "auth":
        return Halt(backend, "auth", text=newest.text) if newest.at > scene.moments.taken_up else None
    if newest.outcome == "cancelled":
        return _interrupted(backend, series, scene)
    if is_window(newest, scene.limits):
        return _window(backend, series, scene)
    return _overload(backend, series, scene)


def _interrupted(backend: str, series: list[Trouble], scene: Scene) -> Halt | None:
    """A call that was cut off from outside is made again at once; a program that always ends so has an end too."""
    count = sum(t.outcome == "cancelled" and t.at > scene.moments.taken_up for t in series)
    most = scene.limits.interruptions
    return Halt(backend, "cancelled", text=series[-1].text, attempt=count) if count >= most else None


def _is_shut(state: Hold) -> bool:
    """A usage window; what is only in trouble has the outcome that tells so."""
    return state.outcome == "usage_limited"


def is_window(trouble: Trouble, limits: Limits) -> bool:
    """A used-up window, or a service that wants to be left alone for longer than one in trouble ever is."""
    if trouble.outcome == "usage_limited":
        return True
    told = trouble.resets_at
    return told is not None and seconds_of(told) - seconds_of(trouble.at) > limits.overload_most_seconds


def _window(backend: str, series: list[Trouble], scene: Scene) -> Hold | Halt | None:
    newest, limits = series[-1], scene.limits
    longest = limits.wait_hours * HOUR
    if _ahead(newest):
        assert newest.resets_at is not None
        until = later(newest.resets_at, limits.wait_margin_seconds)
        spent, attempt = seconds_of(until) - seconds_of(scene.now), 1
    else:
        attempt = _in_a_row(series, limits)
        until = later(newest.at, unknown_delay(attempt, limits))
        spent = sum(unknown_delay(n, limits) for n in range(1, attempt + 1))
    if until <= scene.now:
        return None
    if spent > longest:
        return Halt(backend, "usage_limited", until if _ahead(newest) else None, newest.text, attempt)
    return Hold(backend, "usage_limited", until, attempt, told=_ahead(newest))


def _ahead(trouble: Trouble) -> bool:
    """Whether a time was told that had not come yet; one that is past says nothing."""
    return trouble.resets_at is not None and trouble.resets_at > trouble.at


def _in_a_row(series: list[Trouble], limits: Limits) -> int:
    """How many windows in a row were used up until nobody knows when."""
    count = 0
    for trouble in reversed(series):
        if not is_window(trouble, limits) or _ahead(trouble):
            break
        count += 1
    return count


def _overload(backend: str, series: list[Trouble], scene: Scene) -> Hold | Halt | None:
    limits, count = scene.limits, 0
    for trouble in reversed(series):
        if trouble.outcome == "auth" or is_window(trouble, limits) or trouble.at <= scene.moments.taken_up:
            break
        count += trouble.outcome != "cancelled"
    if not count:
        return None
    newest = series[-1]
    if count >= limits.overload_tries:
        rested = later(newest.at, limits.overload_most_seconds)
        return None if rested <= scene.now else Halt(backend, newest.outcome, text=newest.text, attempt=count)
    if newest.resets_at is not None and _ahead(newest):
        until = later(newest.resets_at, scene.chance * limits.overload_seconds)
    else:
        until = later(newest.at, overload_delay(count, limits, scene.chance))
    return Hold(backend, newest.outcome, until, count, told=_ahead(newest)) if until > scene.now else None


def unknown_delay(attempt: int, limits: Limits) -> float:
    """Seconds until a window that opens nobody knows when is tried: twice as long each time, up to a bound."""
    minutes = limits.wait_minutes * 2.0 ** min(attempt - 1, MOST_DOUBLINGS)
    return min(minutes, max(limits.wait_minutes, limits.wait_most_minutes)) * MINUTE


def overload_delay(attempt: int, limits: Limits, chance: float) -> float:
    """
    Seconds until a service in trouble is asked again: any time up to a bound that doubles.

    So that all who were turned away at the same moment do not come back at the same moment.
    """
    bound = limits.overload_seconds * 2.0 ** min(attempt - 1, MOST_DOUBLINGS)
    return chance * min(bound, max(limits.overload_seconds, limits.overload_most_seconds))


def troubles_of(entries: Iterable[Entry]) -> Troubles:
    """What a pass tells of the agents it asked."""
    found: dict[str, tuple[Trouble, ...]] = {}
    for entry in entries:
        if not isinstance(entry.event, AgentAnswered):
            continue
        answer = entry.event
        if answer.outcome in TROUBLES:
            trouble = Trouble(
                outcome=answer.outcome, at=entry.at, resets_at=in_form(answer.resets_at), text=answer.text
            )
            found[answer.backend] = (*found.get(answer.backend, ()), trouble)
        else:
            found.pop(answer.backend, None)
    return found


def in_form(told: str | None) -> str | None:
    """A moment as the journal writes it; None for what is none."""
    try:
        return later(told, 0.0) if told and told.endswith("Z") else None
    except (ValueError, IndexError):
        return None


def moments_of(run: RunRecord) -> Moments:
    anew, taken_up, served, ended = AGES_AGO, AGES_AGO, dict[str, str](), False
    for entry in run.entries:
        match entry.event:
            case RunStopped() | RunFinished():
                ended = True
            case RunResumed(at_once=at_once):
                taken_up = entry.at if ended else taken_up
                anew, ended = entry.at if at_once else anew, False
            case WaitEnded(how="retried"):
                anew = entry.at
            case WaitEnded(how="due", backend=backend):
                served[backend] = entry.at
    return Moments(asked_anew=anew, taken_up=taken_up, served=served)
