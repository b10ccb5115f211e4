"""Plays the recorded transcripts of an earlier run: the same replies, without asking anybody."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from autopilot.agents.backend import Backend
from autopilot.agents.backends import acp
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.agents.call_log import StreamReader
from autopilot.agents.cli_agent import Redo, leave_alone
from autopilot.agents.cli_agent import reply_of as told_reply
from autopilot.agents.exec_agent import reply_of as printed_reply
from autopilot.agents.transcripts import Transcript, path_of, recorded
from autopilot.domain.agent_call import Call, Reply
from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.process import Ran


class ReplayAgent:
    """Answers a call as the call of the same place in the earlier run was answered; one it did not have, not at all."""

    def __init__(self, run: str, transcripts: Path, redo: Redo = leave_alone) -> None:
        if not path_of(transcripts, f"{run}/_").parent.is_dir():
            raise _nothing(run, transcripts)
        self._run, self._transcripts, self._redo = run, transcripts, redo

    def call(self, call: Call, started: Callable[[int], None]) -> Reply:  # noqa: ARG002 - there is no process to name
        before = "/".join((self._run, *call.id.split("/")[1:]))
        entry = recorded(self._transcripts, before)
        if entry is None:
            return Reply(outcome="bad_output", text=f"the run {self._run} has no transcript of {before}")
        self._redo(before, call.folder)
        return played(call, entry)


def played(call: Call, entry: Transcript) -> Reply:
    """What the adapter that made the transcript made of it; a reset time is long past and left out."""
    ran = Ran(exit_code=entry.exit, stdout=entry.stdout.encode(), stderr=entry.stderr.encode(), seconds=entry.seconds)
    backend = _backend(entry)
    if backend is None:
        return printed_reply(ran)
    reader = StreamReader(backend.reader())
    reader.feed(ran.stdout)
    reply = told_reply(msgspec.structs.replace(call, thread=None), backend, reader, ran)
    return msgspec.structs.replace(reply, thread=None, resets_at=None)


def _backend(entry: Transcript) -> Backend | None:
    return acp.backend(entry.command) if entry.agent == "acp" else BY_NAME.get(entry.agent)


def _nothing(run: str, transcripts: Path) -> AgentUnavailable:
    return AgentUnavailable(
        f"there is no run {run!r} to replay",
        why="a replay plays what an earlier run's agents printed, and nothing of that is there",
        do=f"name one of the folders in {transcripts}",
    )
