"""What the command line asks of the program: start, resume and stop a run, foresee one, and look at the project."""

import dataclasses
import functools
import os
import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from platformdirs import user_config_path

from autopilot.agents.choose_agent import program_of, staffed
from autopilot.agents.discovery import agent_checks
from autopilot.agents.model_profiles import price_names
from autopilot.app import adoption, command_trial, consent, roadmap_edits
from autopilot.app import earlier_work as redoing
from autopilot.app import land_again as relanding
from autopilot.app import notify as notifying
from autopilot.app import person_verdict as verdicts
from autopilot.app import receipts as attesting
from autopilot.app import stop as stopping
from autopilot.app.adoption import Offer
from autopilot.app.consent import cage_of
from autopilot.app.consult.before_run import Heard, answering, before_run, contexts, low_confidence, only
from autopilot.app.consult.consultation import Around
from autopilot.app.dependencies import dependency_checks
from autopilot.app.evidence_visual_checkup import visual_checks
from autopilot.app.journal_checkup import run_checks
from autopilot.app.loop.session_log import SessionLog
from autopilot.app.ownership import own_home, refusal, state_checks, user_folder_check
from autopilot.app.planning_checkup import planning_checks
from autopilot.app.receipts import Held
from autopilot.app.run import Driver, settle, write_state
from autopilot.app.run_grant import anew, check_tier, grant_of, granted, missing, moved, tightened
from autopilot.app.sandbox_checkup import sandbox_check, sandbox_words
from autopilot.app.state_writer import ProjectedStreams
from autopilot.app.wiring import (
    Crew,
    Warn,
    cache_folder,
    check_repository,
    hire,
    looked_at,
    network_check,
    past,
    processes_of,
    reach_words,
)
from autopilot.app.workspace_checkup import cache_check, disk_check, git_check, repository_checks
from autopilot.authority.grants import Grant, Grants
from autopilot.authority.user_folder import user_folder_path
from autopilot.domain.attempt import Spec
from autopilot.domain.errors import AutopilotError, RepositoryInvalid, UsageInvalid
from autopilot.domain.events import Noted, RunStarted, StepFinished
from autopilot.domain.evidence import CommandRun
from autopilot.domain.forecast import Forecast, Habits
from autopilot.domain.people import NOBODY, Answering, Person
from autopilot.domain.phase import Note, Phase, Roadmap
from autopilot.domain.receipt import Recheck
from autopilot.domain.request import Check, Resumption, RunEnd, RunRequest, VerdictEnd, changes_of
from autopilot.domain.settings import SandboxChoice, Settings, asks
from autopilot.domain.visual import VisualTesting
from autopilot.engine.decide import resume as going_on
from autopilot.engine.decide.next_move import OPEN_ENDS, open_ends
from autopilot.engine.decide.resume import goes_on, still_to_do
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.result import phase_end
from autopilot.engine.run.verdicts import waiting_phases
from autopilot.history.record import RunRecord
from autopilot.journal.calibration_file import CalibrationFile
from autopilot.journal.clock import SystemClock
from autopilot.journal.durable_files import make_folder, write_atomic
from autopilot.journal.earlier_runs import Ledger, done_before, new_name
from autopilot.journal.lock import RunLock
from autopilot.journal.metrics_file import MetricsFile
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.journal.storage_errors import NotTheirs
from autopilot.planning.config.detect_commands import READ, sources
from autopilot.planning.config.run_settings import settings_of
from autopilot.planning.config.user_config import UserChoices, applied, asked, network_of, of_environment, opened_by
from autopilot.planning.config.user_config import read as read_choices
from autopilot.planning.config.write_back import with_project
from autopilot.planning.edit.planning_editor import Desk, Pens
from autopilot.planning.roadmap import completion_evidence as evidence
from autopilot.planning.roadmap import ids, selection
from autopilot.planning.start import bug_phase as bug
from autopilot.planning.start import build_forecast as forecasts
from autopilot.planning.start import consulted, disputes, estimate, prices
from autopilot.planning.start.opening import nothing_to_do, opening
from autopilot.planning.start.read_project import CONFIG, ROADMAPS, Project, understand
from autopilot.planning.start.rework_selection import Chosen
from autopilot.policy.facts import commands as known_results
from autopilot.policy.outcomes import shortfalls
from autopilot.ports.agents import Listener
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.tool_versions import is_of_repository, missing_program, tool_check
from autopilot.state.breaker_state import heed_cooldown
from autopilot.steps import plan, research
from autopilot.views.lines.overview import Overview, overview
from autopilot.workspace.user_files import find_root, phase_folders, read_bytes, root_files
from autopilot.workspace.user_repository import UserRepository

