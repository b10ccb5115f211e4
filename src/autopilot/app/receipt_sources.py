"""Derives the commands of a receipt again from the roadmap, config and plans in git."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autopilot.domain.errors import AutopilotError
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Criterion, Expectation, Phase, Plan
from autopilot.domain.receipt import PLACES, DecidingRun, Proof, Result, blob_id
from autopilot.domain.results import OLD, REPLACED
from autopilot.domain.settings import Commands
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.plan import read_plan as plans
from autopilot.planning.plan.folders import BUG_PREFIX
from autopilot.planning.roadmap import ids
from autopilot.planning.start import bug_phase as bug
from autopilot.planning.start.read_project import CONFIG, ROADMAPS, Project, understand
from autopilot.policy.facts.commands import why_not_run
from autopilot.steps.checks.test_specs import unrun_specs
from autopilot.steps.prompt import merged
from autopilot.workspace.git import Git
from autopilot.workspace.user_files import phase_folders, read_bytes

Gates = Callable[[str, Commands], tuple[CommandRun, ...]]


@dataclass(slots=True)
class Derived:
    """
    `required` are the criteria that decide on the accepted commit, `known` what each name may stand for.

    `detected` are the gates that no config names. `differences` is what keeps the receipt from being derived,
    `notes` what could not be compared.
    """

    required: tuple[Criterion, ...] = ()
    known: dict[str, list[tuple[str, Expectation]]] = field(default_factory=dict)
    gates: dict[str, str] = field(default_factory=dict)
    detected: frozenset[str] = frozenset()
    whole: bool = True
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def knows(self, criteria: tuple[Criterion, ...]) -> None:
        for criterion in criteria:
            if criterion.command:
                self.known.setdefault(criterion.id, []).append((criterion.command, criterion.expect))


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The project's files as git has them at a commit. `git` works in the project's folder."""

    git: Git
    root: Path

    def read(self, commit: str, path: str) -> bytes | None:
        ran = self.git.run("cat-file", "blob", f"{commit}:./{path}", ok=(0, 128))
        return ran.stdout if ran.exit_code == 0 else None

    def blobs(self, commit: str, paths: tuple[str, ...]) -> dict[str, str]:
        found = {path: self.read(commit, path) for path in paths}
        return {path: blob_id(content, commit) for path, content in found.items() if content is not None}

    def project(self, base: str, begun: str) -> Project:
        """Roadmap and plans as at `base`, commands as at `begun`."""
        files = self.manifests(begun)
        return understand(lambda p: self.read(begun if p == CONFIG else base, p), files, self._folders(base))

    def manifests(self, commit: str) -> dict[str, str]:
        """The files in the project's root by name, those that say how it is built with their text."""
        names = [name for kind, name in self._listed(commit) if kind == b"blob"]
        texts = {name: self.read(commit, name) if name in detect.READ else b"" for name in names}
        return {name: (content or b"").decode("utf-8", "replace") for name, content in texts.items()}

    def _listed(self, commit: str, *words: str) -> Iterator[tuple[bytes, str]]:
        ran = self.git.run("ls-tree", "-z", *words[:1], commit, *words[1:], ok=(0, 128))
        for line in ran.stdout.split(b"\0")[:-1]:
            meta, name = line.split(b"\t", 1)
            yield meta.split()[1], os.fsdecode(name)

    def _folders(self, commit: str) -> dict[str, tuple[str, ...]]:
        found = dict[str, list[str]]()
        for _, path in self._listed(commit, "-r", ".planning/phases"):
            parts = path.split("/")[2:]
            if len(parts) > 1:
                held = found.setdefault(parts[0], [])
                held += parts[1:] if len(parts) == 2 else []  # noqa: PLR2004 - folder and file
        return {name: tuple(sorted(held)) for name, held in sorted(found.items())}


def derived(history: History, proof: Proof, tests: Mapping[str, str]) -> Derived:
    """`tests` are the frozen test files by path."""
    made = Derived()
    made.differences += _sources(history, proof)
    project = _project(history, proof, made)
    if project is None:
        return made
    origins = detect.sources(project.config, project.detected)
    made.gates = dict(project.commands.configured())
    made.detected = frozenset(name for name in made.gates if origins[name] == "auto-detected")
    phase = _phase(project, proof, made)
    made.knows(phase.criteria)
    planned = _plans(history, proof, project, made)
    for plan in planned:
        made.knows(tuple(c for task in plan.tasks for c in task.criteria))
    force = _with_tests(planned[0], proof, tests, made) if planned else None
    runnable = tuple(c for c in merged(phase.criteria, force) if c.command)
    specs = unrun_specs(force.tests if force else (), proof.dir, runnable)
    made.knows(specs)
    made.required = (*runnable, *specs)
    return made


def compared(proof: Proof, result: Result, made: Derived) -> Iterator[str]:
    """What is missing, extra or altered in the receipt. Of a failed phase not everything was run."""
    altered = set[str]()
    for run in proof.runs:
        told = _gate(run, made) if run.kind == "gate" else _criterion(run, made)
        if told:
            altered.add(run.name)
            yield told
    if result == "FAILED":
        return
    ran = {(run.name, run.command, run.expect) for run in proof.runs if run.commit == proof.commit}
    for criterion in made.required:
        if (criterion.id, criterion.command, criterion.expect) not in ran and criterion.id not in altered:
            yield f"{criterion.id} is missing: `{criterion.command}` was to be run on {proof.commit[:12]}"
    for name, command in made.gates.items():
        there = (f"gate:{name}", command, Expectation()) in ran or f"gate:{name}" in altered
        if not there and not (name in made.detected and name in proof.unused):
            yield f"gate:{name} is missing: `{command}` was to be run on {proof.commit[:12]}"


