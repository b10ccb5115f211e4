"""Every commit and every ref of ours is on disk before anybody hears of it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autopilot.domain.process import Job, Ran
from autopilot.workspace.git_workspace import GitWorkspace, Places
from support.processes import PlainProcesses
from support.programs import needs
from support.repos import make_repo, write
from support.workspaces import ENV, FILES, PLANNING, message

TRACKED = {**FILES, ".planning/ROADMAP.md": "# tracked\n"}
DONE = {".planning/ROADMAP.md": "# done\n"}


class Traced(PlainProcesses):
    """Notes for each git how often it waited for the disk."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.waits = folder, list[tuple[str, int]]()

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        log = self.folder / f"{len(self.jobs)}.trace"
        words = ("strace", "-f", "-e", "trace=fsync,fdatasync,sync_file_range", "-o", str(log), *job.argv)
        ran = super().run(msgspec.structs.replace(job, argv=words), started)
        verb = next(word for word in job.argv[1:] if word != "-c" and "=" not in word)
        self.waits.append((verb, log.read_text().count("sync(")))
        return ran


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    needs("strace")
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("nothing can be traced here")
    (tmp_path / "traces").mkdir()
    return Traced(tmp_path / "traces")


def worked(workspace: GitWorkspace, base: str, text: str = "A\n") -> str:
    folder = Path(workspace.clone(base, PLANNING))
    write(folder, {"a.txt": text, "new/b.txt": "B\n"})
    return workspace.seal(str(folder), base, message("s1")).commit


Effect = Callable[[GitWorkspace, str, str], object]
EFFECTS: dict[str, tuple[Effect, set[str]]] = {
    "seal": (lambda w, base, _: worked(w, base, "other\n"), {"add", "hash-object", "commit-tree", "update-ref"}),
    "portion": (
        lambda w, base, made: w.portion(w.change(base, made), ["a.txt"], base, message("s2")),
        {"write-tree", "commit-tree", "update-ref"},
    ),
    "revert": (lambda w, base, made: w.revert(made, base, message("s3")), {"commit-tree", "update-ref"}),
    "interrupted work": (lambda w, base, _: interrupted(w, base), {"add", "commit-tree", "update-ref"}),
    "planning files": (lambda w, _, made: w.commit_planning(made, DONE, message("s4")), {"fast-import"}),
    "a snapshot": (lambda w, *_: w.snapshot_planning(), {"fast-import"}),
    "branch": (lambda w, _, made: w.branch("autopilot-diagnostic-phase-1", made), {"fetch", "update-ref"}),
    "landing": (lambda w, _, made: w.land(made), {"fetch", "update-ref", "update-index"}),
}


def interrupted(workspace: GitWorkspace, base: str) -> str | None:
    folder = Path(workspace.clone(base, PLANNING))
    write(folder, {"half.txt": "half\n"})
    return workspace.keep_interrupted(str(folder), base, "s5")


@pytest.mark.parametrize("name", EFFECTS)
def test_what_an_effect_made_is_on_disk_when_it_returns(tmp_path: Path, traced: Traced, name: str) -> None:
    root = make_repo(tmp_path / "user", TRACKED)
    places = Places(root=root, cache=tmp_path / "cache")
    plain = GitWorkspace(places, PlainProcesses(), "run-1", ENV)
    base = plain.start().base
    if name != "a snapshot":
        plain.snapshot_planning()
    made = worked(plain, base)
    effect, verbs = EFFECTS[name]

    assert effect(GitWorkspace(places, traced, "run-1", ENV), base, made) is not None
    waits = {verb: sum(n for v, n in traced.waits if v == verb) for verb in verbs}
    assert {verb for verb, count in waits.items() if not count} == set(), traced.waits


def test_every_way_a_commit_is_made_is_traced() -> None:
    """Whoever adds one finds it here."""
    source = Path(__file__).parents[2] / "src" / "autopilot" / "workspace"
    makers = {
        module.name
        for module in source.rglob("*.py")
        if module.name != "git.py"  # it says which of them take no lock
        and any(
            f'"{verb}"' in module.read_text()
            for verb in ("commit-tree", "fast-import", "write-tree", "fetch", "mktree")
        )
    }
    # The history that `veil.py` writes is only for looking at, and is made again whenever it is gone.
    assert makers == {"clones.py", "portions.py", "own_repository.py", "user_repository.py", "veil.py"}
