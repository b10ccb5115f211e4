"""The end of a run as it is told line by line."""

from typing import Any

import pytest

from autopilot.domain.answers import AuditOpinion, IntegrationOpinion
from autopilot.domain.events import CompletionFinished, Entry, Event, StepFinished
from autopilot.domain.results import Audited, Bumped, Gap, Integrated, Mended, SelfAudit, StepResult, Unanswered
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.views.lines.run_lines import Narrator
from support.records import RUN, TREE, work

GAP = Gap(requirement_id="A-1", phase_id="1", gap_description="not signed", fix_complexity="small")
SAID = AuditOpinion(audit_results=())
FINE = IntegrationOpinion(passed=True)


def audited(*gaps: Gap) -> StepFinished:
    return step("audit", Audited(commit="c", opinion=SAID, scope=("A-1", "B-2"), gaps=gaps))


def step(name: str, result: StepResult, verdict: Verdict | None = None) -> StepFinished:
    return StepFinished(step=name, n=1, commit="c", result=result, verdict=verdict or Advance())


def told(*events: Event) -> list[str]:
    narrator, stream = Narrator(), f"{RUN}/completion"
    entries = [Entry(number=n, at="2026-01-01T12:00:00.000Z", event=event) for n, event in enumerate(events)]
    last = [list(narrator.tell(RUN if isinstance(e.event, CompletionFinished) else stream, e)) for e in entries]
    return last[-1]


def mended(route: Any, verdict: Verdict) -> StepFinished:
    return step("gap_fix", Mended(gap=GAP, route=route, work=work(commit="0123456789")), verdict)


LEFT = SelfAudit(gaps_remaining=1, audit_cycles=2, fix_commits=("c",))


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        pytest.param([audited()], ["Self-audit: all 2 requirements passed. No gaps found."], id="AUDT-05"),
        pytest.param([audited(GAP)], ["Self-audit: A-1: not signed"], id="AUDT-06"),
        pytest.param(
            [mended("fix", Advance())],
            ["Self-audit: fixing small gap for A-1.", "Self-audit: A-1: 01234567"],
            id="AUDT-07",
        ),
        pytest.param(
            [mended("execute", Stop(because="broke it"))],
            ["Self-audit: routing large gap for A-1 to executor.", "Self-audit: A-1: set aside: broke it"],
            id="AUDT-08",
        ),
        pytest.param(
            [audited(GAP), audited()],
            ["Self-audit re-verification: all 1 gaps confirmed fixed."],
            id="AUDT-10 all closed",
        ),
        pytest.param(
            [CompletionFinished(commit="c", self_audit=LEFT)],
            ["Self-audit: 1 gaps could not be auto-fixed after 2 cycles. Reporting as remaining."],
            id="AUDT-10 some remain",
        ),
        pytest.param(
            [step("integration", Integrated(commit="c", tree=TREE, opinion=FINE), Stop(because="a.py:1"))],
            ["integration: fail (a.py:1)"],
            id="AMB-24",
        ),
        pytest.param(
            [step("audit", Unanswered(role="audit", outcome="timeout", detail=""), Retry(step="audit", because="x"))],
            ["No usable answer in audit (timeout)."],
            id="no answer",
        ),
        pytest.param([step("version", Bumped(version="1.5.0"))], [], id="a version is told at the end"),
        pytest.param(
            [CompletionFinished(commit="c", version="1.5.0")], ["Version bumped to 1.5.0."], id="VERS-01 bumped"
        ),
        pytest.param(
            [CompletionFinished(commit="c", note="VERSION is yours")],
            ["Version not bumped: VERSION is yours"],
            id="not bumped",
        ),
    ],
)
def test_each_thing_is_told_in_its_own_words(events: list[Event], lines: list[str]) -> None:
    assert told(*events) == lines
