"""`autopilot phases`: show, check and edit the phases of the roadmap."""

import argparse
import json
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from autopilot.cli import console, terminal
from autopilot.cli.consent import with_consent
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.phase import Note, Phase, PlanCounts, Roadmap
from autopilot.text.clean import clean

EDITS = frozenset({"phases add", "phases insert", "phases remove"})
_WIDTH, _WIDEST, _MOST, _MOST_FOUND = 80, 16, 400, 1200
_WIDE = {"W", "F"}


class Edit(Protocol):
    """An edit worked out; `save` writes it."""

    @property
    def phase(self) -> Phase: ...
    @property
    def paths(self) -> tuple[str, ...]: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    def save(self) -> None: ...


class Desk(Protocol):
    """The planning files, to look at and to edit."""

    def roadmap(self) -> Roadmap: ...
    def plans(self) -> dict[str, PlanCounts]: ...
    def findings(self) -> tuple[Note, ...]: ...
    @property
    def tried(self) -> Callable[[str], tuple[Note, ...]]: ...
    def refuse_overlap(self, text: str) -> None: ...
    def add(self, text: str, depends: tuple[str, ...], goal: str | None, criteria: tuple[str, ...]) -> Edit: ...
    def insert(self, after: str, text: str, goal: str | None, criteria: tuple[str, ...]) -> Edit: ...
    def remove(self, phase_id: str) -> Edit: ...


def perform(options: argparse.Namespace, desk: Desk) -> int:
    """The exit code of the verb in `options`."""
    match options.verb:
        case "phases list":
            return _list(desk, as_json=options.json)
        case "phases check":
            tried = () if options.no_run else with_consent(desk.tried, options.trust)
            return _check(desk, tried, as_json=options.json)
        case "phases add" | "phases insert":
            return _put(options, desk)
        case "phases remove":
            return _remove(options, desk)
        case unknown:
            raise AssertionError(f"the parser let the verb {unknown!r} through")


def _list(desk: Desk, *, as_json: bool) -> int:
    seen, plans = desk.roadmap(), desk.plans()
    if as_json:
        phases = [{**_plain(p), **_counts(plans[p.id])} for p in seen.phases]
        _say_json({"phases": phases, "findings": [_finding(n) for n in seen.notes]})
        return 0
    columns = [("Phase", *(p.id for p in seen.phases)), ("Status", *(p.status.replace("_", " ") for p in seen.phases))]
    if any(found.plans for found in plans.values()):
        columns.append(("Plans", *(_done(plans[p.id]) for p in seen.phases)))
    columns += [("Needs", *map(_needs, seen.phases)), ("Name", *(p.name for p in seen.phases))]
    console.say("\n".join(_table(list(zip(*columns, strict=True)))))
    if seen.notes:
        console.say(f"\n{len(seen.notes)} findings; see them with: autopilot phases check")
    return 0


def _needs(phase: Phase) -> str:
    return ", ".join(phase.depends_on) or "-"


def _counts(found: PlanCounts) -> dict[str, int]:
    return {"plans": found.plans, "plans_done": found.done, "plans_unreadable": found.unreadable}


def _done(found: PlanCounts) -> str:
    unreadable = ", unreadable" if found.unreadable else ""
    return f"{found.done}/{found.plans}{unreadable}" if found.plans else "-"


def _check(desk: Desk, tried: tuple[Note, ...], *, as_json: bool) -> int:
    path, notes = desk.roadmap().path, sorted((*desk.findings(), *tried), key=lambda note: note.line)
    errors = _count(notes, "error")
    if as_json:
        _say_json({"file": path, "errors": errors, "findings": [_finding(note) for note in notes]})
    else:
        lines = [clean(f"{_place(note)}: {note.severity}: {note.what}", _MOST_FOUND) for note in notes]
        told = f"{errors} errors, {_count(notes, 'warning')} warnings, {_count(notes, 'info')} remarks"
        console.say("\n".join([*lines, f"{path}: {told}"]))
    return 2 if errors else 0


