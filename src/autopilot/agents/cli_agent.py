"""Puts a call to a coding agent's own program: one process, its events read while it works."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from autopilot.agents.accounts.homes import HomePlan, Homes
from autopilot.agents.accounts.hosts import hosts_of
from autopilot.agents.answer_parsing import extract
from autopilot.agents.backend import Ask, Backend, Dialogue
from autopilot.agents.backends import acp
from autopilot.agents.backends.catalogue import PREFERRED
from autopilot.agents.call_log import Account, StreamReader
from autopilot.agents.exec_agent import TEXT_SHOWN, document, lifeless, named, nowhere, passed_on
from autopilot.agents.model_profiles import model_at
from autopilot.agents.outcomes import Ending, outcome_of
from autopilot.agents.reset_times import epoch_time, reset_time
from autopilot.agents.strict_schema import strict, unpadded
from autopilot.agents.transcripts import store, transcript
from autopilot.domain.agent_call import Call, Outcome, Reply, Thread, access_of
from autopilot.domain.evidence import Usage
from autopilot.domain.process import Job, Processes, Ran
from autopilot.text.plain import ending, plain

# What every program may need to reach its service from here.
NETWORK = (
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
)  # fmt: skip
# Their numbers are told apart to the letter, and a program that reads and rewrites the answer makes 9.0 to 9.
EXACT_ROLES = frozenset({"rate"})
LIMITED = frozenset({"usage_limited", "rate_limited", "overloaded"})
ANSWER = "\n\nEnd your answer with one JSON object that fits this schema, on one line and nothing after it:\n"
CHECKED = "\n\nAnswer with one JSON object by the schema you were given."
_ZONE_FILE = re.compile(r"zoneinfo/(.+)$")


Redo = Callable[[str, str], None]
"""Puts into a folder what the work of a call, named by its id, left there."""


def leave_alone(call: str, folder: str) -> None:
    """Nothing is known of what was done: the replies alone are played."""


class StreamTalk:
    """Implements `Talk`: reads the events, and keeps up our side where the program wants one."""

    def __init__(self, reader: StreamReader, dialogue: Dialogue | None = None) -> None:
        self.reader, self._dialogue = reader, dialogue

    @property
    def over(self) -> bool:
        return self.reader.account.over

    @property
    def replies(self) -> bool:
        return self._dialogue is not None

    @property
    def action(self) -> str:
        """What the agent did last, for those who watch."""
        return self.reader.account.action

    def heard(self, piece: bytes) -> bytes:
        events = self.reader.feed(piece)
        return b"".join(self._dialogue.answer(event) for event in events) if self._dialogue else b""

    def farewell(self) -> bytes:
        return self._dialogue.farewell() if self._dialogue else b""


@dataclass(frozen=True, slots=True)
class Desk:
    """
    Where calls are made from: the run, its processes, and where transcripts go.

    `confined`: the processes are in a sandbox of ours, in which a program's own one for its commands cannot be made.
    `past_work` is what calls of an earlier run left behind, `reach` the hosts that the user allows by role. Every
    call works in one of the `homes`.
    """

    processes: Processes
    transcripts: Path
    run: str
    confined: bool = False
    past_work: Callable[[str], Redo] = lambda _: leave_alone
    reach: Callable[[str], tuple[str, ...]] = nowhere
    homes: Homes = field(kw_only=True)


class CliAgent:
    """Implements `Agent` for one program. Keeps a transcript of each call."""

    def __init__(self, backend: Backend, program: str, desk: Desk) -> None:
        self._backend, self._program, self._desk = backend, program, desk

    def call(self, call: Call, started: Callable[[int], None]) -> Reply:
        """Ask once. Raises only `AgentUnavailable`, when the program does not exist."""
        backend, desk = self._backend, self._desk
        ask = ask_of(call, backend, self._program, confined=desk.confined)
        dialogue = backend.dialogue(ask) if backend.dialogue else None
        talk = StreamTalk(StreamReader(backend.reader()), dialogue)
        with desk.homes.lend(call, desk.run, self._plan()) as home:
            job = Job(
                argv=backend.argv(ask),
                cwd=call.folder,
                env={**environment(os.environ, backend), **home.variables, **named(call, desk.run)},
                stdin=dialogue.opening() if dialogue else ask.prompt.encode(),
                timeout_s=call.seconds,
                mark=call.id,
                asked=call.prompt,
                talk=talk,
                idle_s=call.idle_seconds,
                home=str(home.path),
                hosts=(*hosts_of(backend, os.environ), *desk.reach(call.role)),
            )
            ran = desk.processes.run(job, started)
            store(desk.transcripts, transcript(call.id, job.argv, document(call), ran, backend.name))
            if not talk.reader.seen:
                talk.heard(ran.stdout)
            reply = reply_of(call, backend, talk.reader, ran)
            home.take_down(reply.thread.id if reply.thread else None)
        reply = home.settled(msgspec.structs.replace(reply, seconds=ran.seconds, tries=ran.tries))
        return lifeless(reply, call, ran)

    def _plan(self) -> HomePlan:
        """What belongs in its home. A command that speaks the protocol may be a program we know, or wrap one."""
        backend, homes = self._backend, self._desk.homes
        if backend.name != acp.NAME:
            return homes.plan(backend)
        own = next((known for known in PREFERRED if known.program == Path(self._program).name), None)
        return homes.plan_of_command(acp.NAME, PREFERRED, own)


def ask_of(call: Call, backend: Backend, program: str, *, confined: bool) -> Ask:
    """The call in the program's terms: what it cannot enforce goes into the prompt, what it cannot do is left out."""
    able = backend.capabilities
    schema = enforced(call, backend)
    model = model_at(backend.vendor, call.model)
    return Ask(
        program=program,
        prompt=call.prompt + (CHECKED if schema else ANSWER + json.dumps(call.answer_schema)),
        folder=call.folder,
        access=access_of(call.role),
        confined=confined,
        model=model.name,
        effort=model.effort,
        answer_schema=schema,
        thread=call.thread.id if call.thread and able.resume else None,
        thread_name=thread_name(call),
        turns=call.turns if able.turn_cap else None,
        usd=call.usd if able.budget_cap else None,
    )


