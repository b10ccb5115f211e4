"""Agents who ask and people who answer, before a run: written answers, and a person who says what a test tells them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autopilot.app import prepare as app
from autopilot.domain.events import AgentAnswered
from autopilot.domain.people import NOBODY, Asked, Batch, Given, HumanWord, Waiting
from autopilot.domain.phase import RoadmapChoice
from autopilot.domain.request import RunEnd, RunRequest
from autopilot.domain.settings import Modes
from autopilot.journal.sqlite import SqliteJournal
from support.runs import Drive


def questions(*asked: str, category: str = "requirements", **more: Any) -> dict[str, Any]:
    """The answer of a questioning agent."""
    told = [{"question": q, "category": category, "why_needed": "the roadmap does not say"} for q in asked]
    return {"role": "question", "result": {"questions": told, "estimated_score_after": 9}, **more}


def area(name: str, *asked: str, options: tuple[str, ...] = ("one way", "another way")) -> dict[str, Any]:
    told = [{"question": q, "options": list(options), "category": "preference"} for q in asked]
    return {"area": name, "description": f"how {name} is done", "sample_questions": told}


LETTER_AREAS = (
    area("Greeting of the letter", "Dear or hello?", "With a name?", options=("Dear", "Hello")),
    area("Length of letters", "One page or two?", "Cut off long ones?", options=("one page", "two pages")),
    area("Paper and envelope", "White or grey?", "With a stamp?", options=("white", "grey")),
)


def gray_areas(*areas: dict[str, Any], **more: Any) -> dict[str, Any]:
    result = {
        "domain": "READ",
        "domain_description": "A letter that people read",
        "gray_areas": list(areas or LETTER_AREAS),
    }
    return {"role": "gray_areas", "result": result, **more}


def follow_up(
    *asked: str, deferred: tuple[str, ...] = (), specific: tuple[str, ...] = (), **more: Any
) -> dict[str, Any]:
    told = [{"question": q, "options": ["yes", "no"], "category": "edge_case"} for q in asked]
    result = {"questions": told, "deferred_ideas": list(deferred), "specific_ideas": list(specific)}
    return {"role": "follow_up", "result": result, **more}


@dataclass
class SaidPerson:
    """Answers by what a question is about; what is not in `says` is passed over. Keeps what was asked and told."""

    says: Mapping[str, str | list[str]] = field(default_factory=dict)
    there: bool = True
    asked: list[Asked] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    leaves: str = ""

    def tell(self, text: str) -> None:
        self.told.append(text)

    def batch(self, batch: Batch) -> Iterator[Given]:
        self.batches.append(batch)
        for asked in batch.questions:
            answer = self._answer(asked)
            if answer:
                yield Given(key=asked.key, answer=answer)

    def ask(self, asked: Asked) -> str | None:
        self.asked.append(asked)
        return self._answer(asked) or {"depth": "b", "closing": "a"}.get(asked.kind, "")

    def _answer(self, asked: Asked) -> str:
        if self.leaves and self.leaves in asked.text:
            raise KeyboardInterrupt
        found = next((self.says[part] for part in self.says if part in asked.text), "")
        if isinstance(found, list):
            return found.pop(0) if found else ""
        return found

    def goes_on(self, reason: str) -> bool:
        return False

    def roadmap(self, phases: Sequence[str]) -> RoadmapChoice | None:
        return None

    def verdict(self, waiting: Waiting) -> tuple[HumanWord, tuple[str, ...]] | None:
        return None

    @property
    def texts(self) -> list[str]:
        return [asked.text.splitlines()[-1] for asked in self.asked if asked.kind == "question"]


def request(project: Drive, **more: Any) -> RunRequest:
    fields: dict[str, Any] = {
        "folder": str(project.root), "agent": f"scripted:{project.script}", "sandbox": "none", **more,
    }  # fmt: skip
    return RunRequest(**fields)


def mapping(project: Drive, person: SaidPerson | None = None, phases: str = "", **more: Any) -> RunEnd:
    """`autopilot map`."""
    return app.consult(request(project, modes=Modes(map=phases), **more), project.warnings.append, person or NOBODY)


def discussing(project: Drive, person: SaidPerson | None = None, phases: str = "", **more: Any) -> RunEnd:
    """`autopilot discuss`."""
    return app.consult(request(project, modes=Modes(discuss=phases), **more), project.warnings.append, person or NOBODY)


def calls(project: Drive) -> list[str]:
    """Every call of a sitting, as the journal has it, by `<phase>/<step>/<n>`."""
    journal = SqliteJournal.read_only(project.root / ".autopilot" / "journal.db")
    streams = [stream for stream in journal.streams() if stream.startswith("asking/")]
    found = [e.event.call for s in streams for e in journal.load(s) if isinstance(e.event, AgentAnswered)]
    return [call.partition("/")[2] for call in found]


def paper(project: Drive, name: str) -> dict[str, Any]:
    """A file below `.autopilot/`."""
    found: dict[str, Any] = json.loads(project.reads(f".autopilot/{name}"))
    return found
