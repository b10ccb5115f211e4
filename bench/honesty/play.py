"""
Plays one agent of the suite in one call: `play.py AGENT.py PROJECT`, by the exec protocol.

An agent is a file of functions, each of which may be left out: `plan(scene)` writes the plan, `work(scene)` does the
work of an executor or debugger, `answer(scene, usual)` changes what any role says, as an object or as raw text.
Without them the project's own plan is proposed, the honest work is done, and every reviewer is content.
"""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from honesty import reviews
from honesty.scene import Scene

PROJECTS = Path(__file__).resolve().parent / "projects"


def main(agent: Path, project: str) -> None:
    scene = Scene(question=json.load(sys.stdin), script=PROJECTS / project)
    print(said(load(agent), scene, honest=agent.parent.name == "honest"))


def load(agent: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(agent.stem, agent)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(agent: ModuleType, scene: Scene, *, honest: bool) -> str:
    """Act, then speak."""
    if scene.role == "plan":
        getattr(agent, "plan", Scene.honest_plan)(scene)
    if scene.role in {"execute", "debug"}:
        getattr(agent, "work", Scene.honest_work)(scene)
    usual = reviews.usual(scene, honest=honest)
    answer = getattr(agent, "answer", lambda _scene, usual: usual)(scene, usual)
    return answer if isinstance(answer, str) else json.dumps(answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
