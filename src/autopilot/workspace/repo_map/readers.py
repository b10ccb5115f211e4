"""Has texts read by worker processes, several at once where it pays; a text no worker survives has an empty outline."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from autopilot.domain.running import Job, Processes
from autopilot.workspace.repo_map.reading import Reading, Texts, reading_of

MODULE = "autopilot.workspace.repo_map.worker"
# Below this, starting a second process costs more than it saves.
WORTH_SPLITTING = 2_000_000
MOST_WORKERS = 4
START_S, BYTES_PER_S = 30.0, 200_000
MOST_OUTPUT = 512_000_000
NOTHING = Reading()


@dataclass(frozen=True, slots=True)
class Readers:
    processes: Processes

    def read(self, texts: Texts) -> list[Reading]:
        """One reading a text, in the same order."""
        shares = list(_shares(texts))
        if len(shares) == 1:
            return self._read(shares[0])
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(shares)) as pool:
            return [reading for read in pool.map(self._read, shares) for reading in read]

    def _read(self, texts: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """Where a worker fails, its texts are halved until the one that made it fail stands alone."""
        if not texts:
            return []
        found = self._ask(texts)
        if found is not None:
            return found
        if len(texts) == 1:
            return [NOTHING]
        middle = len(texts) // 2
        return [*self._read(texts[:middle]), *self._read(texts[middle:])]

    def _ask(self, texts: Sequence[tuple[str, bytes]]) -> list[Reading] | None:
        size = sum(len(text) for _, text in texts)
        head = msgspec.json.encode([(grammar, len(text)) for grammar, text in texts])
        job = Job(
            argv=(sys.executable, "-S", "-P", "-m", MODULE),
            cwd="/",
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LC_ALL": "C.UTF-8"},
            stdin=b"\n".join((head, b"".join(text for _, text in texts))),
            timeout_s=START_S + size / BYTES_PER_S,
            max_output=MOST_OUTPUT,
            leaves="nothing",
        )
        ran = self.processes.run(job)
        if ran.exit_code != 0:
            return None
        found = [reading for reading in map(reading_of, ran.stdout.splitlines()) if reading is not None]
        return found if len(found) == len(texts) else None


def _shares(texts: Texts) -> Iterator[Texts]:
    """As many as there are processors to read them, about equal in size."""
    total = sum(len(text) for _, text in texts)
    workers = min(MOST_WORKERS, os.cpu_count() or 1) if total >= WORTH_SPLITTING else 1
    share, size = Texts(), 0
    for text in texts:
        share.append(text)
        size += len(text[1])
        if size * workers >= total and len(share) < len(texts):
            yield share
            share, size = [], 0
    if share:
        yield share
