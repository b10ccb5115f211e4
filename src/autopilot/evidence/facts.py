"""Make facts: run commands on disposable checkouts in the sandbox and write down what happened."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from autopilot.domain.codemap import NO_ATLAS, Atlas
from autopilot.domain.evidence import Change, CommandRun, Counts, Finding
from autopilot.domain.phase import Criterion, PhaseType
from autopilot.domain.process import Ran, Sandbox, killer
from autopilot.domain.settings import Commands, Limits
from autopilot.evidence import canary as planting
from autopilot.evidence import junit_reports as junit
from autopilot.evidence import own_package
from autopilot.evidence.content import check_content as content
from autopilot.evidence.content import references
from autopilot.evidence.tamper.detectors import detect
from autopilot.evidence.tamper.file_pairs import is_test
from autopilot.evidence.variants import Variants
from autopilot.policy.codemap_queries import defined, exists
from autopilot.policy.facts.criteria import is_met
from autopilot.policy.facts.test_counts import counts_in
from autopilot.ports.agents import Canary, Part, Variant, Workspace
from autopilot.text.bounded import forget, remember
from autopilot.text.clean import harmless
from autopilot.text.redact import redact

OUTPUT_KEPT = 2000
# A run that printed more is remembered for its own check only.
SHARED_OUTPUT = 200_000
USAGE_ERROR = 4
# Enough to see a secret as a whole that ends within the kept part.
LOOKED_AT = 64_000
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

Key = tuple[str, str, str]

MOST_KEPT = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    """`counted`: it is a test command, whose tests are counted."""

    criterion: Criterion
    seconds: float
    counted: bool = False

    @property
    def command(self) -> str:
        assert self.criterion.command is not None
        return self.criterion.command

    @property
    def key(self) -> str:
        return f"{self.criterion.id}\0{self.command}\0{self.criterion.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a command runs: a checkout of the tree, and a hash of what is laid over it."""

    folder: str
    tree: str
    laid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What a command did, before anybody asks whether that is what was wanted."""

    ran: Ran
    limit: float
    tests: Counts | None = None
    not_run: str = ""


@dataclass(slots=True, kw_only=True)
class CommandFacts:
    """
    Implements `FactMaker`. The same command on the same tree is run once; each fact names the tree it is about.

    `commands` are the project's gates: a criterion that is one of them is run as the gate is, and once for both.
    """

    workspace: Workspace
    sandbox: Sandbox
    limits: Limits
    commands: Commands = field(default_factory=Commands)
    redact: Callable[[str], str] = redact
    atlas: Atlas = NO_ATLAS
    _made: dict[Key, CommandRun] = field(default_factory=dict)
    _done: dict[Key, _Done] = field(default_factory=dict)
    _elsewhere: dict[tuple[str, str], str] = field(default_factory=dict)

    def check(self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        gates = {command for _, command in self.commands.configured()}
        runnable = [c for c in criteria if c.command and not c.behavioural]
        own = tuple(
            _Check(criterion=c, seconds=self.limits.command_seconds) for c in runnable if c.command not in gates
        )
        as_gates = tuple(self._gate(c) for c in runnable if c.command in gates)
        made = iter((*self._run(commit, own, files), *self._run(commit, as_gates, {})))
        by_key = {c.key: next(made) for c in (*own, *as_gates)}
        return tuple(by_key[_Check(criterion=c, seconds=0).key] for c in runnable)

    def repeated(
        self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str], times: int
    ) -> tuple[CommandRun, ...]:
        """Each time in a checkout of its own, as the first time."""
        gates = {command for _, command in self.commands.configured()}
        left = [c for c in criteria if c.command and not c.behavioural and c.command not in gates]
        seen: dict[str, CommandRun] = {}
        tree, laid = self.workspace.tree(commit), _digest(files)
        for _ in range(times):
            if not left:
                break
            with self.workspace.checkout(commit, files) as folder:
                place = _Place(folder=folder, tree=tree, laid=laid)
                for criterion in left:
                    check = _Check(criterion=criterion, seconds=self.limits.command_seconds)
                    seen[criterion.id] = self._fact(check, self._do(check, place), place)
            left = [c for c in left if seen[c.id].passed]
        return tuple(seen.values())

    def gates(self, commit: str, commands: Commands) -> tuple[CommandRun, ...]:
        wanted = (
            self._gate(Criterion(id=name, text=f"{name} gate", command=command))
            for name, command in commands.configured()
        )
        return self._run(commit, tuple(wanted), {})

    def again(self, commit: str, command: str) -> CommandRun:
        gate = self._gate(Criterion(id="test", text="test gate", command=command))
        key = (self.workspace.tree(commit), _digest({}), gate.command)
        first = self._done.pop(key, None)
        kept = self._made.pop((*key[:2], gate.key), None)
        (run,) = self._run(commit, (gate,), {})
        if not run.passed and first is not None and kept is not None:
            self._done[key], self._made[*key[:2], gate.key] = first, kept
        return run

    def canary(self, commit: str, command: str) -> Canary | None:
        with self.workspace.checkout(commit, {}) as folder:
            bird = planting.planted(folder, command)
            if bird is None:
                return None
            what = f"a failing test, put in as {bird.path}, turns the test command red"
            check = self._gate(Criterion(id="canary", text=what, command=command))
            place = _Place(folder=folder, tree=self.workspace.tree(commit), laid=_digest({bird.path: bird.text}))
            key = (place.tree, place.laid, command)
            done = self._done.get(key) or self._do(check, place)
            self._done[key] = done
        run = self._fact(check, done, place)
        red = run.exit_code not in {0, None}
        return Canary(run=msgspec.structs.replace(run, passed=red), direct=bird.direct)

    def variant(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        gates = tuple(command for _, command in self.commands.configured())
        return Variants(workspace=self.workspace, commands=gates).make(part, change, kept)

    def as_before(self, change: Change, commands: Sequence[str], kept: Sequence[str]) -> Variant:
        return Variants(workspace=self.workspace, commands=tuple(commands)).as_before(change, kept)

    def recall(self, runs: Iterable[CommandRun]) -> None:
        forget(self._made, MOST_KEPT)
        forget(self._done, MOST_KEPT)
        for run in runs:
            if run.passed and run.laid and run.sandbox == self.sandbox.label and run.check != "canary":
                self._made.setdefault((run.tree, run.laid, f"{run.check}\0{run.command}\0{run.what}"), run)

    def unreferenced(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        with self.workspace.checkout(commit, {}) as folder:
            return references.unreferenced(folder, paths, self.atlas.at(commit))

    def related(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        with self.workspace.checkout(commit, {}) as folder:
            return references.related(folder, paths, self.atlas.at(commit))

    def known(self, commit: str, text: str) -> tuple[str, ...]:
        told = self.atlas.at(commit)
        return references.known(told, text) if told else ()

    def mapped(self, commit: str) -> int | None:
        told = self.atlas.at(commit)
        return len(told.files) if told else None

    def absent(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        told = self.atlas.at(commit) if paths else None
        return tuple(path for path in paths if told and not exists(told, path))

    def undefined(self, commit: str, names: Sequence[str]) -> tuple[str, ...]:
        told = self.atlas.at(commit) if names else None
        return tuple(name for name in names if told and not defined(told, name))

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

    def tampering(self, base: str, commit: str) -> tuple[Finding, ...]:
        return detect(self.workspace.texts(base, commit), lambda: self.workspace.wanted_texts(base, is_test))

    def tree(self, commit: str) -> str:
        return self.workspace.tree(commit)

    def _gate(self, criterion: Criterion) -> _Check:
        counted = criterion.id == "test" or criterion.command == self.commands.test
        return _Check(criterion=criterion, seconds=self.limits.gate_seconds, counted=counted)

    def _run(self, commit: str, checks: tuple[_Check, ...], files: Mapping[str, str]) -> tuple[CommandRun, ...]:
        if not checks:
            return ()
        tree, laid = self.workspace.tree(commit), _digest(files)
        missing = [c for c in checks if (tree, laid, c.key) not in self._made]
        known = [c for c in missing if self._known(c, (tree, laid, c.command))]
        for check in known:
            self._settle(check, _Place(folder="", tree=tree, laid=laid))
        if len(missing) > len(known):
            with self.workspace.checkout(commit, files) as folder:
                for check in missing:
                    self._settle(check, _Place(folder=folder, tree=tree, laid=laid))
        return tuple(self._made[tree, laid, c.key] for c in checks)

    def _known(self, check: _Check, key: Key) -> bool:
        """Run already for another check, and not cut off before this one's time was up."""
        done = self._done.get(key)
        return done is not None and (done.ran.exit_code is not None or done.limit >= check.seconds)

    def _settle(self, check: _Check, place: _Place) -> None:
        key = (place.tree, place.laid, check.command)
        done = self._done[key] if self._known(check, key) else self._do(check, place)
        if len(done.ran.stdout) + len(done.ran.stderr) <= SHARED_OUTPUT:
            self._done[key] = done
        self._made[place.tree, place.laid, check.key] = self._fact(check, done, place)

    def _do(self, check: _Check, place: _Place) -> _Done:
        if where := self._own_package(check.command, place):
            why = own_package.refusal(where)
            nothing = Ran(exit_code=None, stdout=b"", stderr=f"not run: {why}".encode(), seconds=0.0)
            return _Done(ran=nothing, limit=check.seconds, not_run=why)
        report = junit.report_path(check.command, place.folder) if check.counted else None
        command = junit.reporting(check.command, report) if report else check.command
        ran = self.sandbox.run(command, place.folder, check.seconds)
        if killer(ran.exit_code):
            # Most likely somebody else killed it, as a machine short of memory does. What it does twice is its own.
            ran = self.sandbox.run(command, place.folder, check.seconds)
        if report and ran.exit_code == USAGE_ERROR and "junitxml" in _text(ran):
            # The project has switched that part of pytest off.
            ran = self.sandbox.run(check.command, place.folder, check.seconds)
        reported = junit.read_report(report) if report else None
        tests = (reported or counts_in(_text(ran))) if check.counted else None
        return _Done(ran=ran, limit=check.seconds, tests=tests)

    def _own_package(self, command: str, place: _Place) -> str:
        """Where else the command finds the project's own package; empty when that is as it should be."""
        probe = own_package.probe(place.folder, command)
        if probe is None:
            return ""
        if (place.tree, probe) not in self._elsewhere:
            ran = self.sandbox.run(probe, place.folder, self.limits.command_seconds)
            remember(self._elsewhere, (place.tree, probe), own_package.astray(_text(ran), place.folder), MOST_KEPT)
        return self._elsewhere[place.tree, probe]

    def _fact(self, check: _Check, done: _Done, place: _Place) -> CommandRun:
        criterion, ran, output = check.criterion, done.ran, _text(done.ran)
        return CommandRun(
            check=criterion.id,
            what=criterion.text,
            command=check.command,
            exit_code=ran.exit_code,
            passed=is_met(criterion, ran.exit_code, output),
            seconds=round(ran.seconds, 3),
            output=self.redact(harmless(_COLOURS.sub("", output))[-LOOKED_AT:])[-OUTPUT_KEPT:],
            output_sha256=hashlib.sha256(ran.stdout + b"\0" + ran.stderr).hexdigest(),
            tree=place.tree,
            sandbox=self.sandbox.label,
            laid=place.laid,
            tests=done.tests,
            not_run=self.redact(done.not_run),
        )


def _text(ran: Ran) -> str:
    return (ran.stdout + ran.stderr).decode("utf-8", "replace")


def _digest(files: Mapping[str, str]) -> str:
    return hashlib.sha256("\0".join(_pairs(sorted(files.items()))).encode("utf-8", "surrogateescape")).hexdigest()


def _pairs(items: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (part for pair in items for part in pair)
