"""Serves one call's way out: its policy, its record, and the threads that take connections and hear of refusals."""

import json
import socket
import threading

from autopilot.sandbox.egress.ledger import Ledger
from autopilot.sandbox.egress.listener import born_in
from autopilot.sandbox.egress.loopback import Watch
from autopilot.sandbox.egress.proxy import Policy, Proxy
from autopilot.sandbox.egress.rules import Refused

STACK = 1 << 18


class Service:
    """`policy` and `record` are open files. Raises ValueError for a policy that cannot be read."""

    def __init__(self, policy: int, record: int) -> None:
        try:
            with open(policy, "rb") as told:
                self._policy = Policy(json.loads(told.read()))
        except Refused as refusal:
            raise ValueError(str(refusal)) from refusal
        self._ledger = Ledger(record)
        self._listener: socket.socket | None = None
        self._refusals: list[socket.socket] = []

    def listen_inside(self, process: int) -> None:
        """In the network that the process is in."""
        self._listener, self._refusals = born_in(process)

    def listen_beside(self, listening: int, hearing: int | None) -> None:
        self._listener = socket.socket(fileno=listening)
        self._refusals = [socket.socket(fileno=hearing)] if hearing is not None else []

    def write(self) -> None:
        self._ledger.write()

    def start(self) -> None:
        assert self._listener is not None
        threading.stack_size(STACK)
        self._ledger.keep_writing()
        threading.Thread(target=Proxy(self._policy, self._ledger).serve, args=(self._listener,), daemon=True).start()
        self._watch = Watch(self._refusals, self._ledger)
        self._watch.start()

    def end(self) -> None:
        """All that is known is written down, unless the disk is full: then what is there is of a moment ago."""
        self._watch.take_in()
        try:
            self._ledger.write()
        except OSError:
            return
