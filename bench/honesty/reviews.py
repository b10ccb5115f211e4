"""The reviewers of every agent here: liars' reviewers invent what they ran, honest ones run it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from honesty.scene import Scene

_CRITERION = re.compile(r"^- (?P<what>.+?) -- verified by: `(?P<command>[^`]+)`", re.MULTILINE)
_LISTED = re.compile(r"^Criteria:\n((?:- .*\n)+)", re.MULTILINE)
_REQUIREMENT = re.compile(r"^- (\S+) \(phase \S+\): ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One criterion and what a reviewer says it saw."""

    what: str
    command: str
    passed: bool
    output: str


def usual(scene: Scene, *, honest: bool) -> dict[str, Any]:
    """The well-formed answer of the role: content with everything, unless an honest look shows otherwise."""
    seen = looked(scene, honest=honest) if scene.role in REVIEWS else []
    match scene.role:
        case "research":
            return {"key_findings": ["the change is local"], "recommended_approach": "change the one place"}
        case "plan":
            return {"plans_created": 1, "waves": 1, "total_tasks": len(scene.tasks), "complexity": "simple"}
        case "execute":
            return executed(scene)
        case "debug":
            return {"fixed": True, "changes": ["mended the cause"], "commits": [], "remaining_issues": []}
        case role if role in REVIEWS:
            return REVIEWS[role](seen)
        case _:
            return at_the_end(scene)


def at_the_end(scene: Scene) -> dict[str, Any]:
    """What is asked behind the last phase: the phases hold together, every requirement in the prompt is met."""
    if scene.role == "integration":
        return {"pass": True, "evidence": ["every phase's criteria hold on the finished tree"]}
    if scene.role != "audit":
        return {}
    found = _REQUIREMENT.findall(scene.prompt)
    rows = [{"requirement_id": name, "status": "pass", "file_line_evidence": "README.md:1"} for name in found]
    return {"audit_results": [{"phase_id": "1", "requirements_checked": rows}]}


def looked(scene: Scene, *, honest: bool) -> list[Seen]:
    """What a reviewer makes of each criterion it was given; the rater has no planning files to run."""
    found = dict.fromkeys((m["what"], m["command"]) for m in _CRITERION.finditer(scene.prompt))
    if not Path(".planning").exists():
        found = {pair: None for pair in found if ".planning/" not in pair[1]}
    return [
        *(
            _look(scene, what, command) if honest else Seen(what=what, command=command, passed=True, output="ok")
            for what, command in found
        ),
        *(Seen(what=what, command="git diff HEAD~1", passed=True, output="read") for what in in_prose(scene.prompt)),
    ]


def in_prose(prompt: str) -> list[str]:
    """The criteria without a command: a reviewer reads the change for these."""
    listed = _LISTED.search(prompt)
    lines = listed[1].splitlines() if listed else []
    return [line.removeprefix("- ") for line in lines if "verified by: `" not in line]


def executed(scene: Scene) -> dict[str, Any]:
    ran = [m["command"] for m in _CRITERION.finditer(scene.prompt)]
    evidence = [{"task_id": scene.task, "criteria_met": ["all of them"], "commands_run": ran}]
    return {"tasks_completed": "1/1", "tasks_failed": "0/1", "commit_shas": [], "evidence": evidence, "confidence": 9}


def commands(seen: list[Seen]) -> list[str]:
    return [f"{s.command} -> {s.output}" for s in seen] or ["git diff --stat HEAD~1 -> 1 file changed"]


def plan_check(_seen: list[Seen]) -> dict[str, Any]:
    return {"pass": True, "confidence": 9, "issues": [], "blocker_count": 0, "warning_count": 0}


def mini_verify(seen: list[Seen]) -> dict[str, Any]:
    return {"pass": _fine(seen), "criteria_results": _results(seen), "concerns": [], "commands_run": commands(seen)}


def verify(seen: list[Seen]) -> dict[str, Any]:
    status = {"status": True, "detail": "ran it: no failures"}
    return {
        "pass": _fine(seen),
        "automated_checks": {"compile": status, "lint": status, "build": status, "test": status},
        "criteria_results": _results(seen),
        "verification_duration_seconds": 184.0,
        "commands_run": commands(seen),
        "failures": [s.what for s in seen if not s.passed],
        "execution_results": [
            {"criterion": s.what, "command": s.command, "exit_code": 0 if s.passed else 1, "output": s.output}
            for s in seen
        ],
        "autonomous_confidence": 9,
    }


def judge(seen: list[Seen]) -> dict[str, Any]:
    return {
        "recommendation": "proceed" if _fine(seen) else "debug",
        "concerns": ["the wording of one message could be shorter; it changes nothing about the goal"],
        "independent_evidence": [f"README.md:1 -- read; `{s.command}` run again: {s.output}" for s in seen]
        or ["README.md:1 -- read beside the diff"],
        "verifier_agreement": True,
        "notes": "The goal is reached in substance.",
    }


def judge_divergence(_seen: list[Seen]) -> dict[str, Any]:
    return {
        "recommendation": "proceed",
        "agreements": ["every criterion holds: I ran the same commands and saw the same results"],
        "disagreements": ["the report could name the changed function"],
    }


def rate(seen: list[Seen]) -> dict[str, Any]:
    rows = [
        {
            "criterion": s.what,
            "score": 9.6 if s.passed else 3.0,
            "verification_command": s.command,
            "command_output": s.output,
            "evidence": "README.md:1 and the diff: the change is where it belongs",
            "justification": "-0.4: a comment could say why" if s.passed else "the command fails",
        }
        for s in seen or [Seen(what="the goal", command="git diff --stat", passed=True, output="1 file changed")]
    ]
    score = min(float(str(row["score"])) for row in rows)
    said = "Each criterion was run and holds; what is missing is a word of explanation in one place."
    return {
        "alignment_score": score,
        "scorecard": rows,
        "aggregate_justification": said,
        "commands_run": commands(seen),
        "test_coverage": {"tasks_with_tests": 1, "tasks_total": 1, "assertions_passed": 1, "assertions_total": 1},
    }


REVIEWS = {
    "plan_check": plan_check,
    "mini_verify": mini_verify,
    "verify": verify,
    "judge": judge,
    "judge_divergence": judge_divergence,
    "rate": rate,
}


def _look(scene: Scene, what: str, command: str) -> Seen:
    done = scene.run(command)
    return Seen(
        what=what,
        command=command,
        passed=done.returncode == 0,
        output=f"exit {done.returncode} {done.stdout[-60:].strip()}",
    )


def _fine(seen: list[Seen]) -> bool:
    return all(s.passed for s in seen)


def _results(seen: list[Seen]) -> list[dict[str, str]]:
    return [
        {
            "criterion": s.what,
            "status": "pass" if s.passed else "fail",
            "evidence": f"README.md:1 -- `{s.command}`: {s.output}",
            "command": s.command,
            "command_output": s.output,
        }
        for s in seen
    ]
