"""The protocol of exec agents to the letter, as a program of the user's sees it, for every role a run asks."""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.choose_agent import choose as choose_agent
from autopilot.agents.cli_agent import Desk
from autopilot.app.wiring import past_work
from autopilot.domain.agent_call import Call, PhaseRef, schema_of
from autopilot.domain.answers import (
    DivergenceOpinion,
    FixClaim,
    JudgeOpinion,
    PlanClaim,
    PlanOpinion,
    RateOpinion,
    ResearchClaim,
    TaskOpinion,
    VerifyOpinion,
    WorkClaim,
)
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.events import StepFinished
from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Verified
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from support.homes import homes_at
from support.project import plan_answer, reviews
from support.repos import write
from support.runs import Drive, driven, parts_of

SCHEMAS = {
    "research": ResearchClaim, "plan": PlanClaim, "plan_check": PlanOpinion, "execute": WorkClaim, "debug": FixClaim,
    "mini_verify": TaskOpinion, "verify": VerifyOpinion, "judge": JudgeOpinion, "judge_divergence": DivergenceOpinion,
    "rate": RateOpinion,
}  # fmt: skip
FIELDS = {"protocol", "call", "role", "prompt", "schema", "phase", "task", "model", "limits"}
PLAN = plan_answer("1", [("letter1.txt", "done")])

# Notes what it was given, then answers what is written for its role, with chatter and an envelope around it.
AGENT = """
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
document = sys.stdin.read()
call = json.loads(document)
role = call["role"]
seen = []
for folder, _, names in os.walk("."):
    seen += [os.path.join(folder, name)[2:] for name in names if not folder.startswith("./.git")]
heard = {"document": call, "lines": document.count("\\n"), "env": dict(os.environ), "cwd": os.getcwd(), "files": seen}
with open(os.path.join(here, "heard.jsonl"), "a") as log:
    log.write(json.dumps(heard) + "\\n")
script = json.load(open(os.path.join(here, "script.json")))
for name, text in script.get(role + "_writes", {}).items():
    path = name.replace("{dir}", call["phase"]["dir"])
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
print("Working on it ... {not json}")
usage = {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}
print(json.dumps({"autopilot": 1, "result": script[role], "usage": usage, "commands": ["ls"]}))
"""


