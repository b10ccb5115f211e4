"""What reports are made of, told by hand: one run of two phases, and the same with payloads in every word of it."""

from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

import msgspec

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event, PhaseFinished, PhaseStarted, RunFinished, RunResumed, RunStopped
from autopilot.domain.evidence import CommandRun, Finding, Usage
from autopilot.domain.results import Executed
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.views.report.source import Told
from support.records import SPEC, Story, brief, phase, plan, ran, started, work

DAY = "2026-01-01T"
PAYLOADS = (
    "<script>window.hit = 1</script>", "</style><script>window.hit = 2</script>", "<img src=x onerror='window.hit=3'>",
    '"><svg onload=window.hit=4>', "javascript:window.hit=5", "' onmouseover='window.hit=6", "<!--", "]]>", "</title>",
    "\u202egpj.exe\u202c", "\x1b]0;title\x07\x1b[31mred", "a\x00b", "{{7*7}}", "<a href=http://127.0.0.1:9/>x</a>",
    "<link rel=stylesheet href=http://127.0.0.1:9/a.css>", "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<base href=http://127.0.0.1:9/>", "<iframe src=http://127.0.0.1:9/></iframe>",
)  # fmt: skip
HOSTILE = " ".join(PAYLOADS)
SECRET = "ghp_" + "a1" * 18


def clock(minute: int, second: int = 0) -> str:
    return f"{DAY}{12 + minute // 60:02}:{minute % 60:02}:{second:02}.000Z"


def run_record(*told: tuple[str, Event]) -> RunRecord:
    return RunRecord(entries=tuple(Entry(number=n, at=at, event=event) for n, (at, event) in enumerate(told)))


def at_minutes(record: PhaseRecord, first: int, seconds: int = 5) -> PhaseRecord:
    """The pass with its entries so many seconds apart from that minute on."""
    moved = (msgspec.structs.replace(e, at=clock(first, n * seconds)) for n, e in enumerate(record.entries))
    return msgspec.structs.replace(record, entries=tuple(moved))


def one_pass(score: float = 9.4, **more: Any) -> PhaseRecord:
    """A whole pass whose every step is begun and ended."""
    story = Story(brief(phase=phase("1"), **more))
    made = Story(brief(phase=phase("1"), **more)).planned().executed().verified().judged().rated(score).record
    for done in made.finished:
        story.begin(done.step)
        story.tell(done)
    return story.record


def finished(name: str, score: float | None = 9.4, verdict: Any = None, **more: Any) -> PhaseFinished:
    fields: dict[str, Any] = {"status": "completed", "reason": "every gate passed", "commit": f"c{name}", **more}
    outcome = PhaseOutcome(phase=name, alignment_score=score, tasks_completed="1/1", **fields)
    return PhaseFinished(cycle=0, outcome=outcome, verdict=verdict or Advance())


def told_run(**more: Any) -> Told:
    """Phase 1 passed at its second pass after a stop in between; phase 2 failed; phase 3 was never begun."""
    begun = started(phase("1"), phase("2", "1"), phase("3", "1", "2"), model="sonnet")
    first, second = at_minutes(one_pass(8.0), 1, 1), at_minutes(one_pass(9.4, number=1), 40, 1)
    story = Story(brief(phase=phase("2", "1")))
    story.begin("execute").answer("c", role="execute", usage=Usage(input_tokens=900, output_tokens=100), seconds=3)
    forged = Finding(rule="test-deleted", where="tests/a.py:3", what="test_a is gone")
    bad = msgspec.structs.replace(work(passed=False), findings=(forged,))
    story.step("execute", Executed(work=bad), Stop(because="it cannot be mended"), "c2")
    run = run_record(
        (clock(0), begun),
        (clock(1), PhaseStarted(brief=first.brief)),
        (clock(2), finished("1", 8.0, Retry(step="execute", because="score 8.0 below threshold 9.0"))),
        (clock(3), RunStopped(exit_code=20, reason="so many dollars are spent", brake="usd_per_run", do="autopilot resume")),
        (clock(39), RunResumed(pid=1, spec=SPEC)),
        (clock(40), PhaseStarted(brief=second.brief)),
        (clock(41), finished("1")),
        (clock(42), PhaseStarted(brief=story.brief)),
        (clock(43), finished("2", None, Stop(because="it cannot be mended"), status="failed", reason="it cannot be mended")),
        (clock(44), RunFinished(status="failed", exit_code=10, reason="phase 2 failed")),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "run": run,
        "passes": {"1": (first, second), "2": (at_minutes(story.record, 42),)},
        "now": clock(50),
        **more,
    }
    return Told(**fields)


def waiting_run() -> Told:
    """Phase 1 waits for a person, and the run goes on no further."""
    record = at_minutes(one_pass(), 1, 1)
    asked = finished("1", verdict=AskHuman(question="Does it look right?"), status="needs_human_verification")
    run = run_record(
        (clock(0), started()),
        (clock(1), PhaseStarted(brief=record.brief)),
        (clock(2), asked),
        (clock(10), RunFinished(status="paused", exit_code=11, reason="phase 1 waits")),
    )
    return Told(run=run, passes={"1": (record,)}, now=clock(11))


def spoilt(value: Any, say: Callable[[str], str]) -> Any:
    """The same value with every text in it replaced, but for those that name its shape or a moment."""
    match value:
        case str():
            return value if value.startswith(DAY) else say(value)
        case dict():
            return {
                key: item if key in KEPT and isinstance(item, str) else spoilt(item, say) for key, item in value.items()
            }
        case list() | tuple():
            return [spoilt(item, say) for item in value]
    return value


KEPT = frozenset({
    "kind", "status", "type", "severity", "source", "form", "role", "outcome", "recommendation", "routing", "mode",
    "sandbox", "integration", "complexity", "expect", "step", "boot",
})  # fmt: skip


def retold(told: Told, say: Callable[[str], str]) -> Told:
    """Everything that anybody said in the run, said otherwise; who waits for whom stays."""
    names = {phase.id: say(phase.id) for phase in told.run.start.phases}

    def speak(text: str) -> str:
        return names.get(text) or say(text)

    def record(held: PhaseRecord) -> PhaseRecord:
        return msgspec.convert(spoilt(msgspec.to_builtins(held), speak), PhaseRecord)

    run = msgspec.convert(spoilt(msgspec.to_builtins(told.run), speak), RunRecord)
    passes = {names[name]: tuple(map(record, held)) for name, held in told.passes.items()}
    file = f"{HOSTILE}.py"
    diff = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@ {HOSTILE}\n+{HOSTILE}\n-{HOSTILE}\n"
    diffs = {("base", say("c1")): diff}
    return Told(run=run, passes=passes, now=told.now, learnings=HOSTILE, diffs=diffs, runs=told.runs)


class Seen(HTMLParser):
    """The page as a parser takes it: elements with their attributes, and the text of each kind of element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Mapping[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.unmatched: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "input", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unmatched.append(tag)

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in {"style", "script"}:
            self.text.append(data)

    def all(self, tag: str) -> list[Mapping[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def fact(**more: Any) -> CommandRun:
    return ran("SC-1", **more)


def long_story() -> Told:
    """One phase with a plan of its own, for reports of a single pass."""
    record = at_minutes(Story().planned(plan()).executed().verified().judged().rated().record, 1)
    run = run_record((clock(0), started()), (clock(1), PhaseStarted(brief=record.brief)), (clock(9), finished("1")))
    return Told(run=run, passes={"1": (record,)}, now=clock(10))
