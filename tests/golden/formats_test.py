"""What is stored, sent and printed has the names it always had: every stored class against a committed instance of it."""

import ast
import importlib
import json
import pkgutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import msgspec
import pytest

import autopilot
from autopilot.agents import exec_agent, scripted, transcripts
from autopilot.agents.accounts import homes
from autopilot.app.consent import TrustStanding
from autopilot.app.consult import open_questions
from autopilot.authority import seal
from autopilot.authority.grants import Grant
from autopilot.authority.trust import TrustBook
from autopilot.domain.agent_call import ROLES, Call, schema_of
from autopilot.domain.codemap import Outline
from autopilot.domain.events import Event
from autopilot.domain.forecast import Forecast
from autopilot.domain.people import Said
from autopilot.domain.process import Try
from autopilot.domain.receipt import Recheck, Statement
from autopilot.domain.request import Check, RunEnd, VerdictEnd
from autopilot.domain.user_answers import Kept
from autopilot.domain.value import Tagged, tag_of
from autopilot.engine.close.postmortem import Postmortem
from autopilot.engine.close.postmortem import Span as TraceLine
from autopilot.evidence.visual.capture import Measures, PageSeen, Visit
from autopilot.journal.codec import decode, encode
from autopilot.journal.lock import Owner
from autopilot.planning.config.user_config import UserChoices
from autopilot.planning.edit.new_project import Answers
from autopilot.policy.deferral import Calibration
from autopilot.sandbox.keeper import held_calls as kept
from autopilot.sessions.files.loop_record import LoopRecord
from autopilot.sessions.files.open_loops import OpenLoop
from autopilot.sessions.learnings import Learning, Unlearned
from autopilot.sessions.machine import registry
from autopilot.state.picture import OpenPass, Picture
from autopilot.views.dashboard import actions as deeds
from autopilot.views.dashboard import followed_project as project
from autopilot.views.dashboard import phase_view as looking
from autopilot.views.dashboard import run_view as shown_run
from autopilot.views.dashboard import server
from autopilot.views.export.spans import Span
from autopilot.views.lines.overview import Overview
from autopilot.views.report.fact_list import Noticed
from autopilot.views.report.gantt import Timeline
from autopilot.views.report.phase_rows import PhaseSeen
from autopilot.views.report.scorecards import Scorecard
from autopilot.views.report.source import ReceiptSeen
from autopilot.views.report.spending import Spending
from autopilot.views.report.verdict_rows import Braked, Ruling, Used
from autopilot.workspace import clones
from autopilot.workspace import user_repository as user_repo
from autopilot.workspace.agent_git import history
from autopilot.workspace.dependencies import link as supplies
from autopilot.workspace.files import screenshots as album
from autopilot.workspace.files import written
from support import goldens
from support.filler import Struct, instances, structs_of, unions_of, varied

# Where what is stored goes. A class that is part of several is listed with the first.
STORED: dict[str, tuple[Any, ...]] = {
    "journal": (Event,),
    "journal, its place": (seal.Place,),
    "lock": (Owner,),
    "inbox": (Said,),
    "calibration": (Calibration,),
    "answers about phases": (Kept, open_questions.Paper, open_questions.Waiting),
    "post-mortem": (Postmortem,),
    "TRACE.jsonl": (TraceLine,),
    "receipt": (Statement,),
    "user's folder": (Grant, TrustBook),
    "user's config.toml": (UserChoices,),
    "init --from-file": (Answers,),
    "scripted agent": (scripted.Answer,),
    "agent's files": (transcripts.Transcript, homes.AccountRecord),
    "held calls": (kept.Paper, kept.End),
    "network": (Try,),
    "workspace": (clones.Laid, history.Held, supplies.Made, album.Ours, user_repo.Start, written.Line),
    "codemap": (Outline,),
    "browser": (Visit, PageSeen, Measures),
    "sessions": (LoopRecord, OpenLoop, registry.Entry, Learning, Unlearned),
    "--json": (RunEnd, VerdictEnd, Forecast, Overview, Check, Recheck, TrustStanding, Span),
    "report --json": (
        PhaseSeen, Scorecard, Noticed, Timeline, Spending, Used, Braked, Ruling, ReceiptSeen,
    ),
    "dashboard": (
        Picture, OpenPass, shown_run.RunHead, shown_run.LogLine, shown_run.OpenView, shown_run.Doing, shown_run.Spend,
        shown_run.Ahead, project.ProjectLine, project.RunLine, deeds.Question, deeds.Transcript, looking.CallView,
        looking.PartPage, looking.PassView, looking.PhaseView, server.VerdictGiven, server.AnswerGiven, server.Nothing,
    ),
}  # fmt: skip
EVERYTHING = tuple(root for roots in STORED.values() for root in roots)
CALLS = {"decode", "convert", "Decoder"}


@cache
def modules() -> tuple[tuple[ModuleType, ast.Module], ...]:
    return tuple(loaded())


