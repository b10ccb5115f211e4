"""Which changes are shown, and a diff as markup: what was added and taken away, told by more than its colour."""

from collections.abc import Iterator
from itertools import groupby

from markupsafe import Markup

from autopilot.domain.evidence import Change
from autopilot.domain.results import Bumped, Debugged, Executed, Fixed, Mended
from autopilot.domain.value import Value
from autopilot.history.record import PhaseRecord
from autopilot.views.report.markup import Pen, el, joined, words
from autopilot.views.report.source import Told

MOST_DIFFS, MOST_LINES = 400, 20_000
_SIGNS = {"+": "ins", "-": "del"}


class Made(Value, frozen=True, kw_only=True):
    """The change one step made for one task."""

    phase: str
    step: str
    task: str
    change: Change

    @property
    def key(self) -> tuple[str, str]:
        return self.change.base, self.change.commit


def changes_of(record: PhaseRecord) -> Iterator[Made]:
    """Every step that changed a file."""
    for done in record.own_finished:
        match done.result:
            case Executed(work=work) | Fixed(work=work) | Debugged(work=work) | Mended(work=work):
                task, change = work.task, work.change
            case Bumped(change=Change() as change, version=version):
                task = f"version {version}"
            case _:
                continue
        if change.files:
            yield Made(phase=record.phase.id, step=done.step, task=task, change=change)


def wanted(told: Told) -> tuple[tuple[str, str], ...]:
    """What git is to be asked for: of each phase the pass it stands on first, and nothing huge."""
    counted = [record for phase in told.passes if (record := told.counted(phase))]
    known = {id(record) for record in counted}
    rest = [record for record in told.records if id(record) not in known]
    made = (one for record in (*counted, *rest) for one in changes_of(record))
    small = (one.key for one in made if one.change.added + one.change.removed <= MOST_LINES)
    return tuple(dict.fromkeys(small))[:MOST_DIFFS]


def diff_markup(text: str, pen: Pen, most: int) -> Markup:
    """Lines of a kind stand together, so that a long diff stays small."""
    lines = pen.cut(text, most).splitlines()
    groups = groupby(lines, key=_kind)
    return el("pre", joined(_group(kind, list(group)) for kind, group in groups), class_="diff", tabindex=0)


def _kind(line: str) -> str:
    if line.startswith(("+++", "---", "diff ", "index ", "@@", "new file", "deleted file")):
        return "b" if line.startswith(("diff ", "@@")) else "i"
    return _SIGNS.get(line[:1], "span")


def _group(kind: str, lines: list[str]) -> Markup:
    text = words("\n".join(lines) + "\n")
    return text if kind == "span" else el(kind, text)
