"""The small `.git` an agent finds in its folder: enough to look at history and see its changes, and nothing of ours."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from autopilot.domain.remembering import remember
from autopilot.workspace.git import Git
from autopilot.workspace.removal import remove
from autopilot.workspace.store import OURS_ALONE

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
MOST_INDEXES = 6
SMALL_INDEX = 100_000


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
            "info/exclude": "".join((*(f"/{name}/\n" for name in OURS_ALONE), *(f"/{name}\n" for name in self.aside))),
        }
        for name, text in texts.items():
            (own / name).write_text(text, encoding="utf-8")
        if self.shallow is not None and self.shallow.exists():
            shutil.copyfile(self.shallow, own / "shallow")
        if commit in self.indexes:
            (own / "index").write_bytes(self.indexes[commit])
            # Older than any file, so git compares every content: the dates in it are another checkout's.
            os.utime(own / "index", (1, 1))
            return
        shutil.copy2(index, own / "index")
        if not self.drops and self._hide(commit, own / "index", folder):
            self._remember(commit, index, own / "index")

    def _hide(self, commit: str, index: Path, folder: Path) -> bool:
        """Put in what the commit has of ours alone, such that it never shows as changed; whether there is any."""
        ours = self.git.out("ls-tree", "-r", "-z", "--full-tree", commit, "--", *OURS_ALONE)
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