if TYPE_CHECKING:
    from autopilot.app.report import Reports

MOST_NOTES = 5


def start(
    request: RunRequest, listener: Listener, warn: Warn, person: Person = NOBODY, log: SessionLog | None = None
) -> RunEnd:
    """
    Start a run, or go on with the open one (INV-01, AMB-01). Nothing is written before all input is understood.

    `log` records the run as a session of a loop. None: a person started it.
    """
    said = request.sandbox
    around = surroundings(consulted.aimed(request), warn, person)
    around = without_disputes(around)
    request, project, done, ledger = around.request, around.project, around.done, around.ledger
    picked = redoing.pick(request, project, ledger)
    chosen = picked.phases
    if consulted.only_maps(request):
        return only(around, chosen)
    if ledger.resumable and ledger.newest and goes_on(request, ledger.newest, {p.id for p in chosen}, warn):
        return resume(request.folder, listener, warn, changes_of(request, said), person, log)
    if not chosen:
        reason = " ".join(picked.remarks) or nothing_to_do(request, project, done)
        return RunEnd(run="", exit=0, reason=reason)
    heard = before_run(around, chosen)
    if heard.end is not None:
        return heard.end
    first = opened(around, picked, heard)
    low = low_confidence(around, chosen, first.contexts)
    late = relanding.without_work_of(around.root, ledger, project.roadmap, chosen)
    for note in (*some_notes(project), *late, *low, *forecasts.beforehand(project, first)):
        warn(note)
    return begin(around, first, listener, person, log)


def begin(around: Around, first: RunStarted, listener: Listener, person: Person, log: SessionLog | None) -> RunEnd:
    """Drive a new run from its first event to its end."""
    choices, root, warn = around.choices, around.root, around.warn
    crew = hire(first, Path(around.request.folder))
    check_repository(root, crew.processes)
    log = log or SessionLog(home=around.home, warn=warn)
    with RunLock(around.home, first.run), notifying.heard_by(listener, choices, root, warn) as told:
        driver = Driver(
            home=around.home,
            crew=crew,
            listener=log.hears(told),
            warn=warn,
            person=person,
            launch=Path(around.request.folder),
        )
        return log.keep(first, around.ledger.standings, lambda: driver.begin(first))


def debug(request: RunRequest, listener: Listener, warn: Warn, person: Person = NOBODY) -> RunEnd:
    """
    Find and fix a problem that the user reports: the debug loop of a phase, with the commands that show it as criteria.

    Works without a roadmap. Nothing is written before all input is understood.
    """
    around = surroundings(request, warn, person)
    newest = around.ledger.newest
    if newest is not None and newest.end is None:
        raise UsageInvalid(
            f"The run {newest.start.run} was interrupted and is not finished.",
            why="Debugging starts a run of its own, and an interrupted one would be left behind.",
            do="Finish it first: `autopilot resume`. Then debug.",
        )
    project, known = around.project, around.ledger.standings
    phase = bug.bug_phase(request.symptom, request.checks, project.commands, known.keys())
    roadmap = msgspec.structs.replace(project.roadmap, phases=(*project.roadmap.phases, phase))
    folders = {**project.folders, phase.id: bug.folder_of(phase)}
    project = msgspec.structs.replace(project, roadmap=roadmap, folders=folders)
    around = dataclasses.replace(around, project=project)
    first = opened(around, Chosen(phases=(phase,)), Heard())
    settings = msgspec.structs.replace(
        first.settings,
        integration_check=False,
        self_audit=False,
        version_bump=False,
        # There is no plan whose tasks a remediation could work on: what the checks show is all that was asked for.
        limits=msgspec.structs.replace(first.settings.limits, remediation_cycles=0),
    )
    return begin(around, msgspec.structs.replace(first, settings=settings), listener, person, None)


def opened(around: Around, picked: Chosen, heard: Heard) -> RunStarted:
    """The run's first event, but for the commit it starts from."""
    request, project, ledger, chosen = around.request, around.project, around.ledger, picked.phases
    begun = redoing.with_past(opening(request, project, chosen, around.done), picked, around.root, project, ledger)
    settings = applied(staffed(begun.settings, os.environ), around.choices)
    threshold = CalibrationFile(around.home).read().threshold
    return msgspec.structs.replace(
        begun,
        settings=msgspec.structs.replace(settings, deferral_threshold=threshold),
        passed_over=done_before(ledger, selection.passed_over(request, project.roadmap, around.done)),
        run=new_name(ledger.runs),
        root=str(around.root),
        proposals=ledger.proposals,
        unaudited=ledger.unaudited,
        consulted=heard.consulted,
        contexts=contexts(around, chosen),
    )


