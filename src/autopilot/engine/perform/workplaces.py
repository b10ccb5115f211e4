"""Where one question is worked on: a place for each try, so that nobody finds what another left half done."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Protocol, Self

from autopilot.ports.agents import Workspace


class Place(Protocol):
    def folder(self, call: str, prompt: str) -> str:
        """Where the call is made; the same until it is left."""
        ...

    def leave(self) -> None:
        """What is there is no answer: the next call is made elsewhere, or in the same place cleared."""
        ...


class Checkouts:
    """Implements `Place` for those who only look. `opens` makes a disposable checkout for a call and its prompt."""

    def __init__(self, opens: Callable[[str, str], AbstractContextManager[str]]) -> None:
        self._opens, self._stack, self._open = opens, ExitStack(), ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def folder(self, call: str, prompt: str) -> str:
        if not self._open:
            self._open = self._stack.enter_context(self._opens(call, prompt))
        return self._open

    def leave(self) -> None:
        self._stack.close()
        self._open = ""


class Workplace:
    """Implements `Place` for those who work: the run's clone, as it was found or new. `at` is empty for none yet."""

    def __init__(self, workspace: Workspace, base: str, step: str, files: Mapping[str, str], at: str) -> None:
        self._workspace, self._base, self._step, self._files = workspace, base, step, files
        self.at = at

    def folder(self, call: str, prompt: str) -> str:  # noqa: ARG002 - the protocol's signature
        self.at = self.at or self._workspace.clone(self._base, self._files)
        return self.at

    def leave(self) -> None:
        """Half-done work is kept aside."""
        if self.at:
            self._workspace.keep_interrupted(self.at, self._base, self._step)
            self.at = ""
