"""Receipts on request: find them, compute them from the journal, and check one by doing its deciding again."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot import __version__
from autopilot.app.borrowed_checkout import borrowed
from autopilot.app.receipt_sources import Derived, History, compared, derived, left_out
from autopilot.app.wiring import Warn, cache_folder, processes_of, signer_of
from autopilot.domain.errors import ReceiptInvalid
from autopilot.domain.phase import Phase
from autopilot.domain.receipt import FILE, NOT_RUN, SIGNATURE, Blobs, Proof, Recheck, Repeated, Statement, finding_of
from autopilot.domain.settings import Limits, SandboxChoice, Settings
from autopilot.engine.close.receipt_files import standing_of
from autopilot.engine.perform.run_log import Streams
from autopilot.evidence.receipts.build_receipt import statement, text_of
from autopilot.evidence.receipts.check_receipt import Rerun, contradictions, read
from autopilot.journal.sqlite import SqliteJournal
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config import read_config as config
from autopilot.planning.plan.folders import folder_of
from autopilot.planning.roadmap import ids
from autopilot.planning.start.read_project import CONFIG
from autopilot.sandbox import choose_tier as sandboxes
from autopilot.workspace.git import CLOSED, COMMON, Git, user_env
from autopilot.workspace.git_workspace import GitWorkspace, Places
from autopilot.workspace.signing import GitSigner
from autopilot.workspace.user_files import find_root, phase_folders, read_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A receipt and where it is from; `signature` is None when there is none beside it."""

    statement: Statement
    text: str
    where: str
    signature: str | None = None


def receipts(folder: str) -> tuple[Held, ...]:
    """Every receipt in the phases' folders, in the order of the phases."""
    root = find_root(Path(folder))
    files = (root / ".planning" / "phases" / name / FILE for name in phase_folders(root))
    found = (held_at(path) for path in files if path.is_file())
    return tuple(sorted(found, key=lambda held: ids.sort_key(held.statement.proof.phase)))


def receipt(folder: str, phase: str) -> Held:
    """The phase's receipt: the file in its folder, or computed from the journal where there is none."""
    root, name = find_root(Path(folder)), ids.normalise(phase)
    told = None
    if ids.valid(name):
        own = folder_of(Phase(id=name, name=""), tuple(phase_folders(root)))
        path = root / ".planning" / "phases" / own / FILE
        told = held_at(path) if path.is_file() else _computed(root, name)
    if told is None:
        raise ReceiptInvalid(
            f"There is no receipt of phase {phase}.",
            why=f"neither {FILE} in a folder of .planning/phases nor the journal tells of a finished pass of it.",
            do="Run the phase, or name the file with --file.",
        )
    return told


def check(folder: str, phase: str, file: str | None, sandbox: SandboxChoice, warn: Warn) -> Recheck:
    """Do all that decided the phase again, from clean checkouts. Nothing is written to the repository."""
    root = find_root(Path(folder))
    held = held_at(Path(folder, file)) if file else receipt(folder, phase)
    proof, processes = held.statement.proof, processes_of(root)
    if not ids.same(proof.phase, phase):
        raise ReceiptInvalid(
            f"{held.where} is the receipt of phase {proof.phase}, not of phase {phase}.",
            why="The wrong phase would be checked.",
            do=f"Use: autopilot receipt check {proof.phase} --file ...",
        )
    git = Git(processes=processes, cwd=root, env=user_env(os.environ), flags=COMMON)
    require_commit(git, proof.commit)
    files, differences = frozen_texts(root, git, proof)
    differences += [*contradictions(held.statement), *_denied(root, held)]
    known = ancestors(git, proof)
    made = _derived(History(git=git, root=root), proof, files, known)
    differences += [*made.differences, *compared(proof, held.statement.predicate.result, made)]
    ground = sandboxes.choose(sandbox, processes)
    if ground.warning:
        warn(ground.warning)
    with borrowed(root, _settings(root, proof, sandbox), ground, proof.commit, warn) as borrow:
        if borrow.workspace.tree(proof.commit) != proof.tree:
            differences.append(f"the tree of {proof.commit[:12]} is not {proof.tree[:12]}")
        rerun = Rerun(
            facts=borrow.facts,
            workspace=borrow.workspace,
            known=known,
            files=files,
        )
        repeated = rerun.repeat(proof)
        differences += rerun.new_failures(held.statement)
        if {proof.base, proof.begun} <= known:
            differences += left_out(proof, made, borrow.facts.gates)
    if any(row.now not in {row.then, NOT_RUN} for row in repeated):
        differences += borrow.lacking()
    tier = borrow.facts.sandbox.label
    done = _told(held, repeated, differences, signer_of(root / ".autopilot", processes, warn))
    tiers = sorted({run.sandbox for run in proof.runs} - {tier})
    moved = (f"the run's sandbox was {', '.join(tiers)}, this one is {tier}",) if tiers else ()
    return msgspec.structs.replace(done, notes=(*moved, *made.notes, *done.notes, *quoted(proof)))