@pytest.fixture
def project(place: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    """A project whose agent does everything right, but only at the second try."""
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    script: dict[str, Any] = {a["role"]: a["result"] for a in reviews()}
    script |= {"plan": {}, "execute": {"tasks_completed": "1/1"}, "debug": {"fixed": True}}
    script |= {"plan_writes": PLAN["write"], "execute_writes": {"letter1.txt": "not yet\n"}}
    script |= {"debug_writes": {"letter1.txt": "done\n"}, "rate_writes": {"{dir}/SCORECARD.md": "10/10\n"}}
    write(place / "agent", {"agent.py": AGENT, "script.json": json.dumps(script)})
    made = driven(place, [])
    made.agent = f"exec:{sys.executable} -S -E {place}/agent/agent.py"
    return made


def heard(place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / "agent/heard.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_program_of_the_users_drives_a_phase_home_by_the_protocol(place: Path, project: Drive) -> None:
    end = project.run(model="some-model")
    calls = heard(place)

    assert (end.exit, end.usd, end.tokens) == (0, 0.25 * len(calls), 15 * len(calls))
    assert [c["document"]["role"] for c in calls] == [
        "research", "plan", "plan_check", "execute", "debug", "mini_verify", "verify", "judge", "judge_divergence",
        "rate",
    ]  # fmt: skip
    steps = ["fix" if c["document"]["role"] == "debug" else c["document"]["role"] for c in calls]
    for call, step in zip(calls, steps, strict=True):
        document = call["document"]
        assert document.keys() == FIELDS
        assert (document["protocol"], document["call"]) == (1, f"{end.run}/1/{step}/1")
        assert document["schema"] == json.loads(json.dumps(schema_of(SCHEMAS[document["role"]])))
        assert document["phase"] == {
            "id": "1", "name": "Letter 1", "type": "mixed", "dir": ".planning/phases/01-letter-1",
        }  # fmt: skip
        assert (document["model"], document["limits"]) == ("some-model", {"seconds": 3600})
        task = {"id": "01-01", "title": "Write letter1.txt", "files": ["letter1.txt"]}
        assert document["task"] == (task if document["role"] in {"execute", "debug", "mini_verify"} else None)


def test_a_program_sees_its_own_call_in_a_filtered_environment(place: Path, project: Drive) -> None:
    end = project.run()

    for call in heard(place):
        env, document = call["env"], call["document"]
        assert env["AUTOPILOT_CALL"] == document["call"]
        assert (env["AUTOPILOT_ROLE"], env["AUTOPILOT_RUN"]) == (document["role"], end.run)
        assert "SECRET_TOKEN" not in env
        assert not Path(call["cwd"]).is_relative_to(project.root)


def test_what_a_role_must_not_see_is_not_there(place: Path, project: Drive) -> None:
    project.run()
    files = {c["document"]["role"]: {f.rpartition("/")[2] for f in c["files"]} for c in heard(place)}
    planning = {c["document"]["role"]: [f for f in c["files"] if f.startswith(".planning")] for c in heard(place)}

    assert planning["rate"] == []
    for role in ("mini_verify", "verify", "judge"):
        assert {"PLAN.md", "ROADMAP.md", "letter1.txt"} <= files[role]
        assert not {"EXECUTION-LOG.md", "VERIFICATION.md", "JUDGE-REPORT.md", "SCORECARD.md"} & files[role]
    assert {"VERIFICATION.md", "JUDGE-REPORT.md"} <= files["judge_divergence"]
    assert not {"EXECUTION-LOG.md", "SCORECARD.md"} & files["judge_divergence"]


def test_a_program_out_of_its_usage_window_ends_with_75(place: Path, project: Drive) -> None:
    write(place / "agent", {"agent.py": "import sys\nsys.exit(75)\n"})

    with pytest.raises(Exception, match="usage limit") as stopped:
        project.run(wait=False)

    assert getattr(stopped.value, "exit_code", None) == 22


def test_a_program_that_fails_is_asked_again_and_then_given_up(place: Path, project: Drive) -> None:
    write(place / "agent", {"agent.py": "import sys\nprint('{}')\nsys.exit('out of order')\n"})

    end = project.run()

    assert (end.exit, project.calls) == (10, ["1/research/1", "1/research/2"])
    assert "(crashed): {}\nout of order" in end.phases["1"].reason


@pytest.mark.sandbox
def test_a_confined_agent_does_a_whole_phase_without_ever_seeing_the_journal(project: Drive, place: Path) -> None:
    log = AGENT.partition("with open(")[2].partition("script = ")[0]
    root = repr(str(project.root))
    blind = f"try:\n    os.listdir({root})\n    sys.exit('I can see the project')\nexcept OSError:\n    pass\n"
    (place / "agent/agent.py").write_text(AGENT.replace(f"with open({log}", blind))
    try:
        ground = choose("auto", ChildProcesses())
    except SandboxUnavailable as error:
        pytest.skip(error.what)

    end = project.run(sandbox="auto")
    assert end.exit == 0, end
    assert {run.sandbox for done in project.of(StepFinished) for run in checks_of(done)} == {ground.label}


def checks_of(done: StepFinished) -> tuple[CommandRun, ...]:
    return done.result.checks if isinstance(done.result, Verified) else ()


@pytest.mark.sandbox
def test_without_any_sandbox_no_run_starts_and_nothing_is_written(project: Drive) -> None:
    absent = "seatbelt" if sys.platform == "linux" else "landlock"
    with pytest.raises(SandboxUnavailable) as refused:
        project.run(sandbox=absent)

    assert refused.value.exit_code == 4
    assert all(parts_of(refused.value))
    assert not (project.root / ".autopilot").exists()


def test_a_replay_gives_the_same_replies_and_does_the_same_work(place: Path, project: Drive, tmp_path: Path) -> None:
    end = project.run()
    home, work = project.root / ".autopilot", tmp_path / "work"
    work.mkdir()
    desk = Desk(
        ChildProcesses(),
        home / "transcripts",
        "again",
        past_work=lambda run: past_work(run, home, ChildProcesses()),
        homes=homes_at(tmp_path),
    )
    agent = choose_agent(f"replay:{end.run}", desk, place)
    base = Call(
        id="again/1/plan/1",
        role="plan",
        prompt="Plan.",
        answer_schema={},
        phase=PhaseRef(id="1", name="Letter 1", type="mixed", dir=".planning/phases/01-letter-1"),
        folder=str(work),
    )

    for step, text in (("plan", None), ("execute", "not yet\n"), ("fix", "done\n")):
        reply = agent.call(msgspec.structs.replace(base, id=f"again/1/{step}/1"), lambda _: None)
        letter = work / "letter1.txt"
        assert (reply.outcome, reply.usage.cost_usd) == ("ok", 0.25)
        assert (letter.read_text() if letter.exists() else None) == text
    assert (work / ".planning/phases/01-letter-1/PLAN.md").exists()
    assert agent.call(msgspec.structs.replace(base, id="again/1/plan/9"), lambda _: None).outcome == "bad_output"