def consult(request: RunRequest, warn: Warn, person: Person = NOBODY) -> RunEnd:
    """Ask what the request's flags ask for, and run nothing."""
    around = surroundings(request, warn, person)
    return only(around, selection.wanted(around.request, around.project.roadmap, around.done))


def surroundings(request: RunRequest, warn: Warn, person: Answering) -> Around:
    """Everything known before anybody is asked; raises for what no run could start from."""
    choices = user_choices()
    request = asked(request, choices, os.environ)
    root = find_root(Path(request.folder))
    home = own_home(root)
    project = read_project(root, needs_roadmap=not request.modes.debug)
    consent.require(root, project, opened_by(choices, request), cage_of(request.sandbox), pinned=request.trust)
    StateFile(home).read()
    verdicts.take_leftovers(root, warn)
    if request.answers is not None:
        person = answering(request.answers, Path(request.folder), person.tell)
    return Around(
        request=request,
        root=root,
        base=check_repository(root, processes_of(root)) if asks(request.modes) else "",
        project=project,
        choices=choices,
        ledger=past(home),
        person=person,
        warn=warn,
    )


def without_disputes(around: Around) -> Around:
    """Settle whether phases are done on which the planning files disagree; raises where that needs a person."""
    project = settled_project(around.request, around.project, around.ledger, around.person)
    return replace(around, project=project)


def settled_project(request: RunRequest, project: Project, ledger: Ledger, person: Answering) -> Project:
    """A run that can go on has settled its disputes when it started."""

    def pick(roadmap: Roadmap) -> tuple[Phase, ...]:
        return redoing.pick(request, msgspec.structs.replace(project, roadmap=roadmap), ledger).phases

    roadmap = ledger.reopened(project.roadmap)
    if ledger.newest and ledger.resumable:
        start = ledger.newest.start
        known = {phase.id for phase in start.phases} & {phase.id for phase in evidence.disputed(roadmap)}
        roadmap = evidence.decided(roadmap, {phase: phase in start.completed for phase in known})
    recorded = {phase.id for phase in roadmap.phases if ledger.standing_of(phase)}
    return msgspec.structs.replace(project, roadmap=disputes.settled(request, roadmap, recorded, pick, person))


def foresee(request: RunRequest) -> Forecast:
    """What `start` would do with the request, and what it may cost. Nothing is written and no agent is asked."""
    choices = user_choices()
    request = asked(consulted.foreseen(request), choices, os.environ)
    root = find_root(Path(request.folder))
    project, ledger, notes = read_project(root), past(root / ".autopilot"), list[str]()
    disputed = forecasts.troubles(lambda: settled_project(request, project, ledger, NOBODY))
    project = project if disputed else settled_project(request, project, ledger, NOBODY)
    done = ledger.completed(project.roadmap)
    picked = redoing.pick(request, project, ledger)
    chosen = picked.phases
    notes.extend(picked.remarks)
    open_run = ledger.newest if ledger.resumable else None
    if open_run and not goes_on(request, open_run, {p.id for p in chosen}, notes.append):
        open_run = None
    if not open_run and not chosen and not notes:
        notes.append(nothing_to_do(request, project, done))
    notes.extend(() if open_run else relanding.without_work_of(root, ledger, project.roadmap, chosen))
    first = still_to_do(open_run, request) if open_run else opening(request, project, chosen, done)
    if open_run:
        first, edited = roadmap_edits.foreseen(open_run, project, first)
        notes.extend(edited)
    first = first if open_run else redoing.with_past(first, picked, root, project, ledger)
    grant = granted(open_run.start, root) if open_run else None
    settings = tightened(grant, choices, None, changes_of(request, None)) if grant else applied(first.settings, choices)
    first = msgspec.structs.replace(first, root=str(root), settings=settings)
    processes = processes_of(root)

    first_asked = list[str]()

    def ask_first() -> None:
        seen, cage, kept = opened_by(choices, request), cage_of(settings.sandbox), settings if open_run else None
        first_asked.extend(consent.foreseen(root, project, seen, cage, pinned=request.trust, settings=kept))

    def hired() -> None:
        with looked_at(root, processes) as repository:
            hire(first, Path(request.folder), repository.ignores)

    unsettled = forecasts.troubles(ask_first)
    habits, per_million, price_note = expected_cost(root / ".autopilot", first.settings)
    around = forecasts.Surroundings(
        habits=habits,
        per_million=per_million,
        price_note=price_note,
        sandbox=sandbox_words(processes, first.settings.sandbox),
        resumes=open_run.start.run if open_run else None,
        broken=broken_commands(root, project, ledger),
        last=told_results(root, project, processes),
        notes=(*some_notes(project), *notes),
        consent=tuple(first_asked),
        reach=reach_words(settings, os.environ),
        problems=disputed
        + unsettled
        + forecasts.troubles(
            lambda: own_home(root),
            lambda: require_grant(open_run, grant, request),
            hired,
            lambda: look_over(root, processes),
            lambda: StateFile(root / ".autopilot").read(),
        ),
    )
    return forecasts.forecast(
        project, first, lambda r: {"research": research.prompt(r), "plan": plan.prompt(r)}, around
    )


