"""A three-phase project and the scripted agent that works on it: small enough that a whole run takes about a second."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from support.repos import make_repo

PHASES = ("1", "2", "3")
ROADMAP = "# Roadmap: Letters\n\n" + "\n".join(
    f"""### Phase {n}: Letter {n}
**Goal**: Write letter {n}.
**Depends on**: {f"Phase {int(n) - 1}" if n != "1" else "Nothing"}
**Success Criteria** (what must be TRUE):
  1. The letter is there -- verified by: `grep -q done letter{n}.txt`
"""
    for n in PHASES
)
ACTION = (
    "Create the file with the single word that the criterion looks for, then add a line with the number of the letter, "
    "and leave every other file of the project exactly as it is now."
)


def plan_text(phase: str, tasks: Iterable[tuple[str, str]]) -> str:
    """A plan in the autopilot form; each task is (file, word it must contain)."""
    parts, padded = [f"# Plan: Phase {phase} -- Letter {phase}\n\n## Wave 1\n"], phase.zfill(2)
    for number, (file, word) in enumerate(tasks, start=1):
        task = f"{padded}-0{number}"
        parts.append(
            f'<task id="{task}" type="auto" complexity="simple">\n### Task {task}: Write {file}\n'
            f"**Files:** {file}\n**Action:** {ACTION}\n**Verify:**\n"
            f"- {file} says {word} -- verified by: `grep -q {word} {file}`\n"
            f"- the test passes -- verified by: `bash .planning/phases/{padded}-letter-{phase}/tests/task-{task}.sh`\n"
            f"**Done:** {file} says {word}.\n</task>\n"
        )
    return "\n".join(parts)


def test_text(file: str, word: str) -> str:
    return f"if grep -q {word} {file}; then echo PASS: {word}; else echo FAIL: {word}; exit 1; fi\n"


def toml(answers: Iterable[Mapping[str, Any]]) -> str:
    """Scripted answers as a TOML file; values are written as inline tables."""
    return "\n".join("[[answer]]\n" + "\n".join(f"{k} = {_value(v)}" for k, v in a.items()) + "\n" for a in answers)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
            return f'"{escaped}"'
        case list() | tuple():
            return "[" + ", ".join(_value(v) for v in value) + "]"
        case dict():
            return "{" + ", ".join(f"{_value(k)} = {_value(v)}" for k, v in value.items()) + "}"
        case _:
            raise TypeError(type(value))


def plan_answer(phase: str, tasks: list[tuple[str, str]]) -> dict[str, Any]:
    tests = {
        f"{{dir}}/tests/task-{phase.zfill(2)}-0{n}.sh": test_text(file, word)
        for n, (file, word) in enumerate(tasks, start=1)
    }
    written = {"{dir}/PLAN.md": plan_text(phase, tasks), **tests}
    return {"role": "plan", "phase": phase, "result": {"total_tasks": len(tasks)}, "write": written}


def work_answer(phase: str, task: str, file: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "role": "execute",
        "phase": phase,
        "task": task,
        "result": {"tasks_completed": "1/1", "tasks_failed": "0/1"},
        "write": {file: text},
        **more,
    }


# What a verifier ran, and where it found what it was asked about.
LOOKED: dict[str, Any] = {
    "commands_run": ["grep -> found"],
    "files_checked": [f"letter{n}.txt:1 -- {what}" for n in range(1, 7) for what in ("done", "as asked", "alone")],
}


def reviews(score: float = 9.4, prose: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Reviewers who are content with everything; `prose` are the criteria that have no command."""
    met = [{"criterion": text, "status": "verified", "evidence": "letter1.txt:1"} for text in prose]
    return [
        {"role": "research", "result": {"key_findings": ["nothing is there yet"]}},
        {"role": "plan_check", "result": {"pass": True, "confidence": 9}},
        {"role": "mini_verify", "result": {"pass": True, "commands_run": ["grep -> found"]}},
        {"role": "verify", "result": {"pass": True, "autonomous_confidence": 9, "criteria_results": met, **LOOKED}},
        {
            "role": "judge",
            "result": {
                "recommendation": "proceed",
                "concerns": ["short"],
                "independent_evidence": ["letter:1 -- done"],
            },
        },
        {"role": "judge_divergence", "result": {"recommendation": "proceed", "agreements": ["the letter is there"]}},
        rate_answer(score, prose),
        {"role": "integration", "result": {"pass": True, "evidence": ["letter1.txt:1 -- done"]}},
        *audit_answers(),
    ]


def audit_answers() -> list[dict[str, Any]]:
    """An audit of up to nine letters, each with one success criterion, that finds no gap."""
    met = [audit_row(f"P{n}-C1") for n in range(1, 10)]
    return [{"role": "audit", "result": audit(*met)}]


def audit(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"audit_results": [{"phase_id": "1", "requirements_checked": list(rows)}]}


def audit_row(requirement: str, gap: str = "", size: str = "small") -> dict[str, Any]:
    """A requirement that is met, unless there is a gap."""
    row = {"requirement_id": requirement, "file_line_evidence": "letter1.txt:1", "status": "gap" if gap else "pass"}
    return {**row, "gap_description": gap, "fix_complexity": size} if gap else row


def rate_answer(score: float, prose: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    row = {"score": score, "evidence": "letter:1", "justification": "as asked"}
    rows = [{"criterion": text, **row} for text in ("the letter is there", *prose)]
    return {
        "role": "rate",
        "result": {"alignment_score": score, "scorecard": rows, "commands_run": ["grep -> found"]},
        **more,
    }


def honest() -> list[dict[str, Any]]:
    """Every phase done right the first time; phase 2 has two tasks."""
    return [
        *reviews(),
        plan_answer("1", [("letter1.txt", "done")]),
        plan_answer("2", [("draft2.txt", "draft"), ("letter2.txt", "done")]),
        plan_answer("3", [("letter3.txt", "done")]),
        work_answer("1", "01-01", "letter1.txt", "done 1\n"),
        work_answer("2", "02-01", "draft2.txt", "draft 2\n"),
        work_answer("2", "02-02", "letter2.txt", "done 2\n"),
        work_answer("3", "03-01", "letter3.txt", "done 3\n"),
    ]


def make_project(folder: Path, answers: Iterable[Mapping[str, Any]], roadmap: str = ROADMAP) -> Path:
    """The repository, with the script beside it as `<folder>.toml`."""
    root = make_repo(folder, {"README.md": "letters\n", ".planning/ROADMAP.md": roadmap, "notes.txt": "mine\n"})
    script = folder.parent / f"{folder.name}.toml"
    script.write_text(toml(answers), encoding="utf-8")
    return root
