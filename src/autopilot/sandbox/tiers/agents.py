"""Starts agents' own programs confined: they write only where they work and in the home they were lent."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Job, Processes, Ran
from autopilot.sandbox.egress.passage import Passage, passage
from autopilot.sandbox.egress.program import CANNOT
from autopilot.sandbox.processes.launch import find_program
from autopilot.sandbox.processes.scratch import Scratch, scratch_folder
from autopilot.sandbox.tiers import confine, seatbelt, shell
from autopilot.sandbox.tiers.agent_view import RESOLVER, AgentView, Sight, sight
from autopilot.sandbox.tiers.bubblewrap import ALONE, NOT_STARTED, Walls, mask, run_inside, settings, system_arguments
from autopilot.sandbox.tiers.landlock import DEVICES, TERMINALS, Fences, ToProxy, complains, launched, without

Started = Callable[[int], None] | None
# Where an agent's proxy listens: the host and the port.
Address = tuple[str, int]
HOME, TEMPORARY = "/tmp/home", "/tmp"  # noqa: S108 - a tmpfs inside the sandbox


@dataclass(frozen=True, slots=True)
class BubblewrapAgents:
    """
    Fulfils `Processes`. May make namespaces of its own inside: many agents bring a sandbox for their commands.

    Its network is its own, with one way out to what the job may reach. Where the view's network is open it is the
    machine's; with a `proxy` of somebody else's there is no way out of ours.
    """

    processes: Processes
    walls: Walls
    view: AgentView
    proxy: Address | None = None

    def run(self, job: Job, started: Started = None) -> Ran:
        find_program(job.argv[0], job.cwd, job.env)
        ran = self._run(job, started)
        if ran.cut_off.startswith(NOT_STARTED):
            # A file that was in /etc when we looked may be gone by now. Under its own name the call would be answered
            # from memory, where a call is held.
            again = f"{job.mark}/again" if job.mark else ""
            ran = self._run(msgspec.structs.replace(job, mark=again), started)
        return ran

    def _run(self, job: Job, started: Started) -> Ran:
        if self.proxy or self.view.open_network:
            return self._caged(job, started)
        with passage(job, "inside", self.view.records) as way_out:
            return way_out.told_by(self._caged(_through(way_out, job), started, way_out))

    def _caged(self, job: Job, started: Started, way_out: Passage | None = None) -> Ran:
        seen = sight(job, self.view)
        environment = {**job.env, "HOME": seen.home or HOME, "TMPDIR": TEMPORARY}
        words = ("--chdir", seen.place, "--", *shell.limited(job.argv, self.walls.ceilings))
        network = ("--unshare-net",) if self.proxy or way_out else ()
        argv = (self.walls.bwrap, *network, *cage(seen), *settings(environment), *words)
        caged = msgspec.structs.replace(job, argv=argv, env={})
        ran = run_inside(self.processes, caged, self.walls.filter, started, way_out)
        return never_begun(ran) if no_way_out(ran, way_out) else ran

    def sweep(self, mark: str) -> int:
        return self.processes.sweep(mark)


def cage(seen: Sight) -> Iterator[str]:
    """The namespaces and mounts, outer folders first so that inner ones lie on top; `/` is closed last."""
    yield from ALONE
    yield from system_arguments()
    # Open to the superuser even without capabilities; for others a sandbox inside can only mount an uncovered `/proc`.
    for path in kernel_settings() if os.geteuid() == 0 else ():
        yield from ("--ro-bind-try", path, path)
    resolver = os.path.realpath(RESOLVER)
    if resolver != RESOLVER:
        yield from ("--ro-bind-try", resolver, resolver)
    mounts: dict[str, tuple[str, ...]] = {} if seen.home else {HOME: ("--dir", HOME)}
    mounts |= {path: ("--ro-bind-try", path, path) for path in seen.readable}
    mounts |= {path: ("--bind-try", path, path) for path in seen.writable}
    mounts |= {path: tuple(mask(path)) for path in seen.hidden}
    for path in sorted(mounts):
        yield from mounts[path]
    yield from ("--remount-ro", "/")


def kernel_settings(folder: str = "/proc") -> Iterator[str]:
    """What lies in `/proc` and is no process's: closed one by one, as a sandbox inside needs to write of its own."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.isdigit() and not entry.is_symlink():
                mode = entry.stat(follow_symlinks=False).st_mode
                if entry.is_dir(follow_symlinks=False) or mode & 0o222:
                    yield entry.path


