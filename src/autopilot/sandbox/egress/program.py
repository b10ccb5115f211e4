"""
Started as a program of its own for one call: starts the agent's sandbox, and is its way out for as long as it runs.

Each of the two ends with the other: it is the sandbox's parent, so the kernel kills the sandbox when this is killed,
and it leaves with the sandbox's exit code. Run by path with `python -I -S`; imports nothing but this folder, and of
that nothing before the sandbox is under way.
"""

import ctypes
import os
import signal
import sys
import time

sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

PDEATHSIG = 1
CANNOT, COMPLAINT = 125, "egress: "
NONE = "-"
UNCATCHABLE = (signal.SIGKILL, signal.SIGSTOP)
PATIENCE_S = 1.0


def main(files: list[str], words: list[str]) -> int:
    """
    `files` are open ones by their numbers: the policy, the record of what is tried, the listener, and where the
    launcher tells of refusals; without a listener one is made inside bubblewrap, whose command line `words` is.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for number in files:
        if number != NONE:
            os.set_inheritable(int(number), False)  # noqa: FBT003 - it takes no name
    policy, record, listening, hearing = (None if number == NONE else int(number) for number in files)
    assert policy is not None
    assert record is not None
    agent = Agent()
    try:
        os.ftruncate(record, 0)
        if listening is None:
            agent.start_in_namespace(words)
        # Loaded while bubblewrap builds the sandbox: it waits for us with the agent.
        from autopilot.sandbox.egress.service import Service

        service = Service(policy, record)
        if listening is None:
            service.listen_inside(agent.inside() or sys.exit(left_with(agent.ended())))  # bubblewrap has said why
            service.write()
            agent.unblock()
        else:
            service.listen_beside(listening, hearing)
            agent.start(words)
            service.write()
    except (OSError, ValueError) as error:
        if (code := agent.failed()) is not None:
            return code
        os.write(2, f"{COMPLAINT}{error}\n".encode())
        return CANNOT
    let_go()
    service.start()
    code = agent.ended()
    service.end()
    return code


class Agent:
    """The process we started. What asks us to end asks it."""

    def __init__(self) -> None:
        self._pid = self._inside = self._heard = 0
        signal.signal(signal.SIGTERM, lambda *_: self._pass_on(signal.SIGTERM))

    def start(self, words: list[str]) -> None:
        self._pid = os.posix_spawn(words[0], words, os.environ)

    def start_in_namespace(self, words: list[str]) -> None:
        """
        Its bubblewrap builds the sandbox, and waits to be unblocked before it starts the agent.

        It holds the other end of what it waits at too: if that closed with us, it would go on.
        """
        self._heard, saying, block, self._lift = *os.pipe(), *os.pipe()
        files = {"--info-fd": saying, "--block-fd": block, "--sync-fd": self._lift}
        for number in files.values():
            os.set_inheritable(number, True)  # noqa: FBT003 - it takes no name
        self.start([words[0], *(word for name, number in files.items() for word in (name, str(number))), *words[1:]])
        os.close(saying)
        os.close(block)

    def inside(self) -> int:
        """The first process of the sandbox; 0 if there is none."""
        from json import loads

        if not self._inside and self._heard:
            with open(self._heard, "rb") as heard:
                told = heard.read()
            self._inside, self._heard = int(loads(told)["child-pid"]) if told else 0, 0
        return self._inside

    def unblock(self) -> None:
        os.write(self._lift, b"!")
        os.close(self._lift)

    def ended(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        return os.waitstatus_to_exitcode(status)

    def failed(self) -> int | None:
        """Its exit code if it has ended by itself, and said why: it gets a moment for that. Otherwise it is killed."""
        deadline = time.monotonic() + PATIENCE_S
        while self._pid and time.monotonic() < deadline:
            done, status = os.waitpid(self._pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        if self._pid:
            self._pass_on(signal.SIGKILL)
            self.ended()
            self._end_inside()
        return None

    def _end_inside(self) -> None:
        """Kill bubblewrap's own child, which does not end with it while it waits."""
        try:
            if self.inside():
                os.kill(self.inside(), signal.SIGKILL)
        except ProcessLookupError:
            return

    def _pass_on(self, number: int) -> None:
        if self._pid:
            os.kill(self._pid, number)


def let_go() -> None:
    """Of all that was open for the agent only, its input and output among it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in map(int, os.listdir("/dev/fd")):
        if number <= 2:  # noqa: PLR2004 - input, output and errors
            os.dup2(nothing, number, inheritable=False)
        elif _passed_on(number):
            os.close(number)


def _passed_on(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:
        return False  # what the folder was listed with


def left_with(code: int) -> int:
    """The exit code to leave with; who was killed by a signal is told of by the same."""
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in UNCATCHABLE else None
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    end = sys.argv.index("--")
    code = left_with(main(sys.argv[1:end], sys.argv[end + 1 :]))
    sys.stdout.flush()
    os._exit(code)