def look_over(root: Path, processes: ChildProcesses) -> None:
    """Raises `RepositoryInvalid` where no run could start from."""
    with looked_at(root, processes) as repository:
        repository.shape()
        repository.start()


def some_notes(project: Project) -> tuple[str, ...]:
    """What the planning files have to say, at most a few lines of it."""
    more = len(project.notes) - MOST_NOTES
    rest = (f"and {more} more notes: `autopilot phases check` and `autopilot doctor` list them",) if more > 0 else ()
    return (*project.notes[:MOST_NOTES], *rest)


def broken_commands(root: Path, project: Project, ledger: Ledger) -> dict[str, str]:
    """By name, why a command is known not to run here: its program is missing, or the newest run could not use it."""
    last = ledger.newest.start if ledger.newest else None
    origin, found = sources(project.config, project.detected), dict[str, str]()
    for name, command in project.commands.configured():
        if program := missing_program(command, root, os.environ):
            found[name] = f"{program} is not installed"
        elif last and name in last.unused and origin[name] == "auto-detected":
            found[name] = f"{last.unused[name]} (as of {last.run})"
    return found


def require_grant(open_run: RunRecord | None, grant: Grant | None, request: RunRequest) -> None:
    if open_run and grant is None and request.agent == "auto":
        raise missing(open_run.start)


def expected_cost(home: Path, settings: Settings) -> tuple[Habits, float | None, str]:
    """What the calls of a program cost: from its own calls in earlier runs here, else by the price list."""
    program, model = program_of(settings.agent, os.environ), settings.model
    name, vendor = (program.name, program.vendor) if program else (settings.agent.partition(":")[0], "")
    plain = Habits(program=name, own_prompt=program.own_prompt if program else 0)
    habits = estimate.learned(plain, MetricsFile(home).read(), model)
    if habits.usd_per_million is not None:
        return habits, habits.usd_per_million, f"Priced by what {name} cost in earlier runs here."
    return habits, *prices.per_million(price_names(vendor, model), prices.installed(), estimate.mix(plain))


def examine(folder: str) -> tuple[Check, ...]:
    """Everything a run depends on, looked at and left as it is."""
    python = Check(level="ok", what="python", found=platform.python_version())
    choices = user_choices()
    wanted, network = of_environment(os.environ) or choices.sandbox or "auto", network_of(choices.network)
    try:
        root = find_root(Path(folder))
    except RepositoryInvalid as error:
        missing = Check(level="fail", what="repository", found=error.what, fix=error.do)
        processes = ChildProcesses()
        own = user_folder_check()
        return (missing, own, python, *agent_checks(processes, os.environ), sandbox_check(processes, wanted))
    processes, home = processes_of(root), root / ".autopilot"
    with looked_at(root, processes) as repository:
        about = (
            git_check(repository.git),
            *repository_checks(root, repository),
            *planning_checks(lambda: read_project(root), lambda command: missing_program(command, root, os.environ)),
            *_result_checks(root, processes),
            *_tool_checks(root, processes, repository.root),
            *_dependency_checks(root, repository),
            *_trust_checks(root),
        )
    return (
        *about,
        user_folder_check(),
        *state_checks(root),
        *run_checks(home, lambda: past(home), StateFile(home).read),
        *agent_checks(processes, os.environ, lambda program: is_of_repository(program, repository.root)),
        sandbox_check(processes, wanted, open_network=network.open),
        network_check(network, os.environ),
        *visual_checks(configured_visual(root), os.environ),
        disk_check("disk", root),
        disk_check("cache disk", cache_folder()),
        cache_check(cache_folder()),
        python,
    )


def try_notifying() -> tuple[Check, ...]:
    """Send a test by every way the user wants to be told of things."""
    return notifying.trial(user_choices().notify)


