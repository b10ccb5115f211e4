"""Makes any program an agent: one process a call, a JSON document in, a JSON object out."""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from autopilot.agents.accounts.homes import Homes
from autopilot.agents.answer_parsing import Extracted, extract
from autopilot.agents.backends.catalogue import PREFERRED
from autopilot.agents.transcripts import store, transcript
from autopilot.domain.agent_call import Call, Outcome, Reply
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.process import TOOL_DATA, Job, Processes, Ran
from autopilot.text.plain import ending, plain

PROTOCOL = 1
TEXT_SHOWN = 8_000
_PYTHON = re.compile(r"python(\d(\.\d+)?)?")
_FLAG = re.compile(r"-[bBdEhiOqsSuvVx]+")
PASSED_ON = frozenset({"PATH", "HOME", "USER", "LANG", "TZ", "TERM", "SHELL", "TMPDIR"})
PASS_MORE = "AUTOPILOT_PASS_ENV"  # noqa: S105 - the name of a variable


def nowhere(role: str) -> tuple[str, ...]:  # noqa: ARG001 - the same for every role
    """The hosts that are allowed where the user has allowed none."""
    return ()


class ExecAgent:
    """Runs `command` once a call, in the call's folder. Keeps a transcript of each call."""

    def __init__(
        self,
        command: str,
        processes: Processes,
        transcripts: Path,
        run: str,
        launch_folder: Path,
        homes: Homes,
        reach: Callable[[str], tuple[str, ...]] = nowhere,
    ) -> None:
        self._argv = argv_of(command, launch_folder)
        self._processes, self._transcripts, self._run = processes, transcripts, run
        self._homes, self._reach = homes, reach

    def call(self, call: Call, started: Callable[[int], None]) -> Reply:
        """Ask once. Raises only `AgentUnavailable`, when the program does not exist."""
        question = document(call)
        with self._homes.lend(call, self._run, self._homes.plan_of_command("exec", PREFERRED)) as home:
            job = Job(
                argv=self._argv,
                cwd=call.folder,
                env={**passed_on(os.environ), **home.variables, **named(call, self._run)},
                stdin=msgspec.json.encode(question),
                timeout_s=call.seconds,
                mark=call.id,
                asked=call.prompt,
                idle_s=call.idle_seconds,
                may_be_silent=True,
                home=str(home.path),
                hosts=self._reach(call.role),
            )
            ran = self._processes.run(job, started)
            store(self._transcripts, transcript(call.id, self._argv, question, ran))
        reply = home.settled(msgspec.structs.replace(reply_of(ran), seconds=ran.seconds, tries=ran.tries))
        return lifeless(reply, call, ran)