def thread_name(call: Call) -> str:
    """A name for the conversation that a call begins, where the program wants one."""
    return "autopilot-" + re.sub(r"[^A-Za-z0-9]+", "-", call.id)


def enforced(call: Call, backend: Backend) -> dict[str, Any] | None:
    """The schema as the program can enforce it, None if it cannot."""
    able = backend.capabilities
    if able.answer_schema == "none" or (call.role in EXACT_ROLES and not able.exact):
        return None
    return call.answer_schema if able.answer_schema == "checked" else strict(call.answer_schema)


def environment(everything: Mapping[str, str], backend: Backend) -> dict[str, str]:
    """The usual part of the user's environment, and what this program needs for its service and its account."""
    wanted = (*NETWORK, *backend.variables, *backend.sign_in.variables)
    own = {name: everything[name] for name in wanted if name in everything}
    return {**passed_on(everything), **backend.env, **own}


def reply_of(call: Call, backend: Backend, reader: StreamReader, ran: Ran) -> Reply:
    """Judge one ended call by what its program told."""
    reader.close()
    account = reader.account
    padded = backend.capabilities.answer_schema == "strict" and enforced(call, backend) is not None
    answer = answer_in(account, padded=padded)
    stderr = plain(ran.stderr.decode(errors="replace"))
    end = Ending(exit_code=ran.exit_code, stderr=stderr, interruption=ran.interruption)
    outcome = outcome_of(account, end, backend.meanings, answered=answer is not None)
    thread = thread_of(call, account, backend)
    return Reply(
        outcome=outcome,
        answer=answer if outcome == "ok" else None,
        text=ending(shown(account, outcome, f"{stderr}\n{ran.interruption}".strip()), TEXT_SHOWN),
        lines=len(plain(account.text).strip().splitlines()),
        usage=spent_here(call, account.spent, backend),
        commands=account.commands,
        observes=backend.capabilities.observes and not reader.issues,
        resets_at=resets_at(account, outcome, datetime.now(UTC), local_zone(os.environ)),
        thread=thread,
        model=account.model or model_at(backend.vendor, call.model).name,
        issues=tuple(f"{backend.name}: {plain(issue)}" for issue in reader.issues),
    )


def answer_in(account: Account, *, padded: bool) -> str | None:
    """The checked answer if there is one, else the last object of what was said last."""
    if account.structured is not None:
        return json.dumps(account.structured, ensure_ascii=False)
    found = extract(plain(account.text)).answer
    return unpadded(found) if found is not None and padded else found


def shown(account: Account, outcome: Outcome, stderr: str) -> str:
    """What was said, and where it went wrong what the program said of that."""
    if outcome == "ok":
        return plain(account.text).strip()
    trouble = account.failure.text if account.failure else "" if account.over else account.notice or stderr
    parts = (plain(account.text).strip(), plain(trouble).strip())
    return "\n".join(dict.fromkeys(part for part in parts if part))


def thread_of(call: Call, account: Account, backend: Backend) -> Thread | None:
    """How to go on with this conversation, and what it has cost up to here."""
    name = thread_name(call) if backend.names_threads else None
    session = account.session or (call.thread.id if call.thread else name)
    if session is None or not backend.capabilities.resume:
        return None
    earlier = call.thread.usage if call.thread else Usage()
    so_far = account.spent if backend.counts == "thread" else _sum(earlier, account.spent)
    return Thread(id=session, usage=so_far)


def spent_here(call: Call, spent: Usage, backend: Backend) -> Usage:
    """What this call cost: a program that counts from the start of a conversation has counted the rest before."""
    if call.thread is None or backend.counts == "call":
        return spent
    before = call.thread.usage
    return Usage(
        input_tokens=_less(spent.input_tokens, before.input_tokens),
        output_tokens=_less(spent.output_tokens, before.output_tokens),
        cost_usd=_less(spent.cost_usd, before.cost_usd),
        cached_tokens=_less(spent.cached_tokens, before.cached_tokens),
    )


def resets_at(account: Account, outcome: Outcome, now: datetime, zone: tzinfo) -> str | None:
    """From the program's own fields first, then from the words of its own error; never from anything else."""
    if outcome not in LIMITED or account.failure is None:
        return None
    typed = account.failure.resets_at
    if typed is None and account.window is not None and account.window.rejected:
        typed = account.window.resets_at
    moment = epoch_time(typed) if typed is not None else reset_time(account.failure.text, now, zone)
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None


def local_zone(everything: Mapping[str, str]) -> tzinfo:
    """The zone in which programs here tell the time."""
    linked = _ZONE_FILE.search(os.path.realpath("/etc/localtime"))
    for name in (everything.get("TZ", "").lstrip(":"), linked[1] if linked else ""):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return datetime.now(UTC).astimezone().tzinfo or UTC


def _less(value: Any, before: Any) -> Any:
    return None if value is None else max(value - (before or 0), 0)


def _sum(left: Usage, right: Usage) -> Usage:
    def added(one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else one + other

    return Usage(
        input_tokens=added(left.input_tokens, right.input_tokens),
        output_tokens=added(left.output_tokens, right.output_tokens),
        cost_usd=added(left.cost_usd, right.cost_usd),
        cached_tokens=added(left.cached_tokens, right.cached_tokens),
    )
