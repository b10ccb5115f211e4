"""Looking into a phase: its passes with their steps and calls, and one call's texts, page by page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from autopilot.domain.events import AgentAnswered, AgentStarted, Entry, stream_of
from autopilot.domain.value import Value
from autopilot.state.picture import StepRow
from autopilot.state.picture_attempt import steps_of
from autopilot.text.clean import harmless
from autopilot.views.dashboard.actions import Deeds
from autopilot.views.dashboard.followed_project import Project

PAGE_LETTERS, MOST_PASSES, CALLS_KEPT = 40_000, 100, 4


class PassView(Value, frozen=True, kw_only=True):
    number: int
    steps: tuple[StepRow, ...]


class PhaseView(Value, frozen=True, kw_only=True):
    """`left_out` counts the oldest passes of a phase that has very many."""

    id: str
    name: str
    goal: str
    criteria: tuple[str, ...]
    passes: tuple[PassView, ...]
    left_out: int = 0


class PartPage(Value, frozen=True, kw_only=True):
    """A piece of one text, at most `size` letters; `next` is where the piece after it begins, None at the end."""

    title: str
    text: str
    offset: int
    total: int
    next: int | None
    size: int = PAGE_LETTERS


class CallView(Value, frozen=True, kw_only=True):
    """A call; `sizes` are the lengths of all its texts in letters, `page` the piece that was asked for."""

    call: str
    role: str
    outcome: str
    seconds: float | None
    sizes: dict[str, int]
    page: PartPage | None


@dataclass(slots=True)
class Looking:
    """Raises `StorageFailed` where the journal cannot be read; None is for what is not there."""

    deeds: Deeds
    redact: Callable[[str], str]
    _held: dict[tuple[str, ...], Mapping[str, str]] = field(default_factory=dict)

    def phase(self, project: Project, run: str, phase: str) -> PhaseView | None:
        shown = project.runs.get(run)
        row = shown.picture.row(phase) if shown else None
        if shown is None or row is None:
            return None
        described = shown.phases.get(phase)
        first = max(0, row.begun - MOST_PASSES)
        streams = ((number, stream_of(run, phase, number)) for number in range(first, row.begun))
        return PhaseView(
            id=phase,
            name=described.name if described else row.name,
            goal=described.goal if described else "",
            criteria=tuple(criterion.text for criterion in described.criteria) if described else (),
            passes=tuple(PassView(number=n, steps=steps_of(s, project.entries(s))) for n, s in streams),
            left_out=first,
        )

    def call(
        self, project: Project, stream: tuple[str, str, int], entry: int, asked: tuple[str, int]
    ) -> CallView | None:
        """The call at an entry of a pass (run, phase, number); `asked` is the text's title and where to begin."""
        run, phase, number = stream
        if self.known(project, run, phase, number) is None:
            return None
        entries = project.entries(stream_of(run, phase, number))
        event = entries[entry].event if 0 <= entry < len(entries) else None
        if isinstance(event, AgentStarted):
            return CallView(call=event.call, role=event.role, outcome="", seconds=None, sizes={}, page=None)
        if not isinstance(event, AgentAnswered):
            return None
        texts = self._texts(project, entries[entry], event)
        return CallView(
            call=event.call,
            role=event.role,
            outcome=event.outcome,
            seconds=round(event.seconds, 1),
            sizes={title: len(text) for title, text in texts.items()},
            page=_page(texts, *asked),
        )

    def known(self, project: Project, run: str, phase: str, number: int) -> str | None:
        """The stream of a pass that the journal has told of."""
        shown = project.runs.get(run)
        row = shown.picture.row(phase) if shown else None
        return stream_of(run, phase, number) if row and 0 <= number < row.begun else None

    def _texts(self, project: Project, entry: Entry, answer: AgentAnswered) -> Mapping[str, str]:
        """All texts of a call, without secrets. The last few are kept, since they are read page by page."""
        key = (project.id, entry.hash)
        if key not in self._held:
            told = {
                "answer": _pretty(answer.answer or ""),
                "said": answer.text,
                "commands": "\n".join(answer.commands),
                **self.deeds.transcript(project.folder, answer.call).parts,
            }
            texts = {title: harmless(self.redact(text)) for title, text in told.items() if text}
            while len(self._held) >= CALLS_KEPT:
                self._held.pop(next(iter(self._held)), None)
            self._held[key] = texts
        return self._held[key]


def _page(texts: Mapping[str, str], title: str, offset: int) -> PartPage | None:
    title = title or next(iter(texts), "")
    if title not in texts:
        return None
    text, offset = texts[title], max(0, offset)
    end = offset + PAGE_LETTERS
    return PartPage(
        title=title,
        text=text[offset:end],
        offset=offset,
        total=len(text),
        next=end if end < len(text) else None,
    )


def _pretty(answer: str) -> str:
    try:
        return msgspec.json.format(answer, indent=2)
    except (msgspec.DecodeError, RecursionError):
        return answer