def _derived(history: History, proof: Proof, files: dict[str, str], known: frozenset[str]) -> Derived:
    if missing := next((commit for commit in (proof.base, proof.begun) if commit not in known), None):
        return Derived(whole=False, differences=[f"commit {missing[:12]} is not in the history of {proof.commit[:12]}"])
    return derived(history, proof, files)


def quoted(proof: Proof) -> tuple[str, ...]:
    """What reviewers said stands in a receipt as their words; no check can bear it out."""
    return () if proof.score is None else (f"quoted from reviewers and not checked: score {proof.score}",)


def require_commit(git: Git, commit: str) -> None:
    if git.run("rev-parse", "-q", "--verify", f"{commit}^{{commit}}", ok=(0, 1, 128)).exit_code != 0:
        raise ReceiptInvalid(
            f"The commit {commit} of the receipt is not in this repository.",
            why="There is nothing to check it against.",
            do="Fetch it (`git fetch --unshallow` in a shallow clone); a rebased commit has no receipt.",
        )


def ancestors(git: Git, proof: Proof) -> frozenset[str]:
    """The commits the receipt names that lie in the history of its own one."""
    named = {proof.base, proof.begun, proof.commit, *(run.commit for run in proof.runs)}
    return frozenset(
        name
        for name in named
        if git.run("merge-base", "--is-ancestor", name, proof.commit, ok=(0, 1, 128)).exit_code == 0
    )


def frozen_texts(root: Path, git: Git, proof: Proof) -> tuple[dict[str, str], list[str]]:
    """The frozen test files as they lie in the checkout, else as committed; and those that are not what was run."""
    files, problems = dict[str, str](), list[str]()
    for frozen in proof.frozen_tests:
        here = read_bytes(root / frozen.path)
        if here is None:
            committed = git.run("cat-file", "blob", f"HEAD:./{frozen.path}", ok=(0, 128))
            here = committed.stdout if committed.exit_code == 0 else None
        if here is None:
            problems.append(f"{frozen.path} is missing")
            continue
        # A checkout with other line ends than the run's is the same file.
        forms = (here, here.replace(b"\r\n", b"\n"))
        fitting = next((form for form in forms if hashlib.sha256(form).hexdigest() == frozen.sha256), None)
        if fitting is None:
            problems.append(f"{frozen.path} is not the file that was run")
        else:
            files[frozen.path] = fitting.decode("utf-8", "replace")
    return files, problems


def _settings(root: Path, proof: Proof, sandbox: SandboxChoice) -> Settings:
    """
    As the run's, as far as running its commands again needs them.

    A receipt may come from anybody: its commands run unconfined only if the user says so in as many words.
    """
    told, times = config.read(read_bytes(root / CONFIG), CONFIG), proof.limits
    return Settings(
        agent="auto",
        sandbox=sandbox,
        limits=Limits(command_seconds=int(times.command_seconds), gate_seconds=int(times.gate_seconds)),
        dependencies=detect.dependencies(told, detect.Detected()),
        setup=told.setup,
    )


