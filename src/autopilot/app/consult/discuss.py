"""Discusses phases with the user, one question at a time (DISC)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.answers import TALK_CATEGORIES, AreaQuestion, FollowUpClaim, GrayArea, GrayAreasClaim
from autopilot.domain.attempt import Brief
from autopilot.domain.errors import NoAnswer, RepositoryInvalid
from autopilot.domain.people import YOU_DECIDE, Asked, idea_in, meant, picked
from autopilot.domain.user_answers import UserAnswer, with_phase
from autopilot.engine.perform.consultation import Consultation
from autopilot.journal.answer_files import AskedFile
from autopilot.planning.plan.folders import own_file
from autopilot.planning.start.context_md import Talk, context_md
from autopilot.steps.interview import follow_up, gray_areas
from autopilot.workspace.files.beneath import Refused, opened, read_regular, write_atomic
from autopilot.workspace.git import storage_errors

NAME = "CONTEXT.md"


@dataclass(frozen=True, slots=True)
class ContextFile:
    root: Path

    def write(self, folder: str, phase: str, talk: Talk) -> str:
        """The file's path: the user's own `03-CONTEXT.md` if there is one. It is on disk when this returns."""
        place = self.root / folder
        names = [each.name for each in place.iterdir()] if place.is_dir() else []
        path = f"{folder}/{own_file(names, phase, NAME) or NAME}"
        with storage_errors("writing to .planning"), opened(self.root) as top:
            write_atomic(top, path, context_md(talk, self.read(path)).encode("utf-8", "replace"))
        return path

    def read(self, path: str) -> str | None:
        try:
            with opened(self.root) as top:
                return read_regular(top, path).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Refused as refusal:
            raise RepositoryInvalid(
                f"{path} is not read: {refusal}.",
                why="It holds what was decided about the phase; planning files are read and written as plain files.",
                do="Put the file itself in its place.",
            ) from refusal


ROUND, MOST_ROUNDS, MOST_FOLLOW_UPS = 4, 5, 3
MORE, CREATE = "More questions", "Create context"
DEFERRAL = (
    "{idea} sounds like a new capability -- that belongs in its own phase.\n"
    "I'll note it in Deferred Ideas so it's not lost."
)


@dataclass(slots=True)
class Notes:
    """
    What one phase's discussion has brought so far. `settled` are answers of earlier ones, by area and question.

    `visited` are the areas that questions were asked about, `talked` those of them that got an answer.
    `numbers` counts the questions asked about an area and `calls` the follow-ups, so that each has a name of its own;
    `free` counts the answers in the person's own words that nobody has looked at yet.
    """

    brief: Brief
    areas: tuple[GrayArea, ...]
    claim: GrayAreasClaim
    settled: Mapping[tuple[str, str], str]
    visited: set[str] = field(default_factory=set)
    talked: list[str] = field(default_factory=list)
    answers: list[UserAnswer] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    free: int = 0
    asked: int = 0
    calls: int = 0
    ideas: list[str] = field(default_factory=list)
    deferred: list[str] = field(default_factory=list)

    @property
    def phase(self) -> str:
        return self.brief.phase.id

    def heard(self, answer: UserAnswer) -> None:
        """An area counts as discussed once one of its questions has an answer."""
        self.answers.append(answer)
        if answer.area not in self.talked:
            self.talked.append(answer.area)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discussed:
    """`details` are by phase, of those that were discussed; `waiting` is what nobody answered."""

    details: Mapping[str, Mapping[str, Any]]
    waiting: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Discussion:
    """One sitting: what is said is in the journal at once, and in the files that outlive it."""

    sitting: Consultation
    file: AskedFile
    paper: ContextFile

    def run(self, briefs: Sequence[Brief]) -> Discussed:
        """Agents look at every phase first, so that the person is not kept waiting between them."""
        begun = [notes for brief in briefs if (notes := self._begin(brief))]
        details: dict[str, Mapping[str, Any]] = {}
        waiting: list[Mapping[str, Any]] = []
        for notes in begun:
            if self._talk(notes):
                details[notes.phase] = self._finish(notes)
            else:
                waiting += _waiting(notes)
        return Discussed(details=details, waiting=waiting)

    def _begin(self, brief: Brief) -> Notes | None:
        phase = brief.phase
        kept = self.file.read().phase(phase.id).questions
        # Only what an earlier sitting settled: this one's answers must not change what this one asked.
        answered = [
            UserAnswer(question=q.question, answer=q.answer, area=q.area)
            for q in kept
            if q.answer and self.sitting.heard(_place(phase.id, q.area, q.question)) is None
        ]
        self.sitting.person.tell(f"Phase {phase.id}: asking an agent what is worth talking about...")
        try:
            claim = self.sitting.agent(brief, "gray_areas", 1, lambda record: gray_areas.question(record, answered))
        except NoAnswer as silence:
            self.sitting.person.tell(f"Phase {phase.id}: no gray areas could be had: {silence.detail[:200]}")
            return None
        areas = gray_areas.usable(claim)
        if not areas:
            self.sitting.person.tell(f"Phase {phase.id}: nothing in it is worth talking about.")
            return None
        settled = {(answer.area, answer.question): answer.answer for answer in answered}
        return Notes(brief=brief, areas=areas, claim=claim, settled=settled)

    def _talk(self, notes: Notes) -> bool:
        """False when nobody said what to talk about."""
        chosen = self._chosen(notes)
        if chosen is None:
            return False
        for number in chosen:
            self._area(notes, notes.areas[number - 1])
        if notes.talked or notes.deferred:
            self._close(notes)
        return True

    def _chosen(self, notes: Notes) -> tuple[int, ...] | None:
        """DISC-05. What names no area is asked for again; an empty line passes over the phase."""
        asked = _selection(notes)
        for turn in range(MOST_ROUNDS):
            said = self._say(notes, msgspec.structs.replace(asked, key=f"{asked.key}/{turn}"))
            if said is None:
                return None
            numbers = picked(said, len(notes.areas))
            if numbers or not said.strip():
                return numbers
            self.sitting.person.tell(
                f"{said.strip()!r} names none of the areas; leave the line empty to talk about none."
            )
        return ()

    def _area(self, notes: Notes, area: GrayArea) -> None:
        """DISC-06 and its successor: one question at a time; after every four the person says whether to go deeper."""
        notes.visited.add(area.area)
        queue = list(area.questions[:ROUND])
        for turn in range(MOST_ROUNDS):
            for question in queue:
                self._question(notes, area, question)
            if turn == MOST_ROUNDS - 1 or not self._deeper(notes, area):
                return
            queue = self._more(notes, area)
            if not queue:
                return

    def _question(self, notes: Notes, area: GrayArea, question: AreaQuestion) -> None:
        number = notes.numbers[area.area] = notes.numbers.get(area.area, 0) + 1
        settled = notes.settled.get((area.area, question.question))
        if settled:
            notes.heard(UserAnswer(question=question.question, answer=settled, area=area.area))
            return
        text = f"{area.area}: Question {number}\n{question.question}"
        options = (*question.options[:ROUND], YOU_DECIDE)
        asked = Asked(
            key=_place(notes.phase, area.area, question.question),
            phase=notes.phase,
            text=text,
            options=options,
            area=area.area,
            number=number,
        )
        notes.asked += 1
        said = self._say(notes, asked)
        answer = meant(asked, said) if said else ""
        if answer:
            notes.free += answer not in options
            notes.heard(UserAnswer(question=question.question, answer=answer, area=area.area))
        self._keep(notes, question, area.area, answer)

    def _say(self, notes: Notes, asked: Asked) -> str | None:
        """DISC-11: an idea for another phase is put by, and the question asked again."""
        turn = 0
        while True:
            key = f"{asked.key}#{turn}" if turn else asked.key
            said = self.sitting.ask(msgspec.structs.replace(asked, key=key))
            idea = idea_in(said or "")
            if not idea:
                return said
            turn += 1
            back = f"\n\nBack to {asked.area}: {asked.text.splitlines()[-1]}" if asked.area else ""
            self._defer(notes, idea, back)

    def _defer(self, notes: Notes, idea: str, back: str = "") -> None:
        if idea not in notes.deferred:
            notes.deferred.append(idea)
            self.sitting.person.tell(DEFERRAL.format(idea=idea) + back)

    def _deeper(self, notes: Notes, area: GrayArea) -> bool:
        asked = Asked(
            key=f"{notes.phase}/{area.area}/depth/{notes.numbers.get(area.area, 0)}",
            phase=notes.phase,
            kind="depth",
            text=f"More questions about {area.area}, or move to next area?",
            options=(MORE, "Next area"),
            area=area.area,
        )
        said = self._say(notes, asked)
        return meant(asked, said or "").casefold() in {MORE.casefold(), "more"}

    def _more(self, notes: Notes, area: GrayArea) -> list[AreaQuestion]:
        claim = self._follow_up(notes, area.area)
        known = {answer.question for answer in notes.answers}
        return [q for q in claim.asked if q.question.strip() and q.question not in known][:MOST_FOLLOW_UPS]

    def _follow_up(self, notes: Notes, area: str) -> FollowUpClaim:
        """Without an area: what the answers hold beside decisions."""
        notes.calls += 1
        told = tuple(notes.answers)
        try:
            claim = self.sitting.agent(
                notes.brief,
                "follow_up",
                notes.calls,
                lambda record: follow_up.deeper(record, area, told) if area else follow_up.closing(record, told),
            )
        except NoAnswer as silence:
            self.sitting.person.tell(f"Phase {notes.phase}: no follow-up could be had: {silence.detail[:200]}")
            return FollowUpClaim()
        for idea in claim.deferred_ideas:
            self._defer(notes, idea)
        notes.ideas += [idea for idea in claim.specific_ideas if idea not in notes.ideas]
        return claim

    def _close(self, notes: Notes) -> None:
        """DISC-07. Words of the person's own may hold more than a decision: somebody looks at them once."""
        for turn in range(MOST_ROUNDS):
            if notes.free:
                notes.free = 0
                self._follow_up(notes, "")
            asked = Asked(
                key=f"{notes.phase}/closing/{turn}",
                phase=notes.phase,
                kind="closing",
                text=f"That covers {', '.join(notes.talked) or 'nothing'}. Ready to create context?",
                options=(CREATE, "Revisit an area"),
            )
            said = self._say(notes, asked)
            if said is None or meant(asked, said).casefold() in {CREATE.casefold(), "", "yes", "y"}:
                return
            self._revisit(notes, turn)

    def _revisit(self, notes: Notes, turn: int) -> None:
        asked = Asked(
            key=f"{notes.phase}/revisit/{turn}",
            phase=notes.phase,
            kind="revisit",
            text="Which area?\n" + "\n".join(f"{n}. {area.area}" for n, area in enumerate(notes.areas, 1)),
        )
        for number in picked(self._say(notes, asked) or "", len(notes.areas)):
            area = notes.areas[number - 1]
            asked_before = area.area in notes.visited
            fresh = tuple(self._more(notes, area)) if asked_before else area.sample_questions
            self._area(notes, GrayArea(area=area.area, description=area.description, sample_questions=fresh))

    def _keep(self, notes: Notes, question: AreaQuestion, area: str, answer: str) -> None:
        now, category = self.sitting.clock.now(), question.category
        kept = {
            "question": question.question,
            "area": area,
            "category": category if category in TALK_CATEGORIES else TALK_CATEGORIES[1],
            "answer": answer or None,
            "answered_at": now if answer else None,
        }
        changes = {"phase_name": notes.brief.phase.name}
        self.file.update(lambda paper: with_phase(paper, notes.phase, changes, [kept], now))

    def _finish(self, notes: Notes) -> dict[str, Any]:
        """DISC-08, DISC-09."""
        now, phase = self.sitting.clock.now(), notes.brief.phase
        counts = {"phase_id": phase.id, "questions_asked": notes.asked, "questions_answered": len(notes.answers)}
        if not notes.talked and not notes.deferred:
            return counts
        talk = Talk(
            phase=phase.id,
            name=phase.name,
            date=now[:10],
            boundary=notes.claim.domain_description or phase.goal or phase.name,
            decisions=notes.answers,
            ideas=notes.ideas,
            deferred=notes.deferred,
        )
        path = self.paper.write(notes.brief.dir, notes.brief.phase.id, talk)
        before = self.file.read().phase(phase.id).questions
        areas = dict.fromkeys([*(q.area for q in before if q.answer and q.area), *notes.talked])
        changes = {
            "phase_name": phase.name,
            "gray_areas_discussed": list(areas),
            "context_md_path": path,
            "discussed_at": now,
        }
        self.file.update(lambda paper: with_phase(paper, phase.id, changes, (), now))
        self.sitting.person.tell(f"Written: {path}")
        return counts


