"""`autopilot status`: how the run stands, read from state.json alone and with as few imports as possible."""

# os.path throughout: importing pathlib alone takes as long as all the rest of this module.
# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH120, PTH208
import json
import os

from autopilot.domain.errors import RepositoryInvalid, StorageFailed, UsageInvalid
from autopilot.text.clean import clean

CONTINUE = "To continue: autopilot resume"
_WIDTH = 80
_TOKENS = ("estimated_tokens", "tokens_used")
_OUTCOMES = {"already_satisfied": "already satisfied", "below_bar": "below the bar"}
_NEVER_RUN = ("deferred", "superseded", "cancelled")  # as in domain/phase.py, which takes long to load
_OVER = frozenset({"completed", "failed", "skipped", "blocked", "needs_human_verification", *_NEVER_RUN})


def show(*, as_json: bool, folder: str = ".") -> str:
    """The screen, or with `as_json` the state.json object as it lies on the disk."""
    home = home_of(os.path.abspath(folder))
    text, state = _load(home)
    if as_json:
        return text.rstrip("\n")
    shown = [*screen(state, alive=_held(f"{home}/lock")), *_unlanded(state, folder)]
    strange = _stranger(state, os.path.dirname(home))
    return "\n".join([*(line for line in shown if line != CONTINUE), "", *strange] if strange else shown)


def screen(state: dict[str, object], *, alive: bool) -> list[str]:
    """At most 80 columns. A run that says it is running while nobody holds its lock was interrupted."""
    meta = _table(state.get("_meta"))
    status = _word(meta.get("status"))
    if status == "running" and not alive:
        status = "interrupted"
    phases = {name: _table(phase) for name, phase in _table(state.get("phases")).items()}
    lines = [f"Run {_word(meta.get('run_id'))}: {status}", f"Spec: {_word(_table(state.get('spec')).get('path'))}"]
    if status in {"running", "interrupted", "paused"} and meta.get("current_phase") is not None:
        step = meta.get("current_step")
        lines.append(f"Now: phase {_word(meta['current_phase'])}{f', {_word(step)}' if step else ''}")
    lines += _waits(state.get("waiting")) if status in {"running", "interrupted"} else []
    lines += ["", *_rows(phases), "", *_counts(phases), *_spent(_table(state.get("spending"))), *_estimated(phases)]
    lines += _breaker(_table(state.get("circuit_breaker")))
    if status in {"interrupted", "paused", "failed"}:
        lines.append(CONTINUE)
    return lines


def _stranger(state: dict[str, object], root: str) -> list[str]:
    """Why nothing here can be believed or resumed. What tells that is loaded only where no grant of the user is."""
    from autopilot.authority.places import is_granted

    if is_granted(str(_table(state.get("_meta")).get("run_id")), root):
        return []
    from autopilot.app import prepare as app

    return [clean(line, 600) for line in app.stranger(root)]


def _unlanded(state: dict[str, object], folder: str) -> list[str]:
    """Only git knows whether the user has merged it since: what that takes is loaded only if it matters."""
    late = state.get("not_landed")
    if not isinstance(late, list):
        return []
    from autopilot.app import prepare as app

    merges = app.unlanded(folder)
    return [f"Phase {phase} is not on your branch yet: {merges[phase]}" for phase in late if phase in merges]


def _waits(waiting: object) -> list[str]:
    """What is waited for, and for how long yet."""
    lines = list[str]()
    for held in waiting if isinstance(waiting, list) else ():
        wait = _table(held)
        why = "usage limit" if wait.get("outcome") == "usage_limited" else "trouble at the service"
        until = _word(wait.get("until"))
        place = f"phase {_word(wait.get('phase'))}, {_word(wait.get('step'))}"
        lines.append(f"Waiting: {place}: {why} of {_word(wait.get('agent'))} until {until[:19]}Z{_left(until)}")
    return [clean(line, 160) for line in lines] + (["To ask at once: autopilot retry"] if lines else [])


def _left(until: str) -> str:
    """`, 3h 12m left`; empty for what is no time, or past."""
    import time

    from autopilot.text.times import seconds_of

    try:
        left = int(seconds_of(until) - seconds_of(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()))) // 60
    except (ValueError, IndexError):
        return ""
    return f", {left // 60}h {left % 60:02}m left" if left > 0 else ", due" if left < 0 else ", less than a minute left"


def _rows(phases: dict[str, dict[str, object]]) -> list[str]:
    shown = [(name, _status(phase), _score(phase), _remark(phase)) for name, phase in phases.items()]
    shown.insert(0, ("Phase", "Status", "Score", "Name, reason"))
    first, second = (max(len(row[n]) for row in shown) for n in (0, 1))
    room = _WIDTH - first - second - len("Score") - 6
    return [
        f"{name:<{first}}  {status:<{second}}  {score:>5}  {clean(remark, room)}".rstrip()
        for name, status, score, remark in shown
    ]


def _status(phase: dict[str, object]) -> str:
    """`needs_human_verification` is too long a word for a column."""
    status, outcome = _word(phase.get("status")), phase.get("outcome")
    if outcome:
        return _OUTCOMES.get(str(outcome), _word(outcome).replace("_", " "))
    return "needs a person" if status == "needs_human_verification" else status.replace("_", " ")


def _score(phase: dict[str, object]) -> str:
    score = phase.get("alignment_score")
    return f"{score:.1f}" if isinstance(score, int | float) else "-"