def configured_visual(root: Path) -> VisualTesting | None:
    """What a run would look at without being asked to; None too where the config cannot be read."""
    try:
        section = read_project(root).config.visual
    except AutopilotError:
        return None
    return section.testing if section.enabled else None


def _trust_checks(root: Path) -> Iterator[Check]:
    """Whether a run would ask first. The user's folder is not made for the sake of a look."""
    try:
        project = read_project(root, needs_roadmap=False)
    except AutopilotError:
        return  # Told by the checks of the planning files.
    try:
        trusted = user_folder_path().exists() and consent.standing(root, project, user_choices()).trusted
    except AutopilotError as error:
        yield Check(level="fail", what="trust", found=error.what, fix=error.do)
        return
    found = "you agreed to what the repository asks for" if trusted else "a run asks you first: autopilot trust --show"
    yield Check(level="ok", what="trust", found=found)


def _result_checks(root: Path, processes: ChildProcesses) -> Iterator[Check]:
    with suppress(AutopilotError):
        if told := told_results(root, read_project(root), processes):
            yield Check(level="ok", what="results", found="; ".join(f"{name}: {last}" for name, last in told.items()))


def told_results(root: Path, project: Project, processes: ChildProcesses) -> dict[str, str]:
    """By name, how the project's commands ended the last time they were run; they are not run for it."""
    commands = project.commands.configured()
    if not commands:
        return {}
    known, now = last_results(root / ".autopilot"), ""
    if known:
        with looked_at(root, processes) as repository:
            now = repository.tree()
    return {name: known_results.told(command, known, now) for name, command in commands}


def last_results(home: Path) -> dict[str, CommandRun]:
    """Of each command that the newest run ran. A journal that cannot be read tells none."""
    try:
        journal = SqliteJournal.read_only(home / "journal.db")
    except AutopilotError:
        return {}
    runs = [stream for stream in journal.streams() if "/" not in stream]
    passes = Streams(journal, runs[-1], ()).all_passes() if runs else ()
    steps = (entry.event for one in passes for entry in one.entries if isinstance(entry.event, StepFinished))
    return known_results.last_runs(step.result for step in steps)


def _tool_checks(root: Path, processes: ChildProcesses, top: Path) -> Iterator[Check]:
    try:
        project = read_project(root)
        gates = [found.command for found in forecasts.project_facts(project).commands.values() if found.command]
    except AutopilotError:
        return  # as below
    present = [gate for gate in gates if not missing_program(gate, root, os.environ)]  # what is missing is said above
    criteria = (c.command for phase in project.roadmap.phases for c in phase.criteria if c.command)
    yield from tool_check(processes, [*present, *criteria], os.environ, top)


def _dependency_checks(root: Path, repository: UserRepository) -> Iterator[Check]:
    try:
        project = read_project(root)
        settings = settings_of(RunRequest(folder=str(root), phases="all"), project)
        yield from dependency_checks(settings, root, repository)
    except AutopilotError:
        return  # Told by the checks of the repository and of the planning files.


def write_config(folder: str) -> str:
    """Put the detected commands into config.json with their source, and leave all else there as it is."""
    root = find_root(Path(folder))
    held, path = read_bytes(root / CONFIG), (root / CONFIG).resolve()
    facts = forecasts.project_facts(read_project(root))
    text = with_project(None if held is None else held.decode("utf-8"), facts, CONFIG)
    make_folder(path.parent)
    write_atomic(path, text.encode("utf-8"))
    return str(path)


def survey(folder: str) -> Overview:
    """How far the roadmap is, over all runs."""
    root = find_root(Path(folder))
    project = read_project(root)
    begun = {phase for phase, place in project.folders.items() if (root / place / "EXECUTION-LOG.md").is_file()}
    refused = refusal(root)
    try:
        ledger = past(root / ".autopilot")
    except NotTheirs:
        ledger = Ledger()
    if refused is None:
        return overview(project.roadmap, ledger, begun, project.phase_files, relanding.merges(root, ledger))
    seen = overview(project.roadmap, ledger, begun, project.phase_files)
    remedy = "autopilot adopt" if "autopilot adopt" in refused.do else "autopilot doctor"
    return msgspec.structs.replace(seen, next=remedy, why=f"{refused.what} {refused.do}")


def stranger(root: str) -> tuple[str, ...]:
    """Why the runs there are not the user's, and what to do about it; nothing where they are, or nobody can tell."""
    try:
        refused = refusal(Path(root))
    except AutopilotError:
        return ()
    return (refused.what, refused.do) if refused else ()


