"""The same letters written by an exec agent that keeps a log of every call: what really ran, and how often."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.project import PHASES, ROADMAP, honest, plan_answer, rate_answer, reviews, work_answer
from support.repos import git, make_repo, write
from support.runs import roadmap_of

AGENT = """#!/bin/sh
# Plays the written answer for the call it was given, and notes that it was asked.
here=$(dirname "$0")
echo "$AUTOPILOT_CALL" >> "$here/calls.log"
read -r document
rest=${AUTOPILOT_CALL#*/}
. "$here/answers/$(echo "$rest" | tr / -).sh"
"""
COMMITTED = {
    "README.md": "letters\n",
    "notes.txt": "mine\n",
    "todo.txt": "a\n",
    ".planning/ROADMAP.md": ROADMAP,
    ".planning/config.json": '{"workflow": {"research": false}}\n',
}
DIRTY = {"notes.txt": "changed, not committed\n", "scratch/idea.txt": "untracked\n"}


class Letters:
    """The project at `root`, with a staged, an unstaged and an untracked change of the user's in it."""

    phases = "1-3"

    def __init__(self, folder: Path) -> None:
        self.root = make_repo(folder / "project", COMMITTED)
        write(self.root, DIRTY)
        write(self.root, {"todo.txt": "b\n"})
        git(self.root, "add", "todo.txt")
        self.home = folder / "agent"
        write(self.home, {"agent.sh": AGENT, **self.answers()})

    @property
    def agent(self) -> str:
        return f"exec:sh {self.home / 'agent.sh'}"

    def calls(self) -> Counter[str]:
        """How often each call was made, by `<phase>/<step>/<n>`."""
        log = self.home / "calls.log"
        lines = log.read_text(encoding="utf-8").split() if log.exists() else []
        return Counter(line.partition("/")[2] for line in lines)

    def line(self) -> list[tuple[str, str]]:
        """Each commit of the user's branch: its subject and its tree without the planning files."""
        found = []
        for entry in git(self.root, "log", "--reverse", "--format=%H %s").splitlines():
            commit, _, subject = entry.partition(" ")
            tree = [row for row in git(self.root, "ls-tree", commit).splitlines() if not row.endswith("\t.planning")]
            found.append((subject, "\n".join(tree)))
        return found

    def users_work(self) -> dict[str, Any]:
        """What must not change: the user's uncommitted files, byte for byte, and what git says of them."""
        files = {name: (self.root / name).read_bytes() for name in (*DIRTY, "todo.txt")}
        return {
            "files": files,
            "status": git(self.root, "status", "--porcelain"),
            "stash": git(self.root, "stash", "list"),
        }

    def answers(self) -> dict[str, str]:
        """One shell fragment a call of the honest run."""
        by_key = {(a["role"], a.get("phase"), a.get("task")): a for a in honest()}
        steps = ("plan", "plan_check", "mini_verify", "verify", "judge", "judge_divergence", "rate")
        files = {}
        for phase in ("1", "2", "3"):
            for step in steps:
                files[f"answers/{phase}-{step}-1.sh"] = fragment(
                    by_key.get((step, phase, None)) or by_key[step, None, None], phase
                )
            files[f"answers/{phase}-execute-1.sh"] = fragment(by_key["execute", phase, f"0{phase}-01"], phase)
        for step in ("integration", "audit"):
            files[f"answers/completion-{step}-1.sh"] = fragment(by_key[step, None, None], "1")
        files["answers/2-execute-2.sh"] = fragment(by_key["execute", "2", "02-02"], "2")
        files["answers/2-mini_verify-2.sh"] = files["answers/2-mini_verify-1.sh"]
        return files


class WindingLetters(Letters):
    """One letter that takes every detour: a revised plan, a fix, a debug loop, a re-plan and a remediation."""

    phases = "1"

    def answers(self) -> dict[str, str]:
        content = {a["role"]: a for a in reviews()}
        refused = {"pass": False, "confidence": 5, "issues": [{"severity": "blocker", "description": "no draft"}]}
        missed = {"pass": False, "commands_run": ["cat"], "failures": ["no greeting"]}
        calls = {
            "plan-1": plan_answer("1", [("letter1.txt", "done")]),
            "plan_check-1": {"role": "plan_check", "result": refused},
            "plan-2": plan_answer("1", [("letter1.txt", "done"), ("draft1.txt", "draft")]),
            "execute-1": work_answer("1", "01-01", "letter1.txt", "not yet\n"),
            "fix-1": {"role": "debug", "result": {"fixed": True}, "write": {"letter1.txt": "done\n"}},
            "execute-2": work_answer("1", "01-02", "draft1.txt", "draft\n"),
            "verify-1": {"role": "verify", "result": missed},
            "debug-1": {"role": "debug", "result": {"fixed": True}, "write": {"letter1.txt": "done, dear\n"}},
            "rate-1": rate_answer(6.2),
            "plan-3": plan_answer("1", [("more1.txt", "more")]),
            "execute-3": work_answer("1", "01-01", "more1.txt", "more\n"),
            "rate-2": rate_answer(8.2),
            "execute-4": work_answer("1", "1-R1", "extra1.txt", "extra\n"),
        }
        again = {f"1-{role}-{n}": answer for role, answer in content.items() for n in range(1, 5)}
        ending = {f"completion-{role}-1": content[role] for role in ("integration", "audit")}
        played = again | {f"1-{call}": answer for call, answer in calls.items()} | ending
        return {f"answers/{call}.sh": fragment(answer, "1") for call, answer in played.items()}


MEETING = """
touch "$here/met-$AUTOPILOT_NAME"
while [ "$(ls "$here" | grep -c ^met-)" -lt 3 ]; do sleep 0.02; done
[ -e "$here/go" ] || {{ (setsid sleep 61 &); while [ ! -e "$here/go" ]; do sleep 0.02; done; }}
"""


class MeetingLetters(Letters):
    """
    Three letters that need nothing of each other; each executor goes on only when all three are there.

    `held`: then they wait until somebody writes the file `go` beside the agent.
    """

    phases = "all"

    def __init__(self, folder: Path, *, held: bool = False) -> None:
        super().__init__(folder)
        write(self.root, {".planning/ROADMAP.md": roadmap_of("1", "2", "3")})
        git(self.root, "commit", "-q", "-m", "roadmap", "--", ".planning/ROADMAP.md")
        if not held:
            self.go()

    def go(self) -> None:
        write(self.home, {"go": ""})

    def all_met(self) -> bool:
        return len(list(self.home.glob("met-*"))) == len(PHASES)

    def answers(self) -> dict[str, str]:
        files = super().answers()
        for phase in PHASES:
            name = f"answers/{phase}-execute-1.sh"
            files[name] = MEETING.replace("$AUTOPILOT_NAME", phase).format() + files[name]
        return files


def fragment(answer: Mapping[str, Any], phase: str) -> str:
    folder = f".planning/phases/0{phase}-letter-{phase}"
    lines = [f"mkdir -p {folder}/tests"] if answer["role"] == "plan" else []
    for path, text in answer.get("write", {}).items():
        lines.append(f"cat > {path.replace('{dir}', folder)} <<'END_OF_FILE'\n{text}END_OF_FILE")
    lines.append(f"cat <<'END_OF_ANSWER'\n{json.dumps(answer['result'])}\nEND_OF_ANSWER")
    return "\n".join(lines) + "\n"
