"""Autopilot's own bare repository: every commit of a run, out of an agent's reach."""

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autopilot.domain.evidence import Change, FileChange
from autopilot.files.home_files import require_tree
from autopilot.text.bounded import remember
from autopilot.workspace.files.beneath import opened, sync_folder, sync_ref, sync_tree, write_atomic
from autopilot.workspace.files.removal import remove
from autopilot.workspace.git import Git
from autopilot.workspace.locks import remove_locks
from autopilot.workspace.project_folder import OURS_ALONE, Within

MOST_KNOWN = 8
_OURS_ENDS = tuple(b"\t" + os.fsencode(name) for name in OURS_ALONE)
GITLINK = "160000"
Status = Literal["A", "M", "D", "T"]
STATUSES: dict[str, Status] = {"A": "A", "M": "M", "D": "D", "T": "T"}
MAX_DIFF = 2_000_000
LONGEST_NAME = 120
READ_ONLY_DIFF = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")
# These win over every `.gitattributes`: what an agent writes there must not decide what we see of its work.
ATTRIBUTES = "* -text !eol !crlf !filter !ident !working-tree-encoding !diff !merge\n"
LEFT_OUT = "Autopilot-Left-Out"
UPLOAD_PACK = "git -c safe.directory='*' upload-pack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    name: str = "Autopilot"
    email: str = "autopilot@localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """One path of a difference: mode and blob before and after, None where it is not there."""

    path: str
    old: tuple[str, str] | None
    new: tuple[str, str] | None
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    touched: tuple[Touched, ...]
    added: int
    removed: int

    @property
    def new_links(self) -> tuple[str, ...]:
        """Paths that became a repository inside the repository."""
        return tuple(t.path for t in self.touched if t.new and t.new[0] == GITLINK)


def safe_name(text: str) -> str:
    """A word that can be part of a ref, made of any text."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:LONGEST_NAME].strip("-") or "step"


