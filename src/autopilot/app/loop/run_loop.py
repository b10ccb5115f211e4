"""Run the session loop on this machine: real sessions of our engine, real signals, and the records of both."""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

from autopilot.app.loop.one_session import Ground, executed, repository_of, require_trust
from autopilot.app.wiring import Warn
from autopilot.domain.request import RunRequest
from autopilot.domain.value import Value
from autopilot.journal.clock import SystemClock
from autopilot.journal.lock import Owner, alive, birth_of, boot_id
from autopilot.ports.agents import Listener
from autopilot.sandbox.processes.stop_signals import Patience
from autopilot.sessions import backlog as backlogs
from autopilot.sessions import flags, loop_summary, signals
from autopilot.sessions.files.loop_record import default_run_id, moment
from autopilot.sessions.files.open_loops import OpenLoops
from autopilot.sessions.flags import LoopFlags
from autopilot.sessions.loop import LoopEnd, LoopPlan, Ports, run_loop
from autopilot.sessions.machine.stall import CADENCE_S, Watch
from autopilot.sessions.selector import EXECUTED, Executed, Recommendation

# What the command line needs of the session loop comes through here.
__all__ = ["EXECUTED", "LoopEnd", "LoopRequest", "Step", "Timing", "flags", "foresee", "loop_summary", "run"]


class LoopRequest(Value, frozen=True, kw_only=True):
    """The flags of the loop, and what each of its runs is given: agents, models, sandbox, caps."""

    flags: LoopFlags
    base: RunRequest
    mode: Executed | None = None
    """The mode of every session, as the user named it. None: the selector chooses."""


class Step(Value, frozen=True, kw_only=True):
    """One iteration as it would be."""

    choice: Recommendation
    phases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where the time comes from: as the journal writes it, in seconds, and between two looks at a heartbeat."""

    now: Callable[[], str] = SystemClock().now
    seconds: Callable[[], float] = time.time
    look_every_s: float = CADENCE_S


def run(request: LoopRequest, listener: Listener, warn: Warn, timing: Timing | None = None) -> LoopEnd:
    """Session after session until a switch stops it. Its record is written when this returns."""
    timing = timing or Timing()
    if not request.flags.dry_run:
        require_trust(request.base)
    ground = Ground.of(request.base, listener, warn, request.mode)
    for remark in ground.remarks():
        warn(remark)
    ground.heartbeat.seconds = timing.seconds
    repository = repository_of(ground.root)
    repository.ignore(ground.home.name, repository.shape().exclude)
    loops = OpenLoops(ground.home / "metrics", _me(), _lives)
    for lost in loops.recover():
        warn(
            f"The loop {lost.autopilot_run_id} was cut off after {lost.iterations_completed} sessions; it is recorded."
        )
    plan = LoopPlan(
        flags=request.flags,
        run_id=loops.unique(default_run_id(ground.branch, moment(timing.now()))),
        branch=ground.branch,
        host_class=platform.system().lower() or None,
        peer_abort=ground.peer_abort,
    )
    patience = Patience()
    ports = Ports(
        now=timing.now,
        selector=ground.choose,
        runner=ground.session,
        evaluator=ground.assess,
        peers=lambda: len(ground.live.peers()),
        aborted=lambda: patience.asked,
        watch=Watch(ground.look, every_s=timing.look_every_s),
        opened=loops.opened,
        closed=loops.closed,
    )
    with patience.heeded():
        return run_loop(plan, ports)


def foresee(request: LoopRequest) -> tuple[Step, ...]:
    """The iterations there would be if each session finished what it took on. Nothing is written, nobody is asked."""
    ground = Ground.of(request.base, lambda *_: None, lambda _: None, request.mode)
    left, known, steps, assessed = ground.backlog(), ground.known(), list[Step](), ground.assess()
    for _ in range(request.flags.max_sessions):
        choice = signals.wished(request.mode, left) if request.mode else signals.choose(known, left)
        if choice.mode is None:
            return (*steps, Step(choice=choice))
        work = backlogs.work_for(executed(choice.mode), left, request.base, assessed.cap if assessed else None)
        steps.append(Step(choice=choice, phases=work.phases))
        if choice.confidence < request.flags.confidence_threshold:
            break
        left = left.without(work.phases)
    return tuple(steps)


def _me() -> str:
    return f"{os.getpid()} {birth_of(os.getpid())} {boot_id()}"


def _lives(owner: str) -> bool:
    pid, _, rest = owner.partition(" ")
    birth, _, boot = rest.partition(" ")
    return pid.isdigit() and alive(Owner(pid=int(pid), birth=birth, boot=boot))
