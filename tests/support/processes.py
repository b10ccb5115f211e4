"""Starts programs plainly, and remembers them; for tests that need no supervision."""

import subprocess
import time
from collections.abc import Callable

from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.process import Job, Ran


class PlainProcesses:
    """What was run is kept in `jobs`, in order."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        self.jobs.append(job)
        begun = time.monotonic()
        try:
            done = subprocess.run(
                job.argv, cwd=job.cwd, env=job.env, input=job.stdin, capture_output=True, timeout=job.timeout_s,
                check=False,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise AgentUnavailable(f"{job.argv[0]} is not installed", why="It is needed.", do="Install it.") from error
        except subprocess.TimeoutExpired:
            return Ran(exit_code=None, stdout=b"", stderr=b"", seconds=time.monotonic() - begun)
        return Ran(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr, seconds=time.monotonic() - begun)

    def sweep(self, mark: str) -> int:
        return 0


class PowerCut(BaseException):
    """The end of the process, as far as a test can tell."""


class CutOff(PlainProcesses):
    """Runs a number of programs, and then no more."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        if len(self.jobs) == self.after:
            raise PowerCut
        return super().run(job, started)
