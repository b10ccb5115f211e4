"""Many differences of our own repository at once, for people to look at: read only, within bounds, in two processes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autopilot.domain.errors import AutopilotError
from autopilot.domain.process import Processes
from autopilot.workspace.git import CLOSED, OURS, Git, our_env
from autopilot.workspace.own_repository import READ_ONLY_DIFF

MOST_BYTES = 24_000_000
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

Pair = tuple[str, str]


def reader(repository: Path, processes: Processes, env: Mapping[str, str]) -> Git:
    """The bare repository `.autopilot/repo.git`, read with nothing of the surroundings."""
    settings = our_env(env.get("PATH", "/usr/bin:/bin")) | CLOSED | {"GIT_DIR": str(repository)}
    return Git(processes=processes, cwd=repository.parent, env=settings, flags=OURS)


def differences(git: Git, pairs: Iterable[Pair], most: int = MOST_BYTES) -> dict[Pair, str]:
    """
    The diff of each base and commit that the repository has; what is past `most` bytes in all is left out.

    Never raises for a repository that cannot be read: then there is nothing to show.
    """
    try:
        known = _known(git, tuple(dict.fromkeys(pairs)))
        asked = "".join(f"{commit} {base}\n" for base, commit in known).encode()
        words = ("diff-tree", "--stdin", "-r", "-p", "--root", *READ_ONLY_DIFF)
        out = git.run(*words, stdin=asked, ok=(0, 128), max_output=most).stdout if known else b""
    except AutopilotError:
        return {}
    return dict(_split(out.decode("utf-8", "replace"), known, whole=len(out) < most))


def _known(git: Git, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Those whose two commits are there: git gives up at the first that is not."""
    sound = [pair for pair in pairs if all(_ID.fullmatch(name) for name in pair)]
    names = dict.fromkeys(name for pair in sound for name in pair)
    if not names:
        return ()
    asked = "".join(f"{name}\n" for name in names).encode()
    told = git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked, ok=(0, 128)).stdout.decode()
    there = {line.partition(" ")[0] for line in told.splitlines() if line.endswith(" commit")}
    return tuple(pair for pair in sound if there.issuperset(pair))


def _split(text: str, pairs: tuple[Pair, ...], *, whole: bool) -> Iterator[tuple[Pair, str]]:
    """A diff begins with a line that is its commit's id; no line of a diff is one. A cut-off one is not shown."""
    at = 0
    for place, (base, commit) in enumerate(pairs):
        if not text.startswith(f"{commit}\n", at):
            continue
        begin = at + len(commit) + 1
        rest = (text.find(f"\n{after}\n", begin - 1) for _, after in pairs[place + 1 : place + 2])
        end = next(rest, -1)
        if end < 0 and (place + 1 < len(pairs) or not whole):
            return
        at = len(text) if end < 0 else end + 1
        yield (base, commit), text[begin:at]
