"""
Started as a program of its own for one call: starts the agent's sandbox, and is its way out for as long as it runs.

Each of the two ends with the other: it is the sandbox's parent, so the kernel kills the sandbox when this is killed,
and it leaves with the sandbox's exit code. Run by path with `python -I -S`; imports nothing but this folder.
"""

import ctypes
import json
import os
import signal
import socket
import sys
import threading
import time

sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

from autopilot.sandbox.egress.ledger import Ledger
from autopilot.sandbox.egress.listener import born_in
from autopilot.sandbox.egress.loopback import Watch
from autopilot.sandbox.egress.proxy import Policy, Proxy
from autopilot.sandbox.egress.rules import Refused

PDEATHSIG = 1
CANNOT, COMPLAINT = 125, "egress: "
NONE = "-"
UNCATCHABLE = (signal.SIGKILL, signal.SIGSTOP)
STACK, PATIENCE_S = 1 << 18, 1.0


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
    policy_file, record, listening, hearing = files
    agent = Agent()
    try:
        os.ftruncate(int(record), 0)
        policy = Policy(json.loads(_all_of(int(policy_file))))
        if listening == NONE:
            listener, refusals = agent.start_in_namespace(words)
        else:
            listener = socket.socket(fileno=int(listening))
            refusals = [socket.socket(fileno=int(hearing))] if hearing != NONE else []
            agent.start(words)
        ledger = Ledger(int(record))
        ledger.write()
    except (OSError, ValueError, Refused) as error:
        if (code := agent.failed()) is not None:
            return code
        os.write(2, f"{COMPLAINT}{error}\n".encode())
        return CANNOT
    let_go()
    threading.stack_size(STACK)
    ledger.keep_writing()
    threading.Thread(target=Proxy(policy, ledger).serve, args=(listener,), daemon=True).start()
    watch = Watch(refusals, ledger)
    watch.start()
    code = agent.ended()
    watch.take_in()
    try:
        ledger.write()
    except OSError:
        return code  # the disk is full: what it has is of a moment ago
    return code


class Agent:
    """The process we started. What asks us to end asks it."""

    def __init__(self) -> None:
        self._pid = 0
        signal.signal(signal.SIGTERM, lambda *_: self._pass_on(signal.SIGTERM))

    def start(self, words: list[str]) -> None:
        self._pid = os.posix_spawn(words[0], words, os.environ)

    def start_in_namespace(self, words: list[str]) -> tuple[socket.socket, list[socket.socket]]:
        """Its bubblewrap waits until the sockets are there."""
        heard, saying, block, lift = *os.pipe(), *os.pipe()
        for number in (saying, block):
            os.set_inheritable(number, True)  # noqa: FBT003 - it takes no name
        self.start([words[0], "--info-fd", str(saying), "--block-fd", str(block), *words[1:]])
        os.close(saying)
        os.close(block)
        told = _all_of(heard)
        if not told:
            sys.exit(left_with(self.ended()))  # it could not be built, and has said why
        made = born_in(int(json.loads(told)["child-pid"]))
        os.write(lift, b"!")
        os.close(lift)
        return made

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
        return None

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


def _all_of(file: int) -> bytes:
    with open(file, "rb") as content:
        return content.read()


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
