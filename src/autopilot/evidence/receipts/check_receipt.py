"""Do a receipt's deciding again: every command on a clean checkout of its commit, compared with what was written."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from autopilot.domain.errors import ReceiptInvalid
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Criterion
from autopilot.domain.receipt import NOT_RUN, PREDICATE, SCHEMA, STATEMENT, DecidingRun, Proof, Repeated, Statement
from autopilot.domain.settings import Commands
from autopilot.evidence.receipts.build_receipt import sort
from autopilot.ports.agents import FactMaker, Workspace

GATES = frozenset(Commands.__struct_fields__)
LARGEST = 16_000_000
WHY = "Only a receipt that is understood as a whole can be checked."


def read(content: bytes, where: str) -> Statement:
    """Raises `ReceiptInvalid` for what is no receipt, or one of a kind this version does not know."""
    if len(content) > LARGEST:
        raise ReceiptInvalid(
            f"{where} is larger than {LARGEST} bytes.", why="No receipt is that long.", do="Name the right file."
        )
    try:
        held = msgspec.json.decode(content, type=Statement)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        do = "Take RECEIPT.json as the run wrote it: `git log -- .planning` shows where it came from."
        raise ReceiptInvalid(f"{where} cannot be read as a receipt: {error}.", why=WHY, do=do) from error
    if (held.type, held.predicate_type) != (STATEMENT, PREDICATE):
        what = f"{where} is not a test result of in-toto: {held.type[:80]!r}, {held.predicate_type[:80]!r}."
        raise ReceiptInvalid(what, why=WHY, do=f"Name a file with {PREDICATE!r}.")
    if held.proof.schema != SCHEMA:
        what = f"{where} has schema {held.proof.schema}; this version knows {SCHEMA}."
        raise ReceiptInvalid(
            what, why=WHY, do=f"Check it with Autopilot {held.proof.tools.get('autopilot', 'as it was')}."
        )
    return held


def contradictions(held: Statement) -> Iterator[str]:
    """Where the receipt does not follow from itself: what was changed by hand in one place only."""
    proof, told = held.proof, held.predicate
    digests = {key: value for part in held.subject for key, value in part.digest.items()}
    if digests.get("gitCommit") != proof.commit or digests.get("gitTree", "") != proof.tree:
        yield "its subject is not the commit and the tree that its facts are about"
    found = sort(proof.runs, proof.commit, (name.removeprefix("gate:") for name in told.warned_tests))
    if (found.passed, found.warned, found.failed) != (told.passed_tests, told.warned_tests, told.failed_tests):
        yield "its lists of tests are not what its runs show"
    if told.result != "FAILED" and (found.failed or not found.passed):
        yield f"it says {told.result}, but its runs show no pass"
    if told.result != "FAILED" and proof.verdict not in {"accepted", "force_incomplete", "already_satisfied"}:
        yield f"it says {told.result}, but the phase was not accepted: {proof.verdict}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """`known` are the commits that can be checked out here, `files` the frozen test files by path."""

    facts: FactMaker
    workspace: Workspace
    known: Collection[str]
    files: Mapping[str, str]

    def repeat(self, proof: Proof) -> tuple[Repeated, ...]:
        return tuple(self._again(run, proof) for run in proof.runs)

    def new_failures(self, held: Statement) -> Iterator[str]:
        """Gates whose failure is said to be older than the work, though they pass without it."""
        proof = held.proof
        for run in proof.runs:
            if run.kind == "gate" and run.commit == proof.commit and run.name in held.predicate.warned_tests:
                before = msgspec.structs.replace(run, commit=proof.base)
                if not self._problem(before, proof) and self._run(before, proof.base).passed:
                    yield f"{run.name} holds on the tree before the work: its failure is not an old one"

    def _again(self, run: DecidingRun, proof: Proof) -> Repeated:
        told = Repeated(name=run.name, when=run.when, command=run.command, then=_ended(run), now=NOT_RUN, same=False)
        problem = self._problem(run, proof)
        if problem:
            return msgspec.structs.replace(told, note=problem)
        now = self._run(run, self._commit(run, proof))
        same = (now.exit_code, now.passed, now.tree) == (run.exit_code, run.passed, run.tree)
        return msgspec.structs.replace(told, now=_ended(now), same=same, note="; ".join(_remarks(run, now)))

    def _problem(self, run: DecidingRun, proof: Proof) -> str:
        wanted = (run.commit, *((run.restored_from or proof.base,) if run.restored else ()))
        if missing := next((commit for commit in wanted if commit not in self.known), None):
            return f"commit {missing[:12]} is not here"
        if not run.command or (run.kind == "gate" and run.check not in GATES):
            return f"{run.check!r} is no check that can be run"
        if run.laid and len(self.files) < len(proof.frozen_tests):
            return "a frozen test file is missing or changed"
        return ""

    def _commit(self, run: DecidingRun, proof: Proof) -> str:
        if not run.restored:
            return run.commit
        back = self.workspace.change(run.commit, run.restored_from or proof.base)
        return self.workspace.portion(back, run.restored, run.commit, "the checks as they were before\n").commit

    def _run(self, run: DecidingRun, commit: str) -> CommandRun:
        if run.kind == "gate":
            return self.facts.gates(commit, Commands(**{run.check: run.command}))[0]
        criterion = Criterion(id=run.check, text=run.what, command=run.command, expect=run.expect)
        return self.facts.check(commit, (criterion,), self.files if run.laid else {})[0]


def _ended(run: DecidingRun | CommandRun) -> str:
    told = run.code if isinstance(run, CommandRun) else "cut off"
    code = told if run.exit_code is None else f"exit {run.exit_code}"
    return f"{'pass' if run.passed else 'fail'}, {code}"


def _remarks(run: DecidingRun, now: CommandRun) -> Iterator[str]:
    if now.tree != run.tree:
        yield f"tree {now.tree[:12]} instead of {run.tree[:12]}"
    if now.output_sha256 != run.output_sha256:
        yield "prints something else"
