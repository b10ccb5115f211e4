"""State that is not the user's own starts nothing and writes nothing, whichever command meets it."""

import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from autopilot.journal.chain import GENESIS, Chain, Tip
from autopilot.journal.head import HeadFile
from autopilot.journal.lock import RunLock
from autopilot.views.dashboard.guard import Door
from support.dashboards import Site
from support.repos import git, make_repo
from support.runs import roadmap_of

REFUSED = 5
PATIENCE_S = 120.0
# Every command in one process, as the command line does it: what they import is most of the time they take.
ALL_OF_THEM = """
import json, os, sys
from pathlib import Path
from autopilot.app import dashboard as serving
from autopilot.cli.main import main
from autopilot.domain.errors import AutopilotError
codes = {}
for name, words in json.loads(sys.argv[1]).items():
    print(f"--- {name}", file=sys.stderr, flush=True)
    try:
        codes[name] = main(words) if words else serving.resume(Path.cwd())
    except AutopilotError as error:
        print(error.what, error.do, file=sys.stderr, flush=True)
        codes[name] = error.exit_code
with open(sys.argv[2], "w") as out:
    json.dump(codes, out)
"""
AUTOPILOT = (sys.executable, "-P", "-m", "autopilot")
RESUMING: dict[str, tuple[str, ...]] = {
    "resume": ("resume", "--plain"),
    "retry": ("retry", "1"),
    "run": ("run", "--plain"),
    "loop": ("loop", "--mode", "feature", "--max-sessions", "1"),
    "dashboard": (),
}
WRITING: dict[str, tuple[str, ...]] = {
    **RESUMING,
    "new run": ("run", "1", "--agent", "exec:true", "--unsandboxed", "--plain"),
    "verdict": ("verdict", "1", "pass"),
    "rebuild": ("rebuild",),
    "map": ("map", "1", "--agent", "exec:true", "--unsandboxed"),
}
LOOKING: dict[str, tuple[str, ...]] = {
    "status": ("status",), "report": ("report",), "progress": ("progress",), "watch": ("status", "--watch", "--plain"),
    "replay": ("replay", "--plain"), "stop": ("stop",), "doctor": ("doctor", "--json"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """A project with a run that was interrupted, whose agent leaves `trace` wherever it is started; and its user."""

    place: Path
    user: str = "user"

    @property
    def root(self) -> Path:
        return self.place / "project"

    @property
    def journal(self) -> Path:
        return self.root / ".autopilot" / "journal.db"

    @property
    def trace(self) -> Path:
        return self.place / "started"

    def env(self) -> dict[str, str]:
        home = self.place / self.user
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "AUTOPILOT_"))}
        own = {"HOME": home, "XDG_STATE_HOME": home / "state", "AUTOPILOT_CACHE": home / "cache"}
        sessions = {"AUTOPILOT_SESSIONS": home / "sessions", "AUTOPILOT_CONFIG": home / "config"}
        return {**kept, **{name: str(path) for name, path in {**own, **sessions}.items()}}

    def run(self, commands: dict[str, tuple[str, ...]]) -> tuple[dict[str, object], str]:
        """The exit code of each, and what they say to whoever sits there."""
        told = self.place / "codes.json"
        told.unlink(missing_ok=True)
        argv = [sys.executable, "-P", "-c", ALL_OF_THEM, json.dumps(commands), str(told)]
        done = subprocess.run(
            argv, cwd=self.root, env=self.env(), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert told.exists(), done.stderr
        return json.loads(told.read_text()), done.stderr

    def agree(self) -> "Scene":
        """Its user trusts what the repository asks for, so that nothing but its state can be the reason to refuse."""
        words = [
            sys.executable,
            "-P",
            "-c",
            "import sys; from autopilot.app import prepare as app; app.agree(sys.argv[1])",
        ]
        subprocess.run([*words, str(self.root)], env=self.env(), check=True)
        return self

    def files(self) -> dict[str, str]:
        """Every file of the project by its content, and every link by where it leads."""
        found = (path for path in sorted(self.root.rglob("*")) if path.is_symlink() or path.is_file())
        return {
            str(path.relative_to(self.root)): str(path.readlink())
            if path.is_symlink()
            else sha256(path.read_bytes()).hexdigest()
            for path in found
        }


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Finding 1: a run of an agent that is a command, unsandboxed, and interrupted while it works."""
    scene = Scene(tmp_path_factory.mktemp("interrupted"))
    make_repo(scene.root, {".planning/ROADMAP.md": roadmap_of("1"), "notes.txt": "mine\n"})
    scene.agree()
    agent = f"exec:sh -c 'echo started > {scene.trace}; sleep 600'"
    words = [*AUTOPILOT, "run", "1", "--agent", agent, "--unsandboxed", "--plain"]
    run = subprocess.Popen(words, cwd=scene.root, env=scene.env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + PATIENCE_S
    while not scene.trace.exists() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    output = run.communicate(timeout=PATIENCE_S)[0]
    assert scene.trace.exists(), output.decode()
    scene.trace.unlink()
    return scene


def tracked(scene: Scene, there: Path) -> Scene:
    """As it was found: committed, cloned by somebody else."""
    git(scene.root, "add", "-f", ".autopilot")
    git(scene.root, "commit", "-qm", "state")
    git(scene.place, "clone", "-q", str(scene.root), str(there / "project"))
    git(scene.root, "reset", "-q", "--soft", "HEAD~1")
    git(scene.root, "rm", "-rq", "--cached", ".autopilot")
    return Scene(there, "stranger")


def taken_out(scene: Scene, there: Path) -> Scene:
    """And by somebody who did what the refusal of it says, but for removing the folder."""
    clone = tracked(scene, there)
    git(clone.root, "rm", "-rq", "--cached", ".autopilot")
    git(clone.root, "commit", "-qm", "no state")
    return clone


def of_another_user(scene: Scene, there: Path) -> Scene:
    shutil.copytree(scene.place, there, symlinks=True, dirs_exist_ok=True)
    return Scene(there, "stranger")


def of_another_place(scene: Scene, there: Path) -> Scene:
    shutil.copytree(scene.place, there, symlinks=True, dirs_exist_ok=True)
    return Scene(there)


def plain(scene: Scene, there: Path) -> Scene:
    """A chain as early versions wrote it, which anybody can write, committed and cloned."""
    maker = of_another_place(scene, there / "maker")
    with closing(sqlite3.connect(maker.journal, isolation_level=None)) as db:
        previous = GENESIS
        for *fields, _ in db.execute("select * from entries order by seq").fetchall():
            previous = sha256(msgspec.json.encode([previous, *fields])).hexdigest()
            db.execute("update entries set hash = ? where seq = ?", (previous, fields[0]))
        db.execute("drop table binding")
        db.execute("pragma user_version = 1")
        last = db.execute("select max(seq) from entries").fetchone()[0]
    with HeadFile(maker.journal.with_suffix(".head"), Chain(b"")) as head:
        head.lay(Tip(seq=last, hash=previous), Tip(seq=last - 1, hash=GENESIS))
    return taken_out(maker, there)


def a_link(scene: Scene, there: Path) -> Scene:
    copy = of_another_place(scene, there)
    (copy.root / ".autopilot").rename(there / "aside")
    (copy.root / ".autopilot").symlink_to(there / "aside")
    return copy


FOREIGN: dict[str, Callable[[Scene, Path], Scene]] = {
    "tracked": tracked,
    "no longer tracked": taken_out,
    "of another user": of_another_user,
    "of another place": of_another_place,
    "plain": plain,
    "a link": a_link,
}


REASONS = {"tracked": "git tracks .autopilot", "a link": "is a link"}


@pytest.fixture(scope="module")
def scenes(interrupted: Scene, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Scene]:
    made = dict[str, Scene]()

    def scene(name: str) -> Scene:
        if name not in made:
            made[name] = FOREIGN[name](interrupted, tmp_path_factory.mktemp("foreign")).agree()
        return made[name]

    return scene


def judged(scene: Scene, commands: dict[str, tuple[str, ...]], trace: Path) -> str:
    """By what is there afterwards, and not by what they say."""
    before = scene.files()
    codes, told = scene.run(commands)
    assert not trace.exists(), "the agent was started"
    assert scene.files() == before
    assert codes == dict.fromkeys(commands, REFUSED), told
    return told


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_state_starts_nothing_and_writes_nothing(
    interrupted: Scene, scenes: Callable[[str], Scene], name: str
) -> None:
    told = judged(scenes(name), WRITING, interrupted.trace)

    assert told.count(REASONS.get(name, "is not yours")) == len(WRITING), told


@contextmanager
def page(scene: Scene) -> Iterator[Site]:
    """The dashboard of that user, as the verb serves it."""
    words = [sys.executable, "-u", "-P", "-m", "autopilot", "serve", "--port", "0"]
    with subprocess.Popen(words, cwd=scene.root, env=scene.env(), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = [re.search(r":(\d+)/#token=(\S+)", server.stdout.readline()) for _ in range(2)]
            port, full, look = (found[0] and found[0][1], found[0] and found[0][2], found[1] and found[1][2])
            yield Site(int(port or 0), Door(names=frozenset(), read_token=look or "", write_token=full), (scene.root,))
        finally:
            server.kill()


@pytest.mark.parametrize("name", FOREIGN)
def test_no_button_of_the_dashboard_starts_or_writes_anything(
    interrupted: Scene, scenes: Callable[[str], Scene], name: str
) -> None:
    scene = scenes(name)
    before = scene.files()
    with page(scene) as site:
        answers = {
            deed: site.post(f"/api/projects/1/{deed}", body)
            for deed, body in (
                ("resume", {}),
                ("verdict", {"phase": "1", "verdict": "pass"}),
                ("answer", {"question": "map/1//1", "text": "yes"}),
            )
        }
        stopped = site.post("/api/projects/1/stop", {})

    told = REASONS.get(name, "is not yours")
    assert {deed: (got.status, told in got.json["error"]) for deed, got in answers.items()} == dict.fromkeys(
        answers, (409, True)
    ), answers
    assert stopped.status in {200, 409}
    assert (scene.files() == before, interrupted.trace.exists()) == (True, False)


@pytest.mark.parametrize("name", ["tracked", "of another user", "of another place", "plain"])
def test_a_key_typed_while_foreign_state_is_watched_starts_and_writes_nothing(
    interrupted: Scene, scenes: Callable[[str], Scene], name: str
) -> None:
    """Somebody holds its lock, so that the watch goes on and heeds the keyboard."""
    scene = scenes(name)
    home = scene.root / ".autopilot"
    with RunLock(home, json.loads((home / "state.json").read_bytes())["_meta"]["run_id"]):
        before = scene.files()
        master, slave = pty.openpty()
        words = [*AUTOPILOT, "status", "--watch", "--plain"]
        watch = subprocess.Popen(words, cwd=scene.root, env=scene.env(), stdin=slave, stdout=subprocess.PIPE, text=True)
        assert watch.stdout is not None
        watch.stdout.readline()  # The first line of the run: by now the keyboard is heeded.
        deadline = time.monotonic() + PATIENCE_S
        while watch.poll() is None and time.monotonic() < deadline:
            os.write(master, b"rq")
            time.sleep(0.05)
        watch.stdout.close()
        os.close(master)
        os.close(slave)

        assert watch.wait() == 0
        assert (scene.files() == before, interrupted.trace.exists()) == (True, False)


@pytest.mark.parametrize("name", [name for name in FOREIGN if name != "a link"])
def test_foreign_state_can_be_looked_at(interrupted: Scene, scenes: Callable[[str], Scene], name: str) -> None:
    scene = scenes(name)
    before = scene.files()
    codes, told = scene.run(LOOKING)

    assert codes == {**dict.fromkeys(LOOKING, 0), "doctor": 2}, told
    assert (scene.files() == before, interrupted.trace.exists()) == (True, False)


@pytest.mark.parametrize("name", [name for name in FOREIGN if name != "a link"])
def test_whoever_looks_is_told_whose_it_is_and_what_can_be_done(scenes: Callable[[str], Scene], name: str) -> None:
    """`adopt` is advised only where it would not refuse, and `resume` nowhere."""
    scene = scenes(name)
    for words in (("status",), ("progress",)):
        seen = subprocess.run(
            [*AUTOPILOT, *words], cwd=scene.root, env=scene.env(), capture_output=True, text=True, check=True
        ).stdout
        assert REASONS.get(name, "is not yours") in seen
        assert ("autopilot adopt" in seen) == (name not in {"tracked", "plain"})
        assert ("git rm -r --cached .autopilot" in seen) == (name == "tracked")
        assert "autopilot resume" not in seen


def test_a_run_of_one_s_own_is_shown_without_a_caveat(interrupted: Scene) -> None:
    words = [*AUTOPILOT, "status"]
    seen = subprocess.run(
        words, cwd=interrupted.root, env=interrupted.env(), capture_output=True, text=True, check=True
    )

    assert "is not yours" not in seen.stdout
    assert "To continue: autopilot resume" in seen.stdout


def last_of(db: sqlite3.Connection) -> int:
    return int(db.execute("select max(seq) from entries").fetchone()[0])


def change(db: sqlite3.Connection) -> None:
    db.execute("update entries set body = replace(body, 'sleep 600', 'sleep 601') where seq = 1")


def append(db: sqlite3.Connection) -> None:
    fields = "seq + 1, stream, number + 1, at, version, body, hash"
    db.execute(f"insert into entries select {fields} from entries where seq = ?", (last_of(db),))


def cut(db: sqlite3.Connection) -> None:
    db.execute("delete from entries where seq = ?", (last_of(db),))


@pytest.mark.parametrize("harm", [change, append, cut], ids=["changed", "appended", "cut"])
def test_a_journal_of_one_s_own_that_was_changed_starts_nothing(
    interrupted: Scene, harm: Callable[[sqlite3.Connection], None]
) -> None:
    """Whoever changed it had no key: they chain it anew with one of theirs, and write HEAD to fit."""
    kept = {path: path.read_bytes() for path in (interrupted.journal, interrupted.journal.with_suffix(".head"))}
    try:
        with closing(sqlite3.connect(interrupted.journal, isolation_level=None)) as db:
            harm(db)
            chain, tips = Chain(b"guess", db.execute("select hash from binding").fetchone()[0]), [Tip()]
            for *fields, _ in db.execute("select * from entries order by seq").fetchall():
                tips.append(Tip(seq=fields[0], hash=chain.link(tips[-1].hash, fields)))
                db.execute("update entries set hash = ? where seq = ?", (tips[-1].hash, fields[0]))
        with HeadFile(interrupted.journal.with_suffix(".head"), chain) as head:
            head.lay(tips[-1], tips[-2])
        told = judged(interrupted, {**RESUMING, "rebuild": WRITING["rebuild"]}, interrupted.trace)
        assert "is damaged" in told
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


def test_without_a_grant_nothing_starts_and_the_command_that_grants_it_is_told(interrupted: Scene) -> None:
    grants = interrupted.place / "user" / "state" / "autopilot" / "grants"
    grants.rename(grants.with_name("away"))
    try:
        told = judged(interrupted, RESUMING, interrupted.trace)
        assert told.count("autopilot resume --agent 'exec:sh -c") == len(RESUMING)
        assert "--unsandboxed" in told
    finally:
        grants.with_name("away").rename(grants)


def test_the_control_goes_on(interrupted: Scene) -> None:
    """The same run, its own user, untouched: the agent is started."""
    run = subprocess.Popen(
        [*AUTOPILOT, *RESUMING["resume"]], cwd=interrupted.root, env=interrupted.env(), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE_S
    while not interrupted.trace.exists() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    output = run.communicate(timeout=PATIENCE_S)[0]

    assert interrupted.trace.exists(), output.decode()
    interrupted.trace.unlink()
