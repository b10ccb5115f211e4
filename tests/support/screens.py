"""What a terminal shows of what was written to it: enough of one to look at frames that are drawn over."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from support.waiting import PATIENCE_S

_TOKEN = re.compile(r"\x1b\[(?P<parameters>[?\d;]*)(?P<command>[A-Za-z])|(?P<letter>[^\x1b])", re.DOTALL)


class Screen:
    """Rows and a cursor. Lines that leave at the top are gone; colours are not kept."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.rows, self.row, self.column = [""] * height, 0, 0
        self.cursor_shown = True

    def write(self, text: str) -> None:
        for found in _TOKEN.finditer(text):
            if found["letter"] is None:
                self._obey(found["command"], found["parameters"])
            else:
                self._put(found["letter"])

    def _put(self, letter: str) -> None:
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self._down()
        elif letter.isprintable():
            if self.column == self.width:
                self.column = 0
                self._down()
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[: self.column] + letter + line[self.column + 1 :]
            self.column += 1

    def _down(self) -> None:
        if self.row + 1 < self.height:
            self.row += 1
        else:
            self.rows = [*self.rows[1:], ""]

    def _obey(self, command: str, parameters: str) -> None:
        match command:
            case "A":
                self.row = max(0, self.row - int(parameters or 1))
            case "K":
                self.rows[self.row] = ""
            case "H":
                self.row = self.column = 0
            case "J":
                self.rows = [""] * self.height
            case "h" | "l" if parameters == "?25":
                self.cursor_shown = command == "h"

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows).rstrip() + "\n"


class Terminal:
    """A program on a pseudo terminal of its own. `seen` is all it wrote, `screen` what is to be seen of it."""

    def __init__(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], size: tuple[int, int] = (80, 24)
    ) -> None:
        self.screen, self.seen = Screen(*size), ""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.program = subprocess.Popen(
            words, cwd=cwd, env=dict(env), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)

    def look(self, until: Callable[[Screen], bool], seconds: float = PATIENCE_S) -> bool:
        """Read until the screen is as wanted, or the program has closed it."""
        deadline = time.monotonic() + seconds
        while not until(self.screen):
            if time.monotonic() > deadline or not self._read():
                return until(self.screen)
        return True

    def end(self, seconds: float = PATIENCE_S) -> int:
        """Read to the end; the exit code."""
        self.look(lambda _: False, seconds)
        code = self.program.wait()
        os.close(self._master)
        return code

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def interrupt(self) -> None:
        self.program.send_signal(signal.SIGINT)

    def _read(self) -> bool:
        if not select.select([self._master], [], [], 0.5)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        text = data.decode("utf-8", "replace")
        self.seen += text
        self.screen.write(text)
        return bool(data)