def unlanded(folder: str) -> dict[str, str]:
    """For each completed phase that is not on the user's branch, the command that merges it."""
    root = find_root(Path(folder))
    try:
        return relanding.merges(root, past(root / ".autopilot"))
    except NotTheirs:
        return {}  # nobody knows whose work it is


def resume(
    folder: str,
    listener: Listener,
    warn: Warn,
    changes: Resumption | None = None,
    person: Person = NOBODY,
    log: SessionLog | None = None,
) -> RunEnd:
    """Go on with the newest run from its last finished step; one that failed gets another chance (RSM-01..07)."""
    changes = changes or Resumption()
    root = find_root(Path(folder))
    home = own_home(root)
    StateFile(home).read()
    verdicts.take_leftovers(root, warn)
    ledger = past(home)
    if ledger.newest is None:
        raise UsageInvalid(
            "No run found.",
            why=f"there is no journal of a run in {home}",
            do="start one: `autopilot next`, or name the phases, as in `autopilot 3-7`",
        )
    begun = ledger.newest.start
    if not ledger.resumable:
        with RunLock(home, begun.run), SqliteJournal(home / "journal.db", SystemClock()) as journal:
            settle(home, journal, ledger)
            streams = ProjectedStreams(home, journal, begun.run, listener)
            landing, landed = relanding.land_again(root, ledger, streams)
        end = over(ledger.newest)
        reason = f"{landing} {end.reason}" if landing else end.reason
        return msgspec.structs.replace(end, reason=reason, exit=end.exit if landed else end.exit or OPEN_ENDS)
    grant = granted(begun, root)
    if grant is None and changes.agent is None:
        raise missing(begun)
    if not changes.now:
        heed_cooldown(ledger.newest, SystemClock().now())
    if changes.retry:
        check_retry(home, ledger.newest, changes)
    choices = user_choices()
    project = read_project(root, needs_roadmap=not begun.settings.modes.debug)
    settings = settings_today(begun, grant, changes, choices, project)
    consent.require(root, project, choices, cage_of(settings.sandbox), pinned=changes.trust, settings=settings)
    settled = roadmap_edits.settle(ledger.newest, project, changes.roadmap, person, warn)
    if project.spec.sha256 != begun.spec.sha256:
        warn(f"{project.spec.path} changed since the run started: it is locked anew from here on.")
    today = msgspec.structs.replace(begun, root=str(root), settings=settings)
    crew, grant = allowed(today, Path(folder), grant, changes, warn)
    left = tuple(phase for phase in begun.targets if phase_end(ledger.newest, phase).status != "completed")
    log = log or SessionLog(home=home, warn=warn)
    with RunLock(home, begun.run), notifying.heard_by(listener, choices, root, warn) as told:
        driver = Driver(home=home, crew=crew, listener=log.hears(told), warn=warn, person=person)
        planned = msgspec.structs.replace(begun, targets=left)
        return log.keep(planned, ledger.standings, lambda: driver.go_on(begun.run, project, changes, settled, grant))


def settings_today(
    begun: RunStarted, grant: Grant | None, changes: Resumption, choices: UserChoices, project: Project
) -> Settings:
    """Of a run that goes on: by its grant; where there is none, by what the user named today."""
    if grant is not None:
        return tightened(grant, choices, of_environment(os.environ) or choices.sandbox, changes)
    request = RunRequest(
        folder="",
        agent=changes.agent or "auto",
        sandbox=changes.sandbox,
        hosts=changes.hosts,
        open_network=changes.open_network,
        wait=changes.wait,
        failover=changes.failover,
    )
    return anew(begun, project, choices, asked(request, choices, os.environ))


def allowed(
    today: RunStarted, folder: Path, grant: Grant | None, changes: Resumption, warn: Warn
) -> tuple[Crew, Grant]:
    """The crew of a resumed run, and its grant; where there is none, what the user named today is granted."""
    if grant is None:
        crew = hire(today, folder)
        grant = grant_of(today, crew, folder)
        Grants().write(grant)
        return crew, grant
    launch = folder if changes.agent or not Path(grant.launch).is_dir() else Path(grant.launch)
    crew = hire(today, launch)
    check_tier(grant, crew.ground.tier, changes)
    for line in moved(grant, crew):
        warn(line)
    return crew, grant


def resumable(root: Path, *, agent_named: bool = False) -> Path:
    """
    Its `.autopilot`, where a run that is left there could go on. Raises `ConsentMissing` where not; nothing is written.

    A user who names an agent grants it.
    """
    home = own_home(root)
    ledger = past(home)
    if not agent_named and ledger.resumable and ledger.newest and granted(ledger.newest.start, root) is None:
        raise missing(ledger.newest.start)
    return home