def held_at(path: Path) -> Held:
    """Raises `ReceiptInvalid` for a file that is not there or no receipt."""
    content = read_bytes(path)
    if content is None:
        raise ReceiptInvalid(
            f"There is no file {path}.", why="It was named as the receipt.", do="Name a RECEIPT.json that exists."
        )
    signature = read_bytes(path.with_name(f"{path.name}{SIGNATURE.removeprefix(FILE)}"))
    return Held(
        statement=read(content, str(path)),
        text=content.decode(),
        where=str(path),
        signature=None if signature is None else signature.decode("utf-8", "replace"),
    )


def _computed(root: Path, phase: str, of_run: str | None = None) -> Held | None:
    """From the newest run that finished a pass of the phase, or from that one run. To be shown, not to be believed."""
    path = root / ".autopilot" / "journal.db"
    if not path.is_file():
        return None
    journal = SqliteJournal.look(path)
    if of_run and journal.bound.strange:
        return None
    for name in reversed([stream for stream in journal.streams() if "/" not in stream]):
        streams = Streams(journal, name, ())
        passes = streams.passes(phase) if of_run in {None, name} else ()
        stands = standing_of(streams.run(), passes) if passes else None
        if stands is not None:
            blobs = _blobs_of(root)
            made = statement(stands.record, streams.run(), stands.outcome, stands.verdict, stands.earlier, blobs)
            return Held(statement=made, text=text_of(made), where=str(path))
    return None


def _blobs_of(root: Path) -> Blobs:
    """From the user's repository, or from ours where a commit has not landed."""
    processes = processes_of(root)
    env = {**user_env(os.environ), **CLOSED}  # `receipt show` only looks
    users = History(git=Git(processes=processes, cwd=root, env=env, flags=COMMON), root=root)
    ours = GitWorkspace(Places(root=root, cache=cache_folder()), processes, "looking", os.environ)

    def blobs(commit: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        try:
            require_commit(users.git, commit)
        except ReceiptInvalid:
            return ours.blobs(commit, paths)
        return users.blobs(commit, paths)

    return blobs


def _denied(root: Path, held: Held) -> Iterator[str]:
    """Where the run took place its journal is still there, and a receipt changed since is no longer what it gives."""
    proof = held.statement.proof
    journal = _computed(root, proof.phase, proof.run)
    same_program = proof.tools.get("autopilot") == __version__
    if journal and same_program and journal.text != held.text:
        yield "the journal of its run gives another receipt"


def _told(held: Held, repeated: tuple[Repeated, ...], differences: list[str], signer: GitSigner) -> Recheck:
    proof, result = held.statement.proof, held.statement.predicate.result
    signature = signer.verify(held.text.encode(), held.signature) if held.signature else None
    lost = [f"{r.name} ({r.when}): {r.note}" for r in repeated if r.now == NOT_RUN]
    changed = [f"{r.name} ({r.when}): {r.then} then, {r.now} now" for r in repeated if not r.same and r.now != NOT_RUN]
    notes = [f"{r.name} ({r.when}): {r.note}" for r in repeated if r.same and r.note]
    # Work that a failed phase set aside need not be in anybody's repository.
    (notes if result == "FAILED" else differences).extend(lost)
    differences += changed
    if signature and signature.trust == "bad":
        differences.append(f"the signature does not fit: {signature.told}")
    name = signature.told.partition(",")[0] if signature and signature.trust == "good" else ""
    return Recheck(
        phase=proof.phase,
        run=proof.run,
        commit=proof.commit,
        result=result,
        same=not differences,
        repeated=repeated,
        differences=tuple(differences),
        notes=tuple(notes),
        signature=f"{signature.trust}: {signature.told}" if signature else "none",
        signer=name,
        finding=finding_of(same=not differences, signer=name),
    )
