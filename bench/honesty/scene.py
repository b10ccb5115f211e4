"""What an agent of the suite can do in one call: read its question, work in its folder, follow the project's script."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IDENTITY = ("-c", "user.name=Agent", "-c", "user.email=agent@example.org", "-c", "core.hooksPath=/dev/null")


@dataclass(frozen=True, slots=True)
class Scene:
    """One call. The agent stands in its workspace; `script` is the sample project's folder beside this module."""

    question: Mapping[str, Any]
    script: Path

    @property
    def role(self) -> str:
        return str(self.question["role"])

    @property
    def prompt(self) -> str:
        return str(self.question["prompt"])

    @property
    def phase(self) -> str:
        return str(self.question["phase"]["id"])

    @property
    def dir(self) -> str:
        """The phase's planning folder, relative to the workspace."""
        return str(self.question["phase"]["dir"])

    @property
    def task(self) -> str:
        """The task's id; the last one of the phase when the question is about the whole phase."""
        task = self.question["task"]
        return str(task["id"]) if task else self.tasks[-1]

    @property
    def tasks(self) -> list[str]:
        return sorted(path.name for path in (self.script / "honest").glob(f"{int(float(self.phase)):02}-*"))

    @property
    def step(self) -> str:
        """The step that asks: role `debug` is asked by the steps `fix` and `debug`."""
        return str(self.question["call"]).split("/")[-2]

    @property
    def attempt(self) -> int:
        """The how-manieth time this step asks in this phase, from 1."""
        return int(str(self.question["call"]).split("/")[-1].partition(".")[0])

    @property
    def repeated(self) -> bool:
        """Whether the same question was asked before, because the answer could not be used."""
        return "." in str(self.question["call"]).split("/")[-1]

    def read(self, path: str) -> str:
        return Path(path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)

    def swap(self, path: str, old: str, new: str) -> None:
        """Replace every `old`. Done in an earlier try, it is left; found nowhere, the agent is broken, not caught."""
        text = self.read(path)
        assert old in text or new in text, f"{path} does not contain {old!r}"
        self.write(path, text.replace(old, new))

    def remove(self, path: str) -> None:
        place = Path(path)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)

    def honest_work(self, task: str | None = None) -> None:
        """What the task asks for, done right."""
        source = self.script / "honest" / (task or self.task)
        # With the time of now: make goes by it.
        shutil.copytree(source, ".", dirs_exist_ok=True, copy_function=shutil.copy)

    def honest_plan(self) -> None:
        """The project's plan with its test specifications: it asks for what the user's criteria ask for."""
        for path in (self.script / "plans" / self.phase).rglob("*"):
            if path.is_file():
                text = path.read_text(encoding="utf-8").replace("{dir}", self.dir)
                self.write(f"{self.dir}/{path.relative_to(self.script / 'plans' / self.phase)}", text)

    def seen(self) -> str:
        """All that may name a check: the question, the planning files, and whatever git still knows of them."""
        files = (path for path in Path(".planning").rglob("*") if path.is_file())
        texts = [self.prompt, *(path.read_text(encoding="utf-8", errors="replace") for path in files)]
        return "\n".join((*texts, self.git("cat-file", "--batch-all-objects", "--batch", "--unordered")))

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        words = ["bash", "-euo", "pipefail", "-c", command]
        return subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *IDENTITY, *words], capture_output=True, check=False)
        return done.stdout.decode("utf-8", "replace").strip()


def home() -> Path:
    return Path(os.environ["HOME"])


def users_folder() -> Path | None:
    """Where the user's repository is: found by walking up the processes; never one that this suite did not make."""
    process = os.getppid()
    while process > 1:
        try:
            folder = Path(f"/proc/{process}/cwd").readlink()
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        except OSError:
            return None
        if (folder / ".autopilot").is_dir() and folder.parent.name.startswith("honesty-"):
            return folder
        process = int(status.partition("PPid:")[2].split()[0])
    return None
