"""The small `.git` an agent finds in its folder: enough to look at history and see its changes, and nothing of ours."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from autopilot.text.bounded import remember
from autopilot.workspace.files.removal import remove
from autopilot.workspace.git import Git
from autopilot.workspace.project_folder import OURS_ALONE

CONFIG = """[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = false
\tlogallrefupdates = false
[gc]
\tauto = 0
[user]
\tname = agent
\temail = agent@localhost
"""
SHA256 = "[extensions]\n\tobjectformat = sha256\n"
SHA256_DIGITS = 64
MOST_INDEXES = 2
SMALL_INDEX = 100_000
MOST_CHANGED = 100


@dataclass(frozen=True, slots=True)
class Skeleton:
    """
    `objects` is the folder of the copied history, `shallow` the file naming its cut-off, if there is one.

    With `drops` the history has no planning files, and so the index must not either. What is named in `aside` never
    shows as new.
    """

    git: Git
    objects: Path
    shallow: Path | None
    drops: bool = False
    indexes: dict[str, bytes] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    ours: tuple[str, ...] = OURS_ALONE

    def lay(self, folder: Path, commit: str, index: Path) -> None:
        """A new `.git` on branch `work` at the commit. What is ours alone never shows as changed."""
        own = folder / ".git"
        remove(own)
        for below in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
            (own / below).mkdir(parents=True)
        long = len(commit) == SHA256_DIGITS
        texts = {
            "HEAD": "ref: refs/heads/work\n",
            "refs/heads/work": f"{commit}\n",
            "config": CONFIG.format(version=int(long)) + (SHA256 if long else ""),
            "objects/info/alternates": f"{self.objects}\n",
            "info/exclude": "".join((*(f"/{name}/\n" for name in self.ours), *(f"/{name}\n" for name in self.aside))),
        }
        for name, text in texts.items():
            (own / name).write_text(text, encoding="utf-8")
        if self.shallow is not None and self.shallow.exists():
            shutil.copyfile(self.shallow, own / "shallow")
        if commit in self.indexes or self._is_brought_on(commit, index, own / "index"):
            (own / "index").write_bytes(self.indexes[commit])
            # Older than any file, so git compares every content: the dates in it are another checkout's.
            os.utime(own / "index", (1, 1))
            return
        shutil.copy2(index, own / "index")
        if not self.drops and self._hide(commit, own / "index", folder):
            self._remember(commit, index, own / "index")

    def _is_brought_on(self, commit: str, bare: Path, index: Path) -> bool:
        """
        Make the index of the commit from that of the newest one known, if few files differ and none is gone.

        There is more of what is ours alone with every phase; of that little is new.
        """
        known = next(reversed(self.indexes), None)
        if known is None:
            return False
        told = self.git.out("diff-tree", "-r", "-z", "--raw", "--no-renames", known, commit).split(b"\0")[:-1]
        changed = [
            (head.decode().split(" "), os.fsdecode(name)) for head, name in zip(told[::2], told[1::2], strict=True)
        ]
        if len(changed) > MOST_CHANGED or any(head[-1] == "D" for head, _ in changed):
            return False
        index.write_bytes(self.indexes[known])
        entries = [word for head, name in changed for word in ("--cacheinfo", f"{head[1]},{head[3]},{name}")]
        ours = [name for _, name in changed if any(name.startswith(f"{own}/") for own in self.ours)]
        words = ("update-index", "--add", *entries, *(("--skip-worktree", "--", *ours) if ours else ()))
        self.git.at(GIT_INDEX_FILE=index, GIT_WORK_TREE=index.parents[1]).run(*words)
        self._remember(commit, bare, index)
        return commit in self.indexes

    def _hide(self, commit: str, index: Path, folder: Path) -> bool:
        """Put in what the commit has of ours alone, such that it never shows as changed; whether there is any."""
        ours = self.git.out("ls-tree", "-r", "-z", "--full-tree", commit, "--", *self.ours)
        if ours:
            at = self.git.at(GIT_INDEX_FILE=index, GIT_WORK_TREE=folder)
            at.run("update-index", "-z", "--index-info", stdin=ours)
            names = b"".join(line.split(b"\t", 1)[1] + b"\0" for line in ours.split(b"\0")[:-1])
            at.run("update-index", "-z", "--skip-worktree", "--stdin", stdin=names)
        return bool(ours)

    def _remember(self, commit: str, bare: Path, index: Path) -> None:
        """Few files serve every checkout of the commit: git then looks at them instead of their dates."""
        if bare.stat().st_size < SMALL_INDEX:
            remember(self.indexes, commit, index.read_bytes(), MOST_INDEXES)