@dataclass(frozen=True, slots=True)
class Store:
    """`folder` is `.autopilot/repo.git`. Nothing is ever removed from it. `slot` is whose work is kept by default."""

    folder: Path
    git: Git
    run: str
    identity: Callable[[], Identity]
    slot: str = "0"
    tops: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    bares: dict[str, str] = field(default_factory=dict)
    within: Within = Within()  # noqa: RUF009 - frozen, so it is safe to share

    @property
    def branch(self) -> str:
        """The run's branch in the user's repository: the only one there that we move."""
        return f"autopilot/{self.run}"

    def work_ref(self, slot: str = "") -> str:
        """What the run's newest commit is kept under; phases at work at the same time have one each."""
        slot = slot or self.slot
        return f"refs/autopilot/work/{self.run}{'' if slot == '0' else f'.slot{slot}'}"

    def create(self, object_format: str) -> None:
        """Made as a whole or not at all; one that is there is never replaced."""
        require_tree(self.folder)
        if self.folder.exists():
            self._set_attributes(self.folder)
            return
        new = self.folder.with_name(f"{self.folder.name}.new")
        remove(new)
        try:
            git = self.git.at(GIT_DIR=new)
            git.run("init", "-q", "--bare", "--template=", f"--object-format={object_format}", str(new))
            self._set_attributes(new)
            sync_tree(new)
            new.rename(self.folder)
            sync_folder(self.folder.parent)
        finally:
            remove(new)

    def _set_attributes(self, folder: Path) -> None:
        """Files go into commits and come out of them byte by byte."""
        (folder / "info").mkdir(exist_ok=True)
        path = folder / "info" / "attributes"
        if not path.exists() or path.read_text(encoding="utf-8") != ATTRIBUTES:
            with opened(path.parent) as info:
                write_atomic(info, path.name, ATTRIBUTES.encode())

    def fetch(self, repository: Path, commit: str, ref: str) -> None:
        self.git.run(
            "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-shallow", f"--upload-pack={UPLOAD_PACK}",
            str(repository), f"+{commit}:{ref}",
        )  # fmt: skip
        sync_ref(self.folder, ref)

    def resolve(self, name: str) -> str | None:
        ran = self.git.run("rev-parse", "-q", "--verify", name, ok=(0, 1, 128))
        return ran.stdout.decode().strip() if ran.exit_code == 0 else None

    def set_ref(self, ref: str, commit: str) -> None:
        self.git.run("update-ref", ref, commit)
        sync_ref(self.folder, ref)

    def commit(self, tree: str, parent: str, message: str, *, beside: str = "") -> str:
        """`beside` is the other parent of a merge."""
        who = self.identity()
        names = {"NAME": who.name, "EMAIL": who.email}
        people = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in names.items()}
        parents = [word for one in (parent, beside) if one for word in ("-p", one)]
        return self.git.at(**people).text("commit-tree", tree, *parents, stdin=message.encode())

    def difference(self, base: str, tip: str) -> Difference:
        out = self.git.out("diff-tree", "-r", "-z", "--raw", "--numstat", *READ_ONLY_DIFF, base, tip)
        return parse_difference(out)

    def change(self, base: str, commit: str) -> Change:
        return self.described(base, commit, self.difference(base, commit))

    def named(self, path: str) -> str:
        """What the project calls a file of the repository, as text that can be stored."""
        return self.within.local(shown(path))

    def left_out(self, commit: str) -> tuple[str, ...]:
        """What could not be taken into the commit, as its trailers say."""
        shape = f"--format=%(trailers:key={LEFT_OUT},valueonly)"
        return tuple(self.git.text("log", "-1", shape, commit).splitlines())

    def described(self, base: str, commit: str, found: Difference, left_out: tuple[str, ...] = ()) -> Change:
        return Change(
            base=base,
            commit=commit,
            tree=self.tree(commit),
            files=tuple(FileChange(path=self.named(t.path), status=t.status) for t in found.touched),
            added=found.added,
            removed=found.removed,
            left_out=left_out,
        )

    def tree(self, commit: str) -> str:
        """The id the commit's tree would have without `.planning` and `.autopilot` of the project."""
        levels = self._levels(commit)
        kept = [line for line in levels[-1] if not is_ours_alone(line)]
        return self._rebuilt(levels, kept, lambda lines: object_id("tree", tree_body(lines), like=commit))

    def bare(self, commit: str) -> str:
        """A tree of ours with all of the commit but `.planning` and `.autopilot`; the commit where it has neither."""
        if commit not in self.bares:
            levels = self._levels(commit)
            kept = [line for line in levels[-1] if not is_ours_alone(line)]
            made = commit if len(kept) == len(levels[-1]) else self._rebuilt(levels, kept, self._made_tree)
            return remember(self.bares, commit, made, MOST_KNOWN)
        return self.bares[commit]

    def _made_tree(self, lines: Iterable[bytes]) -> str:
        """Of lines of `ls-tree -z`. git's own `mktree` does not wait for the disk, whatever it is told."""
        return self.git.text("hash-object", "-t", "tree", "-w", "--stdin", stdin=tree_body(lines))

    def _levels(self, tree: str) -> list[tuple[bytes, ...]]:
        """What is in the root, and in each folder on the way down to the project; nothing in one that is not there."""
        found = [self.entries(tree)]
        for folder in self.within.folders:
            listed = self.git.run("ls-tree", "-z", f"{tree}:{folder}", ok=(0, 128))
            found.append(tuple(listed.stdout.split(b"\0")[:-1]) if listed.exit_code == 0 else ())
        return found

    def _rebuilt(
        self, levels: Sequence[Sequence[bytes]], lines: Sequence[bytes], make: Callable[[Sequence[bytes]], str]
    ) -> str:
        """The tree with these lines in the project's folder and all else as it was; an empty folder is no entry."""
        for above, folder in zip(reversed(levels[:-1]), reversed(self.within.folders), strict=True):
            name = os.fsencode(folder.rpartition("/")[2])
            others = [line for line in above if line.split(b"\t", 1)[1] != name]
            lines = [*others, b"040000 tree " + make(lines).encode() + b"\t" + name] if lines else others
        return make(lines)

    def entries(self, commit: str) -> tuple[bytes, ...]:
        """What lies right in the root of the commit, as `ls-tree` has it."""
        if commit not in self.tops:
            listed = tuple(self.git.out("ls-tree", "-z", commit).split(b"\0")[:-1])
            return remember(self.tops, commit, listed, MOST_KNOWN)
        return self.tops[commit]

    def grafted(self, tree: str, base: str) -> str:
        """The tree with `.planning` and `.autopilot` as they are in `base`."""
        ours = [line for line in self._levels(base)[-1] if is_ours_alone(line)]
        if not ours:
            return tree
        levels = self._levels(tree)
        lines = [line for line in levels[-1] if not is_ours_alone(line)]
        return self._rebuilt(levels, [*lines, *ours], self._made_tree)

    def top(self, commit: str) -> dict[str, str]:
        """What is in the commit's root and on the way down to the project: path to object id."""
        places = ("", *(f"{folder}/" for folder in self.within.folders))
        found = zip(places, self._levels(commit), strict=True)
        lines = [(place, line.split(b"\t", 1)) for place, listed in found for line in listed]
        return {f"{place}{os.fsdecode(name)}": meta.split(b" ")[2].decode() for place, (meta, name) in lines}

    def read(self, commit: str, path: str) -> str | None:
        """The text of a regular file of the commit."""
        listed = self.git.out("ls-tree", "-z", commit, "--", f":(literal){self.within.whole(path)}")
        if not listed.startswith(b"100"):
            return None
        return self.git.out("cat-file", "blob", listed.split()[2].decode()).decode("utf-8", "replace")

    def blobs(self, commit: str, paths: Sequence[str]) -> dict[str, str]:
        places = {self.within.whole(path): path for path in paths}
        listed = self.git.out("ls-tree", "-z", commit, "--", *(f":(literal){place}" for place in places))
        lines = (line.split(b"\t", 1) for line in listed.split(b"\0")[:-1])
        return {places[os.fsdecode(name)]: meta.split()[2].decode() for meta, name in lines if meta.startswith(b"100")}

    def diff(self, base: str, commit: str) -> str:
        words = ("diff-tree", "-r", "-p", *READ_ONLY_DIFF, base, commit)
        out = self.git.run(*words).stdout
        text = out[:MAX_DIFF].decode("utf-8", "replace")
        return text if len(out) <= MAX_DIFF else f"{text}\n[cut off: the difference has {len(out)} bytes]\n"

    def revert(self, commit: str, base: str, message: str) -> str:
        made = self.commit(f"{base}^{{tree}}", commit, message)
        self.set_ref(self.work_ref(), made)
        return made

    def sealed(self, base: str, step: str) -> str | None:
        """A tip of the run's work that is this step's commit on `base`."""
        shape = "%(refname)%00%(objectname)%00%(parent)%00%(contents:trailers:key=Autopilot-Step,valueonly)%01"
        out = self.git.out("for-each-ref", f"--format={shape}", "refs/autopilot/work/").decode("utf-8", "replace")
        for entry in out.split("\1")[:-1]:
            ref, tip, parent, steps = entry.strip("\n").split("\0")
            ours = ref == self.work_ref("0") or ref.startswith(f"{self.work_ref('0')}.slot")
            if ours and parent == base and step in (s.strip() for s in steps.split("\n")):
                return tip
        return None

    def keep(self, tree: str, base: str, step: str) -> str:
        """Half-done work under a ref of its own; its name."""
        folder = f"refs/autopilot/interrupted/{self.run}/{safe_name(step)}"
        taken = self.git.text("for-each-ref", "--format=%(refname)", f"{folder}/").split()
        ref = f"{folder}/{1 + max((int(name.rsplit('/', 1)[1]) for name in taken), default=0)}"
        self.set_ref(ref, self.commit(tree, base, f"interrupted: {step}\n\nAutopilot-Run: {self.run}\n"))
        return ref

    def save_files(self, ref: str, files: Mapping[str, str]) -> None:
        """Keep texts under a ref, durably, in one go."""
        self._import(ref, None, "planning", files)

    def add_files(self, commit: str, files: Mapping[str, str], message: str) -> str:
        """A commit of texts on top of another; that other one itself when they are all in it already."""
        placed = {self.within.whole(path): text for path, text in files.items()}
        made = self._import(self.work_ref(), commit, message, placed)
        before, after = self.git.text("rev-parse", f"{commit}^{{tree}}", f"{made}^{{tree}}").split()
        if before == after:
            self.set_ref(self.work_ref(), commit)
        return commit if before == after else made

    def _import(self, ref: str, parent: str | None, message: str, files: Mapping[str, str]) -> str:
        who = self.identity()
        stream = bytearray(f"commit {ref}\nmark :1\n".encode())
        stream += f"committer {who.name} <{who.email}> {int(time.time())} +0000\n".encode() + _data(message)
        stream += f"from {parent}\n".encode() if parent else b""
        for path, text in sorted(files.items()):
            stream += f"M 100644 inline {quoted(path)}\n".encode() + _data(text)
        words = ("fast-import", "--quiet", "--date-format=raw", "--force", "--done")
        made = self.git.text(*words, stdin=bytes(stream) + b"get-mark :1\ndone\n")
        sync_ref(self.folder, ref)
        return made

    def load_files(self, ref: str) -> dict[str, str]:
        """The texts under a ref; none when there is no such ref."""
        tree = self.git.run("ls-tree", "-r", "-z", ref, ok=(0, 128)).stdout
        listed = [line.split(b"\t", 1) for line in tree.split(b"\0")[:-1]]
        wanted = b"".join(meta.split(b" ")[2] + b"\n" for meta, _ in listed)
        out, files, at = self.git.out("cat-file", "--batch", stdin=wanted), {}, 0
        for _, path in listed:
            header, at = out[at : (end := out.index(b"\n", at))], end + 1
            size = int(header.split(b" ")[2])
            files[path.decode("utf-8", "replace")] = out[at : at + size].decode("utf-8", "replace")
            at += size + 1
        return files

    def recover(self) -> None:
        """Clear what a killed git of ours left; only the holder of the run's lock may call this."""
        require_tree(self.folder)
        remove_locks(self.folder)
        if self.folder.exists():
            self._set_attributes(self.folder)
        remove(self.folder.with_name(f"{self.folder.name}.new"))