def _put(options: argparse.Namespace, desk: Desk) -> int:
    text, criteria = " ".join(options.text), tuple(options.criterion)
    if not options.anyway:
        desk.refuse_overlap(text)
    if options.verb == "phases add":
        depends = tuple(need.strip() for given in options.depends for need in given.split(",") if need.strip())
        edit = desk.add(text, depends, options.goal, criteria)
    else:
        edit = desk.insert(options.after, text, options.goal, criteria)
    edit.save()
    _tell(edit, "Added", as_json=options.json)
    return 0


def _remove(options: argparse.Namespace, desk: Desk) -> int:
    edit = desk.remove(options.phase)
    if not options.yes:
        _confirm(edit)
    edit.save()
    _tell(edit, "Removed", as_json=options.json)
    return 0


def _confirm(edit: Edit) -> None:
    """Only the word `yes`, typed at a terminal, is one."""
    shown = clean(edit.phase.name)
    if not terminal.present():
        raise UsageInvalid(
            f"Phase {edit.phase.id} ({shown}) was not removed: nobody confirmed it.",
            why="There is no terminal to ask at, and a phase removed by mistake would be missed late.",
            do=f"If you mean it: autopilot phases remove {edit.phase.id} --yes",
        )
    for warning in edit.warnings:
        console.warn(f"autopilot: warning: {clean(warning, _MOST)}")
    console.warn(f"Remove phase {edit.phase.id} ({shown}) from {', '.join(edit.paths)}? Its folder is kept.")
    if terminal.ask("Type yes to remove it: ").lower() != "yes":
        raise UsageInvalid(
            f"Phase {edit.phase.id} was not removed.", why="The answer was not yes.", do="Nothing was changed."
        )


def _tell(edit: Edit, done: str, *, as_json: bool) -> None:
    if as_json:
        _say_json({"phase": _plain(edit.phase), "files": [*edit.paths], "warnings": [*edit.warnings]})
        return
    console.say(f"{done} phase {edit.phase.id}: {clean(edit.phase.name)} ({', '.join(edit.paths)})")
    for warning in edit.warnings:
        console.warn(f"autopilot: warning: {clean(warning, _MOST)}")


def _plain(phase: Phase) -> dict[str, Any]:
    lists = {"depends_on": [*phase.depends_on], "requirements": [*phase.requirements]}
    plain = {
        "id": phase.id,
        "name": phase.name,
        "goal": phase.goal,
        "status": phase.status,
        **lists,
        "line": phase.line,
    }
    return plain | {"milestone": phase.milestone, "successor": phase.successor}


def _place(note: Note) -> str:
    return f"{note.file}:{note.line}" if note.line else note.file


def _finding(note: Note) -> dict[str, Any]:
    return {"file": note.file, "line": note.line, "what": note.what, "severity": note.severity}


def _count(notes: Sequence[Note], severity: str) -> int:
    return sum(note.severity == severity for note in notes)


def _say_json(data: dict[str, Any]) -> None:
    console.say(json.dumps(data, ensure_ascii=False))


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns within 80; a long list of needs and a long name are cut."""
    widths = [min(_WIDEST, max(len(row[n]) for row in rows)) for n in range(len(rows[0]) - 1)]
    room = _WIDTH - sum(widths) - 2 * len(widths)
    return [
        "  ".join(
            [*(_fit(cell, width) for cell, width in zip(row, widths, strict=False)), _fit(row[-1], room)]
        ).rstrip()
        for row in rows
    ]


def _fit(text: str, width: int) -> str:
    """Exactly so many columns; letters of East Asian scripts take two."""
    shown = clean(text)
    if _columns(shown) > width:
        while _columns(shown) > width - 3:
            shown = shown[:-1]
        shown = f"{shown.rstrip()}..."
    return shown + " " * (width - _columns(shown))


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in _WIDE else 1 for letter in text)