@dataclass(frozen=True, slots=True)
class LandlockAgents:
    """
    Fulfils `Processes`. What lies in the workspace cannot be hidden: settings of the repository stay in sight.

    The agent reaches its proxy on 127.0.0.1 and nothing else, as far as `to_proxy` can tell addresses apart: one of
    ours, which lets through what the job may reach, or the `proxy` that is named. Where the view's network is open it
    reaches all of it.
    """

    processes: Processes
    fences: Fences
    view: AgentView
    to_proxy: ToProxy | None = None
    proxy: Address | None = None

    def run(self, job: Job, started: Started = None) -> Ran:
        find_program(job.argv[0], job.cwd, job.env)
        if self.proxy or self.view.open_network:
            return self._caged(job, started)
        telling = self.to_proxy is not None and self.to_proxy.by_address
        with passage(job, "beside", self.view.records, telling=telling) as way_out:
            return way_out.told_by(self._caged(_through(way_out, job), started, way_out))

    def _caged(self, job: Job, started: Started, way_out: Passage | None = None) -> Ran:
        program, network = self._network(("127.0.0.1", way_out.port) if way_out else self.proxy, way_out)
        seen = sight(job, self.view)
        with scratch_folder() as scratch:
            private = scratch.path
            home = seen.home or _empty_home(private)
            writable = (*seen.writable, private, *DEVICES, *TERMINALS)
            launcher = launched(_open(self.fences.shown, seen), writable, program, seen.own, network)
            environment = {**job.env, "HOME": home, "TMPDIR": private}
            argv = (*launcher, *shell.limited(job.argv, self.fences.ceilings))
            caged = msgspec.structs.replace(job, argv=argv, env=environment, leaves="asked")
            caged = led_out(caged, way_out) if way_out else caged
            ran = self.processes.run(holding(scratch, caged), started)
            return never_begun(ran) if complains(ran) or no_way_out(ran, way_out) else ran

    def _network(self, proxy: Address | None, way_out: Passage | None) -> tuple[bytes, tuple[str, ...]]:
        """The filter, and the launcher's words about the network."""
        if proxy is None:
            return self.fences.filter, ()
        if self.to_proxy is None:
            raise no_fence()
        return self.to_proxy.filter, self.to_proxy.words(proxy[1], way_out.telling if way_out else None)

    def sweep(self, mark: str) -> int:
        return self.processes.sweep(mark)


def never_begun(ran: Ran) -> Ran:
    """The sandbox did not start, so the agent did nothing: that is for us to repeat, and nothing it is blamed for."""
    said = ran.stderr.decode(errors="replace").strip().splitlines()
    return msgspec.structs.replace(ran, cut_off=f"{NOT_STARTED}: {said[0][:200]}")


def _through(way_out: Passage, job: Job) -> Job:
    return msgspec.structs.replace(job, env=way_out.environment(job.env))


def led_out(job: Job, way_out: Passage) -> Job:
    """Started by the program that serves its way out."""
    inherited = (*job.inherited, *way_out.inherited)
    return msgspec.structs.replace(job, argv=way_out.leading(job.argv), inherited=inherited)


def no_way_out(ran: Ran, way_out: Passage | None) -> bool:
    """Whether the proxy did not start, and so the agent neither."""
    return ran.exit_code == CANNOT and way_out is not None and not way_out.served


def no_fence() -> SandboxUnavailable:
    return SandboxUnavailable(
        f"Landlock cannot hold an agent to its proxy here: ABI {confine.NETWORK_SINCE} (Linux 6.7) is needed.",
        why="The agent could reach every service of this machine and of its network.",
        do="Install the package `bubblewrap`, or accept it with --open-network.",
    )


def holding(scratch: Scratch, job: Job) -> Job:
    """The folder is the program's for as long as it runs, whatever becomes of us."""
    return msgspec.structs.replace(job, held_open=(*job.held_open, scratch.hold))


def _open(shown: tuple[str, ...], seen: Sight) -> Iterator[str]:
    """A folder that holds something to hide is shown entry by entry instead."""
    yield from (*shown, os.path.realpath(RESOLVER))
    for path in seen.readable:
        yield from without(path, seen.hidden)


def _empty_home(private: str) -> str:
    home = Path(private, "home")
    home.mkdir()
    return str(home)


@dataclass(frozen=True, slots=True)
class SeatbeltAgents:
    """Fulfils `Processes`. The agent reaches its proxy on this machine and nothing else, unless the network is open."""

    processes: Processes
    view: AgentView
    proxy: Address | None = None

    def run(self, job: Job, started: Started = None) -> Ran:
        if self.proxy or self.view.open_network:
            return self._caged(job, started)
        with passage(job, "beside", self.view.records) as way_out:
            return way_out.told_by(self._caged(_through(way_out, job), started, way_out))

    def _caged(self, job: Job, started: Started, way_out: Passage | None = None) -> Ran:
        seen = sight(job, self.view)
        with scratch_folder() as scratch:
            private = os.path.realpath(scratch.path)
            proxy = ("127.0.0.1", way_out.port) if way_out else self.proxy
            network = seatbelt.proxied(proxy[1]) if proxy else seatbelt.OPEN_NETWORK
            text = seatbelt.profile(seen.readable, (*seen.writable, private), network=network, hidden=seen.hidden)
            environment = {**job.env, "HOME": seen.home or _empty_home(private), "TMPDIR": private}
            argv = (seatbelt.PROGRAM, "-p", text, *job.argv)
            caged = msgspec.structs.replace(job, argv=argv, env=environment)
            caged = led_out(caged, way_out) if way_out else caged
            return self.processes.run(holding(scratch, caged), started)

    def sweep(self, mark: str) -> int:
        return self.processes.sweep(mark)