def shown(path: str) -> str:
    """A path as text that can be stored, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "replace")


def _data(text: str) -> bytes:
    content = text.encode("utf-8", "replace")
    return f"data {len(content)}\n".encode() + content + b"\n"


def quoted(path: str) -> str:
    """A path in git's own quotes."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def tree_body(lines: Iterable[bytes]) -> bytes:
    """The content of a tree with these lines of `ls-tree -z`, in git's order: a folder as if a slash ended its name."""
    entries = list[tuple[bytes, bytes]]()
    for line in lines:
        meta, name = line.split(b"\t", 1)
        mode, kind, oid = meta.split(b" ")
        place = name + (b"/" if kind == b"tree" else b"")
        entries.append((place, mode.lstrip(b"0") + b" " + name + b"\0" + bytes.fromhex(oid.decode())))
    return b"".join(entry for _, entry in sorted(entries))


def object_id(kind: str, body: bytes, *, like: str) -> str:
    """What git would call the object, in the format of the id `like`."""
    digest = hashlib.sha256 if len(like) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return digest(f"{kind} {len(body)}\0".encode() + body).hexdigest()


def parse_difference(out: bytes) -> Difference:
    """Read `diff-tree -z --raw --numstat`: first every path with its modes, then every path with its line counts."""
    words = iter(out.split(b"\0")[:-1])
    touched, added, removed = [], 0, 0
    for word in words:
        if word.startswith(b":"):
            old_mode, new_mode, old, new, status = word[1:].decode().split(" ")
            touched.append(
                Touched(
                    path=os.fsdecode(next(words)),
                    old=(old_mode, old) if int(old_mode) else None,
                    new=(new_mode, new) if int(new_mode) else None,
                    status=STATUSES[status],
                )
            )
        else:
            plus, minus, _ = word.split(b"\t", 2)
            added += int(plus) if plus != b"-" else 0
            removed += int(minus) if minus != b"-" else 0
    return Difference(touched=tuple(touched), added=added, removed=removed)


def is_ours_alone(line: bytes) -> bool:
    """Of a line of `ls-tree -z`. A name with a tab in it is somebody else's, whatever its end is."""
    return line.endswith(_OURS_ENDS) and line.count(b"\t") == 1
