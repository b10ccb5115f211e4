"""How near `--jobs 4` comes to the ideal schedule: 20 phases that need nothing of each other, agents that sleep."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PHASES, JOBS, GOAL = 20, 4, 1.15
# The schedule is measured, not the disk.
MEMORY = Path("/dev/shm")
# Seconds of work, the same for as many phases in a row as run together. Long beside what Autopilot itself does, as real
# agents are.
SLEEPS = (10.0, 14.0, 12.0, 11.0, 13.0)
# One at a time takes as long as all sleeps together; a few phases show it as well as all of them.
ALONE = 2
ACTION = "Write the file with the one word that the criterion looks for, and leave every other file of it as it is."
ROW = '{criterion = "it is there", score = 9.5, evidence = "a:1", justification = "as asked"}'
REVIEWS = (
    ("plan_check", "{pass = true, confidence = 9}"),
    ("mini_verify", '{pass = true, commands_run = ["grep"]}'),
    ("verify", '{pass = true, commands_run = ["grep"], autonomous_confidence = 9}'),
    ("judge", '{recommendation = "proceed", concerns = ["short"], independent_evidence = ["a:1 -- done"]}'),
    ("judge_divergence", '{recommendation = "proceed", agreements = ["it is there"]}'),
    ("rate", f'{{alignment_score = 9.5, commands_run = ["grep"], scorecard = [{ROW}]}}'),
)  # fmt: skip


def sleep_of(phase: int) -> float:
    return SLEEPS[(phase - 1) // JOBS % len(SLEEPS)]


def ideal(phases: int, jobs: int) -> float:
    """No schedule is shorter than this."""
    sleeps = [sleep_of(phase) for phase in range(1, phases + 1)]
    return max(sum(sleeps) / jobs, *sleeps)


def roadmap(phases: int) -> str:
    return "# Roadmap\n" + "".join(
        f"\n### Phase {n}: Letter {n}\n**Goal**: Write letter {n}.\n**Success Criteria** (what must be TRUE):\n"
        f"  1. It is there -- verified by: `grep -q done letter{n}.txt`\n"
        for n in range(1, phases + 1)
    )


def answers(phases: int) -> str:
    told = [f'[[answer]]\nrole = "{role}"\nresult = {result}\n' for role, result in REVIEWS]
    for n in range(1, phases + 1):
        task, test = f"{n:02}-01", f".planning/phases/{n:02}-letter-{n}/tests/task-{n:02}-01.sh"
        plan = (
            f'# Plan: Phase {n} -- Letter {n}\n\n## Wave 1\n\n<task id="{task}" type="auto" complexity="simple">\n'
            f"### Task {task}: Letter {n}\n**Files:** letter{n}.txt\n**Action:** {ACTION}\n**Verify:**\n"
            f"- it is there -- verified by: `bash {test}`\n**Done:** It is there.\n</task>\n"
        )
        script = f"grep -q done letter{n}.txt && echo PASS: it is there"
        told.append(
            f'[[answer]]\nrole = "plan"\nphase = "{n}"\nresult = {{total_tasks = 1}}\n'
            f"[answer.write]\n\"{{dir}}/PLAN.md\" = '''\n{plan}'''\n\"{test}\" = '''\n{script}\n'''\n"
        )
        told.append(
            f'[[answer]]\nrole = "execute"\nphase = "{n}"\nsleep = {sleep_of(n)}\n'
            f'result = {{tasks_completed = "1/1", tasks_failed = "0/1"}}\nwrite = {{"letter{n}.txt" = "done\\n"}}\n'
        )
    return "\n".join(told)


def seconds(phases: int, jobs: int) -> float:
    """The whole command, from its start to its end."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        root, script = Path(folder) / "project", Path(folder) / "agent.toml"
        (root / ".planning").mkdir(parents=True)
        (root / ".planning" / "ROADMAP.md").write_text(roadmap(phases), encoding="utf-8")
        off = '{"workflow": {"research": false, "integration_check": false, "self_audit": false}}\n'
        (root / ".planning" / "config.json").write_text(off, encoding="utf-8")
        script.write_text(answers(phases), encoding="utf-8")
        who = {f"GIT_{one}_{what}": "bench@localhost" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        env = {**os.environ, **who, "AUTOPILOT_CACHE": f"{folder}/cache", "XDG_STATE_HOME": f"{folder}/state"}
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
            subprocess.run(["git", *words], cwd=root, env=env, check=True)
        command = [sys.executable, "-m", "autopilot", "run", "all", "--agent", f"scripted:{script}"]
        asked = [*command[:3], "trust", "--show", "--json", "--unsandboxed"]
        told = subprocess.run(asked, cwd=root, env=env, capture_output=True, check=True).stdout
        env["AUTOPILOT_TRUST"] = json.loads(told)["sha256"]
        began = time.monotonic()
        done = subprocess.run(
            [*command, "--unsandboxed", "--jobs", str(jobs)], cwd=root, env=env, capture_output=True, check=False
        )
        if done.returncode:
            raise SystemExit(done.stdout.decode()[-3000:] + done.stderr.decode()[-3000:])
        return time.monotonic() - began


def main() -> None:
    alone, together = seconds(ALONE, 1), seconds(PHASES, JOBS)
    for name, took, best in (
        (f"{ALONE} phases --jobs 1", alone, ideal(ALONE, 1)),
        (f"{PHASES} phases --jobs {JOBS}", together, ideal(PHASES, JOBS)),
    ):
        print(f"{name:<20} {took:6.1f} s  ideal {best:5.1f} s  {took / best:.2f}x")
    ratio = together / ideal(PHASES, JOBS)
    print(f"makespan          {ratio:.2f}x the ideal schedule  goal <= {GOAL}  {'ok' if ratio <= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
