"""Letters by an agent that answers by what it finds, so that it may be struck by any fault at any call and asked again."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from support.letters import DIRTY, Letters
from support.project import ACTION, ROADMAP, plan_answer, rate_answer, reviews, test_text
from support.repos import git, write
from support.runs import roadmap_of

AGENT = """#!/bin/sh
# Plays the answer of its role, unless a fault lies in wait for this call: that strikes once.
here=$(dirname "$0")
rest=${AUTOPILOT_CALL#*/}
phase=${rest%%/*}
echo "$AUTOPILOT_CALL" >> "$here/calls.log"
read -r document
mv "$here/faults/$phase-$AUTOPILOT_ROLE" "$here/struck/" 2>/dev/null && . "$here/struck/$phase-$AUTOPILOT_ROLE"
. "$here/answers/$AUTOPILOT_ROLE.sh"
"""
# What befalls an agent in the middle of its work; {pause} is a part of a second. Garbage has no braces: two of them in a
# row would be an answer, if an empty one.
FAULTS = {
    "killed": "echo half > letter$phase.txt\n(sleep {pause}; kill -9 $$) &\nsleep 30\n",
    "crashed": "echo half > letter$phase.txt\nexit 3\n",
    "garbage": "head -c 3000 /dev/urandom | tr -d '{{}}'\nexit 0\n",
    "cut short": 'printf \'{{"tasks_completed": "1/\'\nexit 0\n',
    "hung": "echo half > letter$phase.txt\nsleep 600\n",
    "limited": "exit 75\n",
}
ROLES = ("plan", "plan_check", "execute", "mini_verify", "verify", "judge", "rate", "debug")
AGENT_SECONDS = 5
# As many tries as faults may need: brakes are not what is on trial here.
LIMITS = {
    "agent_seconds": AGENT_SECONDS,
    "unanswered": 20,
    "no_progress": 100,
    "same_error": 100,
    "alternating_errors": 100,
    "growing_diffs": 100,
    "retries": 200,
    "cooldown_seconds": 0,
    "wait_minutes": 0.02,
}
TASKS = {
    "1": [("letter1.txt", "done")],
    "2": [("draft2.txt", "draft"), ("letter2.txt", "done")],
    "3": [("letter3.txt", "done")],
}


class WeatheredLetters(Letters):
    """
    Three letters; the third is found wanting by its verifier and its rater until it was mended for each.

    `apart`: they need nothing of each other. What an agent says depends on the files it sees alone.
    """

    phases = "all"
    wanting = "3"

    def __init__(self, folder: Path, *, apart: bool = False, limits: Mapping[str, float] = LIMITS) -> None:
        super().__init__(folder)
        for name in ("faults", "struck"):
            (self.home / name).mkdir()
        write(self.home, {"agent.sh": AGENT})
        config = {"workflow": {"research": False}, "limits": dict(limits)}
        write(self.root, {".planning/ROADMAP.md": self.roadmap(apart), ".planning/config.json": json.dumps(config)})
        git(self.root, "commit", "-q", "-m", "plans", "--", ".planning")

    def roadmap(self, apart: bool) -> str:
        return roadmap_of("1", "2", "3") if apart else ROADMAP

    def lay(self, phase: str, role: str, kind: str, pause: float = 0.05) -> None:
        """The fault strikes the next call of that role in that phase."""
        write(self.home / "faults", {f"{phase}-{role}": f"# {kind}\n{FAULTS[kind].format(pause=round(pause, 3))}"})

    def struck(self) -> Counter[str]:
        """The faults that came to pass, by their kinds."""
        texts = (path.read_text(encoding="utf-8") for path in (self.home / "struck").iterdir())
        return Counter(text.partition("\n")[0].removeprefix("# ") for text in texts)

    def work(self) -> tuple[list[str], str]:
        """What came of the run: the subjects of the tasks' commits, and the files at the tip."""
        subjects = git(self.root, "log", "--no-merges", "--format=%s").splitlines()
        tree = [row for row in git(self.root, "ls-tree", "HEAD").splitlines() if not row.endswith("\t.planning")]
        return sorted(s for s in subjects if not s.startswith("docs(")), "\n".join(tree)

    def mine(self) -> dict[str, Any]:
        """The user's work, which no run may change."""
        return {**self.users_work(), "untracked": sorted(DIRTY)}

    def answers(self) -> dict[str, str]:
        content = {answer["role"]: answer["result"] for answer in reviews()}
        poor = rate_answer(8.2)["result"]
        missed = {"pass": False, "commands_run": ["cat"], "failures": ["no greeting"]}
        fragments = {role: _say(result) for role, result in content.items()} | {
            "plan": "".join(_in_phase(phase, text) for phase, text in self.plans().items()),
            "execute": "".join(_execution(self.tasks())),
            "debug": f"echo done, dear > letter${{phase%[a-z]}}.txt\n{_say({'fixed': True})}",
            "verify": _unless(self.wanting, "grep -q dear letter${phase%[a-z]}.txt", missed) + _say(content["verify"]),
            "rate": _unless(self.wanting, "[ -e extra${phase%[a-z]}.txt ]", poor) + _say(content["rate"]),
        }
        return {f"answers/{role}.sh": text for role, text in fragments.items()}

    def plans(self) -> dict[str, str]:
        """What the planner does in each phase."""
        return {phase: _planned(phase, plan_answer(phase, tasks)) for phase, tasks in TASKS.items()}

    def tasks(self) -> dict[str, tuple[str, str]]:
        """The file of each task and what it must say."""
        return {f"0{p}-0{n}": task for p, some in TASKS.items() for n, task in enumerate(some, start=1)}


class OneLetter(WeatheredLetters):
    """The first letter alone, with a debug loop and a remediation."""

    wanting = "1"

    def roadmap(self, apart: bool) -> str:
        return roadmap_of("1")


class SplitLetters(WeatheredLetters):
    """One letter too big for one pass: it is split, its second part goes through a debug loop, and all is remediated."""

    wanting = "1b"
    parts: ClassVar = {"1a": "part1.txt", "1b": "letter1.txt"}

    def roadmap(self, apart: bool) -> str:
        return roadmap_of("1")

    def answers(self) -> dict[str, str]:
        files = super().answers()
        poor, good = (rate_answer(score)["result"] for score in (8.2, 9.4))
        rate = f"if ! [ -e extra1.txt ]; then\n{_say(poor)}fi\n{_say(good)}"
        return files | {"answers/rate.sh": rate}

    def plans(self) -> dict[str, str]:
        big = plan_answer("1", [(f"part{n}.txt", "done") for n in range(1, 6)] + [("letter1.txt", "done")])
        text = big["write"]["{dir}/PLAN.md"].replace('complexity="simple"', 'complexity="complex"')
        whole = {**big, "write": {**big["write"], "{dir}/PLAN.md": text}}
        return {"1": _planned("1", whole)} | {part: _part(part, file) for part, file in self.parts.items()}

    def tasks(self) -> dict[str, tuple[str, str]]:
        return {f"{part}-01": (file, "done") for part, file in self.parts.items()}


def _part(part: str, file: str) -> str:
    folder = f".planning/phases/01-letter-1/{part}"
    test = f"{folder}/tests/task-{part}-01.sh"
    plan = (
        f'# Plan: Phase {part} -- Part\n\n## Wave 1\n\n<task id="{part}-01" type="auto" complexity="simple">\n'
        f"### Task {part}-01: Write {file}\n**Files:** {file}\n**Action:** {ACTION}\n**Verify:**\n"
        f"- {file} says done -- verified by: `grep -q done {file}`\n"
        f"- its test passes -- verified by: `bash {test}`\n**Done:** It is there.\n</task>\n"
    )
    written = {f"{folder}/PLAN.md": plan, test: test_text(file, "done")}
    return _laid(folder, {"write": written, "result": {"total_tasks": 1}})


def _say(result: Mapping[str, Any]) -> str:
    return f"cat <<'END_OF_ANSWER'\n{json.dumps(result)}\nEND_OF_ANSWER\nexit 0\n"


def _unless(phase: str, holds: str, result: Mapping[str, Any]) -> str:
    return f"if [ $phase = {phase} ] && ! {holds} 2>/dev/null; then\n{_say(result)}fi\n"


def _in_phase(phase: str, text: str) -> str:
    return f"if [ $phase = {phase} ]; then\n{text}fi\n"


def _planned(phase: str, answer: Mapping[str, Any]) -> str:
    return _laid(f".planning/phases/0{phase}-letter-{phase}", answer)


def _laid(folder: str, answer: Mapping[str, Any]) -> str:
    files = [
        f"cat > {path.replace('{dir}', folder)} <<'END_OF_FILE'\n{text}END_OF_FILE\n"
        for path, text in answer["write"].items()
    ]
    return f"mkdir -p {folder}/tests\n{''.join(files)}{_say(answer['result'])}"


def _execution(tasks: Mapping[str, tuple[str, str]]) -> list[str]:
    done = _say({"tasks_completed": "1/1", "tasks_failed": "0/1"})
    cases = [f'*\'"id":"{task}"\'*) echo {word} $phase > {file} ;;\n' for task, (file, word) in tasks.items()]
    return ['case "$document" in\n', *cases, "*) echo extra > extra$phase.txt ;;\nesac\n", done]
