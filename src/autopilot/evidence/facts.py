"""Make facts: run commands on disposable checkouts in the sandbox and write down what happened."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from autopilot.domain.evidence import Change, CommandRun, Finding
from autopilot.domain.phase import Criterion, PhaseType
from autopilot.domain.protocols import Ran, Sandbox, Workspace
from autopilot.domain.secrets import redact
from autopilot.domain.settings import Commands, Limits
from autopilot.evidence import content, references

OUTPUT_KEPT = 2000
# Enough to see a secret as a whole that ends within the kept part.
LOOKED_AT = 64_000
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    criterion: Criterion
    seconds: float


@dataclass(slots=True, kw_only=True)
class CommandFacts:
    """Implements `FactMaker`. The same command on the same tree is run once; each fact names the tree it is about."""

    workspace: Workspace
    sandbox: Sandbox
    limits: Limits
    redact: Callable[[str], str] = redact
    _made: dict[tuple[str, str, str], CommandRun] = field(default_factory=dict)

    def check(self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        wanted = (
            _Check(criterion=c, seconds=self.limits.command_seconds)
            for c in criteria
            if c.command and not c.behavioural
        )
        return self._run(commit, tuple(wanted), files)

    def gates(self, commit: str, commands: Commands) -> tuple[CommandRun, ...]:
        wanted = (
            _Check(criterion=Criterion(id=name, text=f"{name} gate", command=command), seconds=self.limits.gate_seconds)
            for name, command in commands.configured()
        )
        return self._run(commit, tuple(wanted), {})

    def unreferenced(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        with self.workspace.checkout(commit, {}) as folder:
            return references.unreferenced(folder, paths)

    def related(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        with self.workspace.checkout(commit, {}) as folder:
            return references.related(folder, paths)

    def content(self, change: Change, kind: PhaseType, claimed: Collection[str]) -> tuple[Finding, ...]:
        paths = content.relevant((file.path for file in change.files if file.status != "D"), kind)
        found = self._read(change.commit, paths, kind, claimed)
        broken = sorted({finding.where.partition(":")[0] for finding in found if finding.severity == "blocker"})
        return content.softened(found, self._read(change.base, broken, kind, claimed))

    def _read(
        self, commit: str, paths: Sequence[str], kind: PhaseType, claimed: Collection[str]
    ) -> tuple[Finding, ...]:
        if not paths:
            return ()
        with self.workspace.checkout(commit, {}) as folder:
            return content.findings(folder, paths, kind, claimed)

    def tree(self, commit: str) -> str:
        return self.workspace.tree(commit)

    def _run(self, commit: str, checks: tuple[_Check, ...], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        if not checks:
            return ()
        tree, laid = self.workspace.tree(commit), _digest(files)
        missing = [c for c in checks if (tree, laid, _key(c.criterion)) not in self._made]
        if missing:
            with self.workspace.checkout(commit, files) as folder:
                for check in missing:
                    run = self._one(check, folder, tree)
                    self._made[tree, laid, _key(check.criterion)] = run
        return tuple(self._made[tree, laid, _key(c.criterion)] for c in checks)

    def _one(self, check: _Check, folder: str, tree: str) -> CommandRun:
        criterion = check.criterion
        assert criterion.command is not None
        ran = self.sandbox.run(criterion.command, folder, check.seconds)
        output = _text(ran)
        return CommandRun(
            check=criterion.id,
            what=criterion.text,
            command=criterion.command,
            exit_code=ran.exit_code,
            passed=criterion.met(ran.exit_code, output),
            seconds=round(ran.seconds, 3),
            output=self.redact(_CONTROL.sub("", output)[-LOOKED_AT:])[-OUTPUT_KEPT:],
            output_sha256=hashlib.sha256(ran.stdout + b"\0" + ran.stderr).hexdigest(),
            tree=tree,
            sandbox=self.sandbox.label,
        )


def _text(ran: Ran) -> str:
    return (ran.stdout + ran.stderr).decode("utf-8", "replace")


def _key(criterion: Criterion) -> str:
    return f"{criterion.id}\0{criterion.command}\0{criterion.expect}"


def _digest(files: Mapping[str, str]) -> str:
    return hashlib.sha256("\0".join(_pairs(sorted(files.items()))).encode("utf-8", "surrogateescape")).hexdigest()


def _pairs(items: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (part for pair in items for part in pair)