def check_retry(home: Path, run: RunRecord, changes: Resumption) -> None:
    """Raises `UsageInvalid` where the phase named cannot be tried again, before anything is started."""
    phase = ids.normalise(changes.retry)
    streams = Streams(SqliteJournal.read_only(home / "journal.db"), run.start.run, ())
    going_on.check_retry(run, phase, changes.step, streams.passes(phase))


def over(run: RunRecord) -> RunEnd:
    """There is nothing to resume: it is finished, or only a person can go on."""
    short = {found.phase: found.text for found in shortfalls(run)}
    waits = [waiting.phase for waiting in waiting_phases(run) if waiting.phase not in short]
    if not waits:
        left = open_ends(run)
        told = [f"Phase {phase}: {text}." for phase, text in short.items()] + ([f"Open: {left}."] if left else [])
        reason = " ".join(["Already finished. Start new with `autopilot <phases>`.", *told])
        return RunEnd(run=run.start.run, exit=OPEN_ENDS if short or left else 0, reason=reason)
    reason = f"Phase {' '.join(waits)} waits for a person. Decide with `autopilot verdict {waits[0]} pass`."
    return RunEnd(run=run.start.run, exit=11, reason=reason)


def verdict(folder: str, phase: str, word: str, issues: tuple[str, ...], warn: Warn) -> VerdictEnd:
    """What a person says of a phase that waits for them: taken in at once, or by the run that is going on."""
    root = find_root(Path(folder))
    own_home(root)
    return verdicts.give(root, verdicts.Wish(phase, word, issues), os.environ, warn)


def trends(folder: str) -> tuple[dict[str, Any], ...]:
    """The numbers of every run that ended here, oldest first."""
    return MetricsFile(find_root(Path(folder)) / ".autopilot").checked()


def stop(folder: str, *, now: bool) -> str:
    """Ask the running process to stop and wait until it has; `now` does not wait for it to tidy up."""
    return stopping.stop(find_root(Path(folder)), now=now)


def retry(folder: str) -> str:
    """Have a run that waits for an agent ask again at once; what was done, in words."""
    return stopping.retry(find_root(Path(folder)))


def note(folder: str, event: str, message: str) -> None:
    """Write an event into the log of the run that is open here; without one, or while it is at work, nothing."""
    with suppress(AutopilotError):
        home = own_home(find_root(Path(folder)))
        newest = past(home).newest
        if newest is None or not (home / "state.json").exists():
            return
        with RunLock(home, newest.start.run), SqliteJournal(home / "journal.db", SystemClock()) as journal:
            streams = ProjectedStreams(home, journal, newest.start.run, verdicts.deaf)
            streams.append_run(Noted(event=event, details={"message": message}))


def adoption_of(folder: str) -> Offer:
    """Whose journal there is, and what would be adopted with it. Nothing is changed."""
    return adoption.offer(find_root(Path(folder)))


def adopt(offer: Offer) -> str:
    """Make the journal the user's own, after they said that it is; what was done, in words."""
    return adoption.adopt(offer.root)


def rebuild(folder: str) -> str:
    """Compute state.json anew from the journal, which is the truth."""
    home = own_home(find_root(Path(folder)))
    ledger = past(home)
    if ledger.newest is None:
        raise UsageInvalid(
            "No run found.", why=f"there is no journal in {home} to rebuild from", do="start a run: `autopilot next`"
        )
    with RunLock(home), SqliteJournal(home / "journal.db", SystemClock()) as journal:
        journal.verify()
        file = StateFile(home)
        write_state(file, Streams(journal, ledger.newest.start.run, ()))
    return str(home / "state.json")


def receipts(folder: str) -> tuple[Held, ...]:
    """Every receipt in the phases' folders."""
    return attesting.receipts(folder)


def receipt(folder: str, phase: str) -> Held:
    return attesting.receipt(folder, phase)


def check_receipt(
    folder: str, phase: str, file: str | None, sandbox: SandboxChoice, warn: Warn, trust: str = ""
) -> Recheck:
    """Whether the receipt holds: every command that decided, run again from a clean checkout."""
    root = find_root(Path(folder))
    project = read_project(root, needs_roadmap=False)
    cage: consent.Cage = "none" if sandbox == "none" else "sealed"
    consent.require(root, project, user_choices(), cage, pinned=trust)
    return attesting.check(folder, phase, file, sandbox, warn)


def cage_for(sandbox: SandboxChoice | None, choices: UserChoices) -> consent.Cage:
    """Of a run that the user would start with this sandbox named, or with none named."""
    return cage_of(sandbox or of_environment(os.environ) or choices.sandbox)