def loaded() -> Iterator[tuple[ModuleType, ast.Module]]:
    for found in pkgutil.walk_packages(autopilot.__path__, f"{autopilot.__name__}."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            with open(str(module.__file__), encoding="utf-8") as file:  # noqa: PTH123 - its path is a text
                yield module, ast.parse(file.read())


def calls() -> Iterator[tuple[ModuleType, ast.Call]]:
    for module, tree in modules():
        yield from ((module, node) for node in ast.walk(tree) if isinstance(node, ast.Call))


@cache
def questions() -> dict[str, dict[str, Any]]:
    """The answer that each role is asked for, as the code asks: `Question(role=..., answer=...)`."""
    found: dict[str, dict[str, Any]] = {}
    for module, call in calls():
        said = {word.arg: word.value for word in call.keywords}
        role, answer = said.get("role"), said.get("answer")
        if isinstance(role, ast.Constant) and isinstance(answer, ast.Name) and role.value in ROLES:
            found.setdefault(role.value, {})[answer.id] = getattr(module, answer.id)
    return found


def formats() -> Iterator[str]:
    known = set[Struct]()
    for place, roots in STORED.items():
        for kind in (one for one in structs_of(*roots) if one not in known):
            known.add(kind)
            yield from lines(place, kind)
    for call in instances(Call):
        assert isinstance(call, Call)
        yield line("exec protocol", Call, exec_agent.document(call))


def lines(place: str, kind: Struct) -> Iterator[str]:
    """One whole instance, and then only those fields that have other forms as well."""
    first, *others = (msgspec.json.decode(msgspec.json.encode(made)) for made in instances(kind))
    yield line(place, kind, first)
    for other in others:
        yield line(place, kind, {name: value for name, value in other.items() if name in varied(kind)})


def line(place: str, kind: Struct, made: Any) -> str:
    return msgspec.json.encode({"place": place, "class": kind.__name__, "json": made}).decode()


def laid_out(text: str) -> list[str]:
    """Their order is that of their names, and so says nothing where a name has changed."""
    return [row for one in sorted(text.splitlines()) for row in json.dumps(json.loads(one), indent=1).splitlines()]


def test_every_stored_class_is_written_as_it_always_was() -> None:
    goldens.check("formats.jsonl", "".join(f"{one}\n" for one in formats()), laid_out)


def test_the_schemas_that_agents_are_sent_are_those_they_always_were() -> None:
    found = {
        role: {name: schema_of(answer) for name, answer in sorted(answers.items())}
        for role, answers in sorted(questions().items())
    }

    goldens.check("schemas.json", json.dumps(found, indent=1) + "\n")


def test_every_role_that_is_asked_has_a_schema() -> None:
    """`extract` is nobody's step yet."""
    assert set(ROLES) - questions().keys() == {"extract"}


@pytest.mark.parametrize("kind", structs_of(Event), ids=lambda kind: kind.__name__)
def test_what_the_journal_keeps_is_read_as_it_was_written(kind: Struct) -> None:
    for made in instances(kind):
        assert msgspec.json.decode(msgspec.json.encode(made), type=kind) == made
        if isinstance(made, Event):
            assert decode(encode(made), 0) == made


def test_every_class_that_shares_a_union_has_a_tag_of_its_own() -> None:
    unions = list(unions_of(*EVERYTHING))
    nameless = {kind.__name__ for union in unions for kind in union if kind.__struct_config__.tag is None}
    twice = [
        (tag, [kind.__name__ for kind in union])
        for union in unions
        for tag, count in Counter(kind.__struct_config__.tag for kind in union).items()
        if count > 1
    ]

    assert max(len(union) for union in unions) > 15  # the events themselves
    assert (nameless, twice) == (set(), [])


def test_every_tagged_class_is_stored_and_says_its_kind() -> None:
    """A tagged class that no list above reaches would be stored without a net."""
    tagged = [kind for kind in structs_of(*EVERYTHING) if issubclass(kind, Tagged)]

    assert modules()  # so that every class there is is known
    assert {kind.__name__ for kind in below(Tagged)} == {kind.__name__ for kind in tagged}
    for kind in tagged:
        made = next(instances(kind))
        assert isinstance(made, Tagged)
        assert msgspec.to_builtins(made)["kind"] == tag_of(made) != ""


def below(kind: Struct) -> set[Struct]:
    return {one for child in kind.__subclasses__() for one in (child, *below(child))}


def test_whatever_is_read_back_is_in_the_net() -> None:
    """Every class that some code decodes into is among those above: a new file format cannot be forgotten."""
    known = set(structs_of(*EVERYTHING))
    read = {
        kind: module.__name__
        for module, call in calls()
        if isinstance(call.func, ast.Attribute) and call.func.attr in CALLS
        for node in (*call.args[-1:], *(word.value for word in call.keywords if word.arg == "type"))
        if isinstance(kind := resolved(module, node), type) and issubclass(kind, msgspec.Struct)
    }

    assert len(read) > 25
    assert {kind.__name__: module for kind, module in read.items() if kind not in known} == {}


def resolved(module: ModuleType, node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name):
            return getattr(module, name, None)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return getattr(getattr(module, owner, None), name, None)
    return None