def _place(phase: str, area: str, question: str) -> str:
    return f"{phase}/{area}/{question}"


def _selection(notes: Notes) -> Asked:
    """DISC-04."""
    phase = notes.brief.phase
    lines = [
        f"Pre-Execution Discussion: Phase {phase.id} -- {phase.name}",
        "",
        f"Domain: {notes.claim.domain_description}",
        "We'll clarify HOW to implement this. (New capabilities belong in other phases.)",
        "",
        "Which areas do you want to discuss?",
        "",
        *(f"{n}. {area.area} -- {area.description}" for n, area in enumerate(notes.areas, 1)),
        "",
        '(Enter numbers separated by commas, e.g., "1, 3" -- or "all" to discuss everything)',
    ]
    return Asked(
        key=f"{phase.id}/areas", phase=phase.id, kind="areas", text="\n".join(lines),
        options=tuple(area.area for area in notes.areas),
    )  # fmt: skip


def _waiting(notes: Notes) -> list[dict[str, Any]]:
    areas = {"kind": "areas", "phase": notes.phase, "areas": [area.area for area in notes.areas]}
    return [
        areas,
        *(
            {
                "kind": "discuss",
                "phase": notes.phase,
                "area": area.area,
                "number": n,
                "question": question.question,
                "options": [*question.options[:ROUND], YOU_DECIDE],
            }
            for area in notes.areas
            for n, question in enumerate(area.questions[:ROUND], 1)
        ),
    ]
