"""Which way through the pipeline: all of it, from an existing plan, or only the checks?"""

from autopilot.domain.results import Triaged
from autopilot.domain.verdict import Advance, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule
from autopilot.history.record import PhaseRecord


class TriageFacts(Facts, frozen=True, kw_only=True):
    remediation: bool
    verify_only: bool
    has_plan: bool
    skip_research: bool
    accepted: bool = False
    researched: bool = False
    pass_ratio: float = 0.0
    debugging: bool = False
    checks: int = 0


def gather(record: PhaseRecord) -> Evidence[TriageFacts, Opinions, Claims]:
    triaged, brief = record.latest(Triaged), record.brief
    facts = TriageFacts(
        remediation=brief.cycle > 0,
        verify_only=triaged.routing == "verify_only",
        has_plan=brief.plan is not None,
        skip_research=brief.skip_research,
        accepted=brief.is_promised,
        researched=bool(brief.research),
        pass_ratio=triaged.pass_ratio,
        debugging=brief.mode == "debug",
        checks=len(triaged.checks),
    )
    return Evidence(facts, Opinions(), Claims())


def mend(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="execute", because="remediation")


def carry_out(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="execute", because="the plan was accepted before")


def unseen(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Stop(because="every check passes already, so none shows the problem; name one that fails with --check")


def debug(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="verify", because="debugging what the user reported")


def verify(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="verify", because=f"{f.pass_ratio:.0%} of the criteria already hold")


def check_plan(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="plan_check", because="existing plan")


def plan(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="plan", because="research is switched off")


def plan_from_research(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="plan", because="existing research")


def research(f: TriageFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_triage",
    question="Which way through the pipeline?",
    gather=gather,
    rules=(
        Rule("this pass mends an earlier one", lambda f, o, c: f.remediation, mend),
        Rule("an earlier pass had the plan accepted", lambda f, o, c: f.accepted, carry_out),
        Rule("the user reported a problem that no check shows",
             lambda f, o, c: f.debugging and f.pass_ratio == 1, unseen),
        Rule("the user reported a problem", lambda f, o, c: f.debugging and f.checks > 0, debug),
        Rule("the criteria already hold", lambda f, o, c: f.verify_only, verify),
        Rule("the user brought a plan", lambda f, o, c: f.has_plan, check_plan),
        Rule("research is switched off", lambda f, o, c: f.skip_research, plan),
        Rule("the user brought research", lambda f, o, c: f.researched, plan_from_research),
        Rule("otherwise", lambda f, o, c: True, research),
    ),
    kinds=(TriageFacts, Opinions, Claims),
)  # fmt: skip
