"""The planning files of a new project, from a few answers or a short file."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid, UsageInvalid
from autopilot.domain.value import Value
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config.read_config import COMMANDS
from autopilot.planning.edit import draft as drafting
from autopilot.planning.roadmap import fields, markdown
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.roadmap.markdown import Document, plain

CONFIG, PROJECT, REQUIREMENTS = ".planning/config.json", ".planning/PROJECT.md", ".planning/REQUIREMENTS.md"
ROADMAP = ".planning/ROADMAP.md"
PATHS = (CONFIG, PROJECT, REQUIREMENTS, ROADMAP)
_LEAD = re.compile(r"phase\s+[\d.]+\s*[:.)\u2014\u2013-]*\s*", re.IGNORECASE)
_NAMED = re.compile(r"(?P<name>[^:]+?)(?::\s+| [-\u2013\u2014]{1,2} )(?P<goal>\S.*)$")
_MARKS = re.compile(r"[*_`|#<>\[\]]+")


class Beginning(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One phase to begin with. `depends` are numbers of others; None means the one before it."""

    name: str
    goal: str = ""
    depends: tuple[int, ...] | None = None
    criteria: tuple[str, ...] = ()


class Answers(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str = ""
    goal: str = ""
    phases: tuple[Beginning, ...] = ()


def read(content: bytes, path: str) -> Answers:
    """A TOML file with name, goal and [[phases]], or Markdown with a title, prose and a heading or item a phase."""
    text = markdown.decode(content)
    return _toml(text, path) if path.lower().endswith(".toml") else _markdown(markdown.read(text))


def phase(text: str) -> Beginning:
    """`Name: what it achieves`, or a sentence that gives its own name."""
    line = drafting.clean(text)
    found = _NAMED.match(line)
    if found:
        return Beginning(name=found["name"], goal=found["goal"])
    return Beginning(name=line if len(line.split()) <= drafting.MAX_WORDS else drafting.title(line), goal=line)


def files(answers: Answers, root_files: Mapping[str, str]) -> dict[str, bytes]:
    """What to write, the roadmap last: it is what makes a project. Raises when an answer is missing or unusable."""
    ready = _complete(answers)
    texts = {
        CONFIG: _config(root_files),
        PROJECT: _project(ready),
        REQUIREMENTS: _requirements(ready),
        ROADMAP: _roadmap(ready),
    }
    _check(ready, texts[ROADMAP])
    return {path: text.encode() for path, text in texts.items()}


def _toml(text: str, path: str) -> Answers:
    try:
        data = tomllib.loads(text)
        return msgspec.convert(_phases_named(data), Answers)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise ConfigInvalid(
            f"{path} cannot be read: {error}.",
            why="The project would start from something else than you wrote.",
            do='Write name = "...", goal = "..." and for each phase [[phases]] with name, goal, criteria = ["..."].',
        ) from error


def _phases_named(data: dict[str, Any]) -> dict[str, Any]:
    """`[[phase]]` is as good as `[[phases]]`."""
    return {("phases" if key == "phase" else key): value for key, value in data.items()}


def _markdown(document: Document) -> Answers:
    top = next((h for h in document.headings if h.level == 1), None)
    below = [h for h in document.headings if h.level > 1]
    start = top.line if top else 0
    intro = document.lines[start : below[0].line - 1 if below else len(document.lines)]
    ends = [*(h.line - 1 for h in below), len(document.lines)][1:]
    begun = [
        _beginning(h.text, document.lines[h.line : end])
        for h, end in zip(below, ends, strict=True)
        if h.text.strip().lower() not in {"phases", "goal", "overview"}
    ]
    listed = [
        phase(_LEAD.sub("", plain(text), count=1)) for _, text in fields.items(enumerate(document.lines, start=1))
    ]
    prose = intro if _prose(intro) or not below else document.lines[below[0].line : ends[0]]
    name = re.sub(r"^(?:roadmap|project)\s*:\s*", "", plain(top.text), flags=re.IGNORECASE) if top else ""
    return Answers(name=name, goal=_prose(prose), phases=tuple(begun) or tuple(listed))


def _beginning(heading: str, lines: Sequence[str]) -> Beginning:
    name = _LEAD.sub("", plain(heading), count=1)
    goal = re.sub(r"^goal\s*:\s*", "", _prose(lines), flags=re.IGNORECASE)
    listed = fields.items(enumerate(lines, start=1))
    return Beginning(name=name, goal=goal, criteria=tuple(text for _, text in listed))


def _prose(lines: Sequence[str]) -> str:
    """What stands before the first list item or heading."""
    kept: list[str] = []
    for line in lines:
        if re.match(r"\s*(?:[-*+]|\d{1,4}[.)])\s|#", line):
            break
        kept.append(line)
    return plain(" ".join(kept))


def _complete(answers: Answers) -> Answers:
    missing = [what for what in ("name", "goal", "phases") if not getattr(answers, what)]
    if missing:
        raise UsageInvalid(
            f"The project has no {' and no '.join(missing)} yet.",
            why="A roadmap needs to know what is to be reached, and in which phases.",
            do='Give them in a file (--from-file), or with --name, --goal and --phase "Name: what it achieves".',
        )
    count = len(answers.phases)
    begun = [_tidy(one, number, count) for number, one in enumerate(answers.phases, start=1)]
    return Answers(name=_name(answers.name), goal=drafting.clean(answers.goal), phases=tuple(begun))


def _tidy(one: Beginning, number: int, count: int) -> Beginning:
    depends = one.depends if one.depends is not None else ((number - 1,) if number > 1 else ())
    strange = [need for need in depends if need == number or not 1 <= need <= count]
    if strange:
        raise UsageInvalid(
            f"Phase {number} cannot depend on phase {strange[0]}.",
            why=f"There are phases 1 to {count}, and none may wait for itself.",
            do="Correct its `depends`.",
        )
    return Beginning(
        name=_name(one.name),
        goal=drafting.clean(one.goal or one.name),
        depends=tuple(dict.fromkeys(depends)),
        criteria=tuple(drafting.checkable(text) for text in one.criteria),
    )


def _name(text: str) -> str:
    return " ".join(_MARKS.sub(" ", drafting.clean(text)).split())


def _config(root_files: Mapping[str, str]) -> str:
    found = detect.detect(root_files)
    project = {
        "type": found.type,
        "manifest": found.manifest,
        "commands": {name: getattr(found.commands, name) for name in COMMANDS},
        "commands_source": dict.fromkeys(COMMANDS, "auto-detected"),
    }
    return json.dumps({"project": project}, indent=2, ensure_ascii=False) + "\n"


def _project(answers: Answers) -> str:
    active = [f"- [ ] {one.goal}" for one in answers.phases]
    lines = [f"# {answers.name}", "", "## What This Is", "", answers.goal, "", "## Requirements", ""]
    return "\n".join([*lines, "### Active", "", *active, ""])


def _requirements(answers: Answers) -> str:
    stated = [f"- [ ] **REQ-{number:02}**: {one.goal}" for number, one in enumerate(answers.phases, start=1)]
    traced = [f"| REQ-{number:02} | Phase {number} | Pending |" for number in range(1, len(stated) + 1)]
    head = ["## Traceability", "", "| Requirement | Phase | Status |", "|---|---|---|"]
    return "\n".join([f"# Requirements: {answers.name}", "", *stated, "", *head, *traced, ""])


def _roadmap(answers: Answers) -> str:
    numbered = list(enumerate(answers.phases, start=1))
    listed = [f"- [ ] **Phase {number}: {one.name}** - {one.goal}" for number, one in numbered]
    details = [line for number, one in numbered for line in _section(number, one)]
    rows = [f"| {number}. {one.name} | 0/TBD | Not started | - |" for number, one in numbered]
    table = ["| Phase | Plans Complete | Status | Completed |", "|-------|----------------|--------|-----------|"]
    top = [f"# Roadmap: {answers.name}", "", "## Overview", "", answers.goal, "", "## Phases", ""]
    return "\n".join([*top, *listed, "", "## Phase Details", "", *details, "## Progress", "", *table, *rows, ""])


def _section(number: int, one: Beginning) -> list[str]:
    needs = ", ".join(f"Phase {need}" for need in one.depends or ()) or "Nothing"
    lines = [f"### Phase {number}: {one.name}", f"**Goal**: {one.goal}", f"**Depends on**: {needs}"]
    lines.append(f"**Requirements**: REQ-{number:02}")
    if one.criteria:
        lines.append("**Success Criteria** (what must be TRUE):")
        lines += [f"  {at}. {text}" for at, text in enumerate(one.criteria, start=1)]
    return [*lines, ""]


def _check(answers: Answers, text: str) -> None:
    """What is written reads back as what was answered, without an error."""
    read_back = roadmap.read(text, ROADMAP)
    wrong = next((note.what for note in read_back.notes if note.severity == "error"), "")
    names = [one.name for one in read_back.phases]
    odd = next((one.name for one, name in zip(answers.phases, names, strict=False) if one.name != name), "")
    if len(names) != len(answers.phases) or odd or not all(one.name for one in answers.phases):
        wrong = f"a phase named {odd!r} would not be read back as that"
    if wrong:
        raise RoadmapInvalid(
            f"These phases make no roadmap that can be run: {wrong}.",
            why="Nothing was written.",
            do="Correct the phases and try again.",
        )
