"""Starts programs plainly, and counts them; for tests that need no supervision."""

import subprocess
import time
from collections.abc import Callable

from autopilot.domain.protocols import Job, Ran


class PlainProcesses:
    """What was run is kept in `jobs`, in order."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        self.jobs.append(job)
        begun = time.monotonic()
        done = subprocess.run(
            job.argv, cwd=job.cwd, env=job.env, input=job.stdin, capture_output=True, timeout=job.timeout_s, check=False
        )
        return Ran(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr, seconds=time.monotonic() - begun)

    def sweep(self, mark: str) -> int:
        return 0