def left_out(proof: Proof, made: Derived, gates: Gates) -> Iterator[str]:
    """Detected gates that are said not to run: they must not run here either."""
    for name in sorted(made.detected & proof.unused.keys()):
        (run,) = gates(proof.begun, Commands(**{name: made.gates[name]}))
        if why_not_run(run):
            made.notes.append(f"gate:{name} was left out, as it does not run: {proof.unused[name]}")
        else:
            yield f"gate:{name} was left out, as if it did not run; here it does: `{made.gates[name]}`"


def _sources(history: History, proof: Proof) -> Iterator[str]:
    commits = {"roadmap": proof.base, "config": proof.begun}
    for what, paths in PLACES.items():
        found = history.blobs(commits[what], paths)
        path = next((path for path in paths if path in found), None)
        here = (path, found[path]) if path else None
        told = next(((source.path, source.blob) for source in proof.sources if source.what == what), None)
        if here != told:
            yield f"the {what} at {commits[what][:12]} is {_blob(here)}, the receipt names {_blob(told)}"


def _blob(named: tuple[str, str] | None) -> str:
    return f"{named[0]} {named[1][:12]}" if named else "none"


def _project(history: History, proof: Proof, made: Derived) -> Project | None:
    """Where the base has no roadmap, the planning files of the checkout stand in for it."""
    try:
        if any(history.read(proof.base, path) is not None for path in ROADMAPS):
            return history.project(proof.base, proof.begun)
        made.notes.append("the roadmap is not in the base commit: the one of this checkout was compared")
        root = history.root
        return understand(lambda p: read_bytes(root / p), history.manifests(proof.begun), phase_folders(root))
    except AutopilotError as error:
        made.differences.append(f"the commands cannot be derived again: {error.what}")
    return None


def _phase(project: Project, proof: Proof, made: Derived) -> Phase:
    phases = project.roadmap.phases
    found = next((phase for phase in phases if ids.same(phase.id, proof.phase)), None)
    if found is not None:
        return found
    whole = max((p for p in phases if proof.phase.startswith(p.id)), key=lambda p: len(p.id), default=None)
    if whole is not None and proof.anchor == "anchored":
        return whole
    if proof.phase.startswith(BUG_PREFIX) and project.commands.configured():
        return bug.bug_phase("", (), project.commands, ())
    if proof.anchor == "anchored":
        made.differences.append(f"phase {proof.phase} is not in the roadmap: nothing says what its commands should be")
    return Phase(id=proof.phase, name=proof.name)


def _plans(history: History, proof: Proof, project: Project, made: Derived) -> tuple[Plan, ...]:
    """The plan in force first. A replaced one may be gone from git: then its checks are compared with nothing."""
    path = f"{proof.dir}/PLAN.md"
    texts = [history.read(commit, path) for commit in (proof.base, "HEAD")] + [read_bytes(history.root / path)]
    for files in project.phase_files.values():
        texts += [plan.text.encode("utf-8", "replace") for plan in (files.to_do, files.whole) if plan]
    here = {blob_id(text, proof.base): text for text in texts if text is not None}
    found = list[Plan]()
    for number, source in enumerate(source for source in proof.sources if source.what == "plan"):
        text = here.get(source.blob)
        if text is not None:
            found.append(plans.read(text.decode("utf-8", "replace"), {}))
            continue
        made.whole = False
        told = f"plan {source.blob[:12]} is not {path} here"
        if number == 0:
            made.differences.append(f"{told}: its criteria cannot be compared")
            return ()
        made.notes.append(f"{told}: it was replaced, and its criteria are compared with nothing")
    if bool(proof.plan_sha256) != bool(found):
        made.differences.append("the receipt has a plan and names no blob of it, or the other way around")
    return tuple(found)


def _with_tests(plan: Plan, proof: Proof, tests: Mapping[str, str], made: Derived) -> Plan:
    whole = plans.read(plan.text, {path.removeprefix(f"{proof.dir}/"): text for path, text in tests.items()})
    if whole.sha256 != proof.plan_sha256:
        made.differences.append("the plan and its tests are not those that the receipt's planSha256 is of")
    return whole


def _gate(run: DecidingRun, made: Derived) -> str:
    wanted = made.gates.get(run.check)
    if wanted is None:
        return f"{run.name} is extra: the project has no such command, the receipt has `{run.command}`"
    return "" if wanted == run.command else f"{run.name} is altered: `{run.command}` instead of `{wanted}`"


def _criterion(run: DecidingRun, made: Derived) -> str:
    if REPLACED in run.check:
        made.notes.append(f"{run.name} is of a plan that was replaced: it is compared with nothing")
        return ""
    wanted = made.known.get(run.check.removesuffix(OLD) if run.kind == "old" else run.check)
    if wanted is None:
        if made.whole:
            return f"{run.name} is extra: no criterion asks for `{run.command}`"
        made.notes.append(f"{run.name} is compared with nothing: `{run.command}`")
        return ""
    if any(_fits(run, command, expect) for command, expect in wanted):
        return ""
    command, expect = wanted[0]
    return f"{run.name} is altered: `{run.command}`{_shown(run.expect)} instead of `{command}`{_shown(expect)}"


def _fits(run: DecidingRun, command: str, expect: Expectation) -> bool:
    """An old check may be narrowed to the tests that were there before the work."""
    narrowed = run.kind == "old" and set(run.command.split()) <= set(command.split())
    return (run.command == command or narrowed) and run.expect == expect


def _shown(expect: Expectation) -> str:
    if expect.form == "text":
        return f" (expects {expect.text!r})"
    return "" if expect == Expectation() else f" (expects {expect.form} {expect.number})"