def _remark(phase: dict[str, object]) -> str:
    """The phase's name, and for one that did not simply pass why."""
    passed = phase.get("status") == "completed" and not (phase.get("force_incomplete") or phase.get("outcome"))
    parts = [_word(phase.get("name"), "")]
    parts += [flag.replace("_", " ") for flag in ("quality_exhausted", "gaps_exhausted") if phase.get(flag)]
    parts += ["unanchored"] if phase.get("unanchored") else []
    said = phase.get("caveats")
    parts += [_word(caveat) for caveat in said] if isinstance(said, list) else []
    why = _word(phase.get("reason"), "").replace("_", " ")
    # Of an outcome the status column has said the first half.
    for said in ("already satisfied: ", "passed below the bar, ") if phase.get("outcome") else ():
        why = why.removeprefix(said)
    parts += [why] if not passed else []
    return ": ".join(part for part in parts if part)


def _counts(phases: dict[str, dict[str, object]]) -> list[str]:
    """How many are in which state, over as many lines as that takes."""
    statuses = [_status(phase) for phase in phases.values()]
    over = sum(phase.get("status") in _OVER for phase in phases.values())
    lines = [f"{over}/{len(phases)} phases over"]
    for status in dict.fromkeys(statuses):
        count = f"{statuses.count(status)} {status}"
        if len(lines[-1]) + len(count) + 3 > _WIDTH:
            lines.append(f"  {count}")
        else:
            lines[-1] += f"{': ' if len(lines) == 1 and ':' not in lines[0] else ', '}{count}"
    return lines


def _spent(spending: dict[str, object]) -> list[str]:
    """What is used of each cap; what no agent told is unknown and not nothing."""
    told = {unit: _table(spending.get(unit)) for unit in ("usd", "tokens", "minutes")}
    shown = [_part(unit, part.get("used"), part.get("cap")) for unit, part in told.items() if part]
    return [f"Used: {', '.join(shown)}"] if shown else []


def _estimated(phases: dict[str, dict[str, object]]) -> list[str]:
    """What was reckoned before for the phases begun, beside what they have used; nothing where no agent told that."""
    begun = [phase for phase in phases.values() if isinstance(phase.get("estimated_tokens"), int)]
    sums = [sum(n for phase in begun if isinstance(n := phase.get(key), int)) for key in _TOKENS]
    if not sums[0] or not sums[1]:
        return []
    share = f"{100 * sums[1] // sums[0]} %"
    return [f"Estimated: {sums[0]} tokens for the phases begun; used: {sums[1]} ({share})"]


def _part(unit: str, used: object, cap: object) -> str:
    if unit == "usd":
        return f"{_money(used)} of {_money(cap)}"
    return f"{_number(used)} {unit}" if cap is None else f"{_number(used)} of {_number(cap)} {unit}"


def _money(value: object) -> str:
    return f"${value:.2f}" if isinstance(value, int | float) else "unknown dollars"


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int) else "unknown"


def _breaker(breaker: dict[str, object]) -> list[str]:
    if breaker.get("state") not in {"open", "half_open"}:
        return []
    words = f"Breaker: {_word(breaker.get('state')).replace('_', ' ')}"
    return [clean(f"{words}, {_word(breaker['reason'])}" if breaker.get("reason") else words, _WIDTH)]


def _word(value: object, missing: str = "?") -> str:
    return clean(str(value)) if value not in (None, "") else missing


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def home_of(folder: str) -> str:
    """The nearest `.autopilot` from here upwards, but not beyond the repository."""
    while True:
        home = f"{folder.rstrip('/')}/.autopilot"
        parent = os.path.dirname(folder)
        if os.path.isdir(home) or os.path.exists(f"{folder.rstrip('/')}/.git") or parent == folder:
            return home
        folder = parent


def _load(home: str) -> tuple[str, dict[str, object]]:
    """RSM-01: the state, from its backup when it is broken; else the newest archived run."""
    held = _read(f"{home}/state.json")
    state = _parsed(held)
    if held is not None and state is not None:
        return held, state
    for path in _archived(f"{home}/archive") if held is None else [f"{home}/state.json.backup"]:
        other = _read(path)
        state = _parsed(other)
        if other is not None and state is not None:
            return other, state
    if held is None:
        raise UsageInvalid(
            "No run found.",
            why="There is no .autopilot/state.json in this repository to tell of one.",
            do="Start one, for example with: autopilot next",
        )
    raise RepositoryInvalid(
        f"{home}/state.json cannot be read as the state of a run.",
        why="Neither the file nor its backup holds what Autopilot writes there.",
        do="If it is another tool's file, move it away; otherwise: autopilot rebuild",
    )


def _archived(folder: str) -> list[str]:
    """Newest first: the run's name tells its time."""
    try:
        names = [name[:-5] for name in os.listdir(folder) if name.startswith("run-") and name.endswith(".json")]
    except OSError:
        return []
    return [f"{folder}/{name}.json" for name in sorted(names, reverse=True)]


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=_plainly) as file:
            return file.read() if os.path.isfile(path) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageFailed(
            f"{path} cannot be read: {error.strerror}.",
            why="It tells how the run stands.",
            do="Make it readable for you.",
        ) from error


def _plainly(path: str, flags: int) -> int:
    """Neither through a link nor waiting for a pipe's other end: the file may have come with the repository."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _parsed(text: str | None) -> dict[str, object] | None:
    from autopilot.text.checksum import intact

    try:
        state = json.loads(text) if text and intact(text.encode()) else None
    except (ValueError, RecursionError):
        return None
    return state if isinstance(state, dict) and isinstance(state.get("_meta"), dict) else None


def _held(path: str) -> bool:
    """Whether a living process holds the run's lock; the system takes it from a dead one."""
    import fcntl

    try:
        descriptor = _plainly(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
