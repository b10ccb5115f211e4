"""Runs a command with a cleared environment and limits, but not confined: only where the user chose it."""

from autopilot.domain.process import Job, Processes, Ran
from autopilot.sandbox.processes.launch import Ceilings
from autopilot.sandbox.processes.scratch import scratch_folder
from autopilot.sandbox.tiers import shell
from autopilot.sandbox.toolchain import Toolchain


class PlainProcess:
    """Tier none: what it runs can write wherever the user can."""

    def __init__(
        self,
        processes: Processes,
        toolchain: Toolchain,
        mark: str = "",
        ceilings: Ceilings = Ceilings(),  # noqa: B008 - frozen, so it is safe to share
    ) -> None:
        self._processes, self._toolchain, self._mark, self._ceilings = processes, toolchain, mark, ceilings

    @property
    def tier(self) -> str:
        return "none"

    @property
    def label(self) -> str:
        return "none (unsandboxed)"

    def run(self, command: str, folder: str, timeout_s: float) -> Ran:
        """Run the command in the folder; nothing it started is left when this returns."""
        if (refusal := shell.refused(command)) is not None:
            return refusal
        with scratch_folder() as scratch:
            job = Job(
                argv=shell.bash(command, self._ceilings),
                cwd=folder,
                env=self._toolchain.environment(folder, scratch.path, scratch.path, online=True),
                timeout_s=timeout_s,
                mark=shell.own_mark(self._mark),
            )
            return shell.as_shell(self._processes.run(job))