def trust_of(folder: str, sandbox: SandboxChoice | None = None) -> consent.TrustStanding:
    """What the repository asks for, and whether the user agreed to it. Nothing of it is run."""
    root, choices = find_root(Path(folder)), user_choices()
    return consent.standing(root, read_project(root, needs_roadmap=False), choices, cage_for(sandbox, choices))


def require_trust(folder: str, trust: str = "", sandbox: SandboxChoice | None = None) -> None:
    """Raises `TrustMissing` unless the user agreed to all that the repository asks for."""
    root, choices = find_root(Path(folder)), user_choices()
    project = read_project(root, needs_roadmap=False)
    consent.require(root, project, choices, cage_for(sandbox, choices), pinned=trust)


def keep_trust(folder: str, trust: str, sandbox: SandboxChoice | None = None) -> None:
    """Agree for good to what the repository asks for, which must have this hash: for those without a terminal."""
    root, choices = find_root(Path(folder)), user_choices()
    consent.keep(root, read_project(root, needs_roadmap=False), choices, cage_for(sandbox, choices), trust)


def agree(folder: str) -> None:
    """Trust what the project asks for as it is now, in any sandbox and in none: for those who have just written it."""
    root = find_root(Path(folder))
    consent.agree(root, read_project(root, needs_roadmap=False), user_choices())


def trusted_edit(folder: str) -> AbstractContextManager[None]:
    """Around an edit of the roadmap by a verb that its user types."""
    root = find_root(Path(folder))
    return consent.kept_through_edit(root, lambda: read_project(root, needs_roadmap=False), user_choices())


def revoke_trust(folder: str) -> bool:
    return consent.revoke(find_root(Path(folder)))


def reports(folder: str) -> "Reports":
    """What is told of runs: on the terminal, as a page, for programs."""
    from autopilot.app.report import Reports

    return Reports(folder)


def read_project(root: Path, *, needs_roadmap: bool = True) -> Project:
    """Raises `RoadmapInvalid` without a roadmap, unless none is needed: then the project has no phases."""
    files, folders = root_files(root, READ), phase_folders(root)

    def read(path: str) -> bytes | None:
        return read_bytes(root / path)

    if needs_roadmap or any(read(path) is not None for path in ROADMAPS):
        return understand(read, files, folders, recorded_in(root))
    bare = understand(lambda path: bug.BARE_ROADMAP if path == ROADMAPS[0] else read(path), files, folders)
    roadmap = msgspec.structs.replace(bare.roadmap, phases=())
    return msgspec.structs.replace(bare, roadmap=roadmap, folders={}, spec=Spec(path="", sha256=""), requirements={})


def recorded_in(root: Path) -> evidence.Recorded:
    """What the journal of the repository says of its phases; it is read when somebody asks."""

    @functools.cache
    def ledger() -> Ledger | None:
        try:
            return past(root / ".autopilot")
        except AutopilotError:
            return None  # whoever needs the journal for more than this says what is wrong with it

    def recorded(phase: Phase) -> bool | None:
        known = ledger()
        standing = known.standing_of(phase) if known else None
        return None if standing is None else standing.status == "completed"

    return recorded


def user_choices() -> UserChoices:
    """From the user's own config folder; a repository cannot say how it is confined."""
    path = Path(os.environ.get("AUTOPILOT_CONFIG") or user_config_path("autopilot")) / "config.toml"
    held = read_bytes(path)
    return read_choices(None if held is None else held.decode("utf-8", "replace"), str(path))


def has_sandbox() -> bool:
    """Whether commands can be confined on this machine."""
    return sandbox_check(ChildProcesses()).level == "ok"


def desk(folder: str) -> Desk:
    """The planning files of the repository, to look at and to edit."""
    root = find_root(Path(folder))
    pens = Pens(read=read_bytes, write=write_atomic, make_folder=make_folder)
    return Desk(
        root=root,
        pens=pens,
        root_files=lambda: root_files(root, READ),
        phase_folders=lambda: phase_folders(root),
        tried=lambda trust: tried_commands(root, trust),
        recorded=recorded_in(root),
    )


def tried_commands(root: Path, trust: str = "") -> tuple[Note, ...]:
    """The detected commands that do not run here, and the criteria that hold already; each is run in the sandbox."""
    project, choices = read_project(root), user_choices()
    request = RunRequest(folder=str(root), phases="all", sandbox=of_environment(os.environ) or choices.sandbox)
    consent.require(root, project, choices, cage_of(request.sandbox), pinned=trust)
    return command_trial.notes(root, project, settings_of(request, project))