def argv_of(command: str, launch_folder: Path) -> tuple[str, ...]:
    """The command's words. Files named relative to where the user stands are made absolute: it runs elsewhere."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _unusable(command, f"it cannot be split into words: {error}") from error
    if not words:
        raise _unusable(command, "it is empty")
    words = _modules_placed(words, launch_folder)
    return tuple(_placed(word, launch_folder, first=number == 0) for number, word in enumerate(words))


def document(call: Call) -> dict[str, Any]:
    """What the program finds on its standard input."""
    task = call.task
    return {
        "protocol": PROTOCOL,
        "call": call.id,
        "role": call.role,
        "prompt": call.prompt,
        "schema": call.answer_schema,
        "phase": msgspec.to_builtins(call.phase),
        "task": None if task is None else {"id": task.id, "title": task.title, "files": list(task.files)},
        "model": call.model,
        "limits": {"seconds": call.seconds},
    }


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """
    The part of the user's environment an agent gets: no keys and tokens but those the user names.

    What our own commands find their tools by is part of it: else a reviewer cannot run what we could. The agent's home
    is another one, so tools that lie below the user's are named.
    """
    more = {name.strip() for name in environment.get(PASS_MORE, "").split(",")}
    own = {
        name: value
        for name, value in environment.items()
        if name in PASSED_ON or name in TOOL_DATA or name in more or name.startswith("LC_")
    }
    home = environment.get("HOME")
    tools = {name: f"{home}/{below}" for name, below in TOOL_DATA.items() if home and below}
    return {**{name: place for name, place in tools.items() if os.path.isdir(place)}, **own}  # noqa: PTH112 - says no where Path raises


def named(call: Call, run: str) -> dict[str, str]:
    return {"AUTOPILOT_CALL": call.id, "AUTOPILOT_ROLE": call.role, "AUTOPILOT_RUN": run}


def reply_of(ran: Ran) -> Reply:
    """Judge one ended process. What a call cost counts however it ended; an answer only if it ended well."""
    stdout = plain(ran.stdout.decode(errors="replace"))
    found = extract(stdout)
    outcome = outcome_of(ran, found)
    stderr = "" if outcome == "ok" else plain(ran.stderr.decode(errors="replace"))
    said = (stdout.strip(), stderr.strip(), ran.interruption)
    return Reply(
        outcome=outcome,
        answer=found.answer if outcome == "ok" else None,
        text=ending("\n".join(part for part in said if part), TEXT_SHOWN),
        lines=len(stdout.strip().splitlines()),
        usage=found.usage,
        commands=found.commands,
        resets_at=found.resets_at,
    )


def lifeless(reply: Reply, call: Call, ran: Ran) -> Reply:
    """The reply, which says so where the program was ended because it had come to a standstill."""
    if not ran.idle or reply.outcome != "timeout":
        return reply
    why = f"ended: it printed nothing and changed nothing for {call.idle_seconds:g} seconds"
    return msgspec.structs.replace(reply, text=ending(f"{reply.text}\n{why}".strip(), TEXT_SHOWN))


def outcome_of(ran: Ran, found: Extracted) -> Outcome:
    if ran.interruption:
        return "cancelled"
    match ran.exit_code:
        case None:
            return "timeout"
        case 0:
            return "bad_output" if found.answer is None else "ok"
        case 75:
            return "usage_limited"
        case _:
            return "crashed"


def _modules_placed(words: list[str], launch_folder: Path) -> list[str]:
    """
    `python -m NAME` loads the module from where the user stands, as in a shell.

    Python would look in the folder it runs in first: that is a clone, whose files agents write. The module's file is
    among the words so that the sandbox shows it.
    """
    if "-m" not in words[:-1] or not _PYTHON.fullmatch(Path(words[0]).name):
        return words
    at = words.index("-m")
    before, name, after = words[1:at], words[at + 1], words[at + 2 :]
    if not all(_FLAG.fullmatch(word) for word in before):
        return words  # `-m` is an option of a script, or Python keeps away from the folder it runs in anyway
    base = launch_folder.joinpath(*name.split("."))
    files = (base / "__main__.py", base.with_name(f"{base.name}.py"))
    file = next((str(file) for file in files if file.is_file()), os.devnull)
    run = f"runpy.run_module({name!r}, run_name='__main__', alter_sys=True)"
    code = f"import runpy, sys; del sys.argv[1]; sys.path[0] = {str(launch_folder)!r}; {run}"
    return [words[0], *before, "-c", code, file, *after]


def _placed(word: str, launch_folder: Path, *, first: bool) -> str:
    # A program's bare name means the one on the PATH, as in a shell; a file of that name here does not shadow it.
    if not word or (first and "/" not in word and shutil.which(word) is not None):
        return word
    place = launch_folder / word
    return os.path.abspath(place) if place.is_file() else word  # noqa: PTH100 - Path.absolute keeps `..`


def _unusable(command: str, reason: str) -> UsageInvalid:
    return UsageInvalid(
        f"the agent command {command!r} cannot be used: {reason}",
        why="it is started for every call",
        do="write it as in a shell, for example --agent exec:'python3 my_agent.py'",
    )
