"""
Twelve letters and what becomes of each in three runs, so that every figure of the reports can be worked out by hand.

Only executors say what they cost: 1000 tokens a call. A plan has one simple task, unless something else is said below.
"""

from collections.abc import Iterator
from typing import Any

from support.deferring import CONDEMNED, deferred
from support.project import ACTION, plan_answer, rate_answer, reviews, test_text, work_answer

PHASES = ("1", "2>1", "3>1", "4", "5", "6>5", "7", "8>7", "9", "10>9", "11", "12>11")
# No fix of a task, one debug round, no second plan: a phase that fails does so at once.
CONFIG = {"limits": {"task_fixes": 0, "debug_attempts": 1, "replans": 0}}
COST = {"input_tokens": 900, "output_tokens": 100}
SCORES = {"1": 9.4, "3a": 9.3, "3b": 9.5, "5": 9.3, "6": 9.2, "7": 9.7, "8": 9.0, "11": 9.6, "12": 9.9}
OBJECTS = {
    "pass": False,
    "commands_run": ["cat -> read"],
    "failures": ["no greeting"],
    "failure_categories": [{"failure": "no greeting", "category": "acceptance_criteria_unmet"}],
}


def first_run() -> list[dict[str, Any]]:
    """
    `--complete`: 2 is mended once and 4 twice, 3 is split, 5 waits for a person, 7 and 9 fail, and 8 and 10 with them.

    At a second try 7 holds, and so 8 is written; 9 is condemned again.
    """
    plain = [answer for n in ("1", "2", "4", "5", "6", "7", "8", "9", "10", "12") for answer in letter(n)]
    return [
        *reviews(),
        *deferred("5"),
        *plain,
        *letter("11", ("letter11.txt", "stamp11.txt")),
        *split(),
        *(rate_answer(score, phase=phase) for phase, score in SCORES.items()),
        *(rate_answer(score, phase="2", attempt=n) for n, score in enumerate((8.2, 9.1), 1)),
        *(two_rows(*scores, attempt=n) for n, scores in enumerate(((8.0, 7.6), (8.4, 7.8), (8.6, 8.2)), 1)),
        mend("2", 1),
        mend("4", 1),
        mend("4", 2),
        written("7", "07-01", "letter7.txt", "not yet\n", attempt=1),
        {"role": "debug", "phase": "7", "result": {"fixed": True}, "write": {"letter7.txt": "still not\n"}},
        CONDEMNED | {"phase": "9"},
    ]


def force_run() -> list[dict[str, Any]]:
    """`--force 6`: written anew; the verifier objects once, and what it names is mended."""
    again = written("6", "06-01", "letter6.txt", "done, anew\n")
    return [*reviews(9.7), *letter("6"), again | {"attempt": 1}, *objected("6", "letter6.txt", "done, anew, dear\n")]


def gaps_run() -> list[dict[str, Any]]:
    """`--gaps 4`: its ending first, to which the verifier objects once, then its greeting."""
    rates = [two_rows(8.6, 9.6, attempt=1), two_rows(9.6, 9.6, attempt=2)]
    mended = written("4", "4-R1", "letter4.txt", "done, gap 1\n"), written("4", "4-R2", "letter4.txt", "done, gap 2\n")
    return [*reviews(), *rates, *mended, *objected("4", "letter4.txt", "done, gap 1, dear\n")]


def letter(phase: str, files: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    names = files or (f"letter{phase}.txt",)
    yield plan_answer(phase, [(file, "done") for file in names])
    for number, file in enumerate(names, 1):
        yield written(phase, f"{phase.zfill(2)}-0{number}", file, "done\n")


def written(phase: str, task: str, file: str, text: str, **more: Any) -> dict[str, Any]:
    return work_answer(phase, task, file, text, usage=COST, **more)


def mend(phase: str, cycle: int) -> dict[str, Any]:
    return written(phase, f"{phase}-R{cycle}", f"letter{phase}.txt", f"done, mended {cycle}\n")


def objected(phase: str, file: str, text: str) -> Iterator[dict[str, Any]]:
    yield {"role": "verify", "phase": phase, "attempt": 1, "result": OBJECTS}
    yield {"role": "debug", "phase": phase, "result": {"fixed": True}, "write": {file: text}}


def two_rows(greeting: float, ending: float, **more: Any) -> dict[str, Any]:
    """How phase 4 is rated: by two criteria, of which the mean counts."""
    rows = [
        {"criterion": name, "score": score, "evidence": "letter4.txt:1", "justification": f"{name} is thin"}
        for name, score in (("greeting", greeting), ("ending", ending))
    ]
    result = {"alignment_score": 10.0, "scorecard": rows, "commands_run": ["grep -> found"]}
    return {"role": "rate", "phase": "4", "result": result, **more}


def split() -> Iterator[dict[str, Any]]:
    """Phase 3 is planned with six complex tasks, and done in two parts of one task each."""
    whole = plan_answer("3", [(f"part{n}.txt", "done") for n in range(1, 7)])
    text = whole["write"]["{dir}/PLAN.md"].replace('complexity="simple"', 'complexity="complex"')
    yield {**whole, "write": {**whole["write"], "{dir}/PLAN.md": text}}
    for part, file in (("3a", "part1.txt"), ("3b", "letter3.txt")):
        test = f".planning/phases/03-letter-3/{part}/tests/task-{part}-01.sh"
        plan = (
            f'# Plan: Phase {part} -- Part\n\n## Wave 1\n\n<task id="{part}-01" type="auto" complexity="simple">\n'
            f"### Task {part}-01: Write {file}\n**Files:** {file}\n**Action:** {ACTION}\n**Verify:**\n"
            f"- {file} says done -- verified by: `grep -q done {file}`\n"
            f"- its test passes -- verified by: `bash {test}`\n**Done:** It is there.\n</task>\n"
        )
        files = {"{dir}/PLAN.md": plan, test: test_text(file, "done")}
        yield {"role": "plan", "phase": part, "result": {"total_tasks": 1}, "write": files}
        yield written(part, f"{part}-01", file, "done\n")
