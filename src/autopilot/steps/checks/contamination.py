"""Whether a reviewer repeats what another role concluded: phrases looked for in the fields that must be its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from autopilot.domain.agent_call import Objection

WINDOW = 20
WARNING = (
    "Your last answer refers to what another agent concluded ('{phrase}' in {field}). Judge only by what you read and "
    "run yourself, and answer again without referring to anybody's report."
)


def _said(who: str, *verbs: str) -> tuple[str, ...]:
    return tuple(f"{who} {verb}" for verb in verbs)


def _owned(who: str, *things: str) -> tuple[str, ...]:
    return tuple(f"{who}'s {thing}" for thing in things)


def _through(who: str) -> tuple[str, ...]:
    return (f"as the {who}", f"based on {who}", f"from the {who}", f"per the {who}")


SPOKEN = ("said", "indicated", "noted", "stated", "mentioned")
OF_THE_EXECUTOR = (
    *_said("executor", "reported", "claimed", "determined", "concluded", "indicated", "noted", "stated", "mentioned"),
    *_owned("executor", "confidence", "self-assessment", "evidence shows", "results", "output", "findings"),
    *_through("executor"),
    "according to the executor", "the executor said", "executor found that", "execution agent reported",
    "execution agent's",
)  # fmt: skip
OF_THE_VERIFIER = (
    *_said("verifier", "concluded", "passed", "failed", "determined", "rated", "gave", "scored", "awarded", *SPOKEN),
    *_owned("verifier", "score", "pass/fail", "results", "output", "findings", "conclusion", "assessment", "judgment"),
    *_through("verifier"),
    "verification result was", "verifier found that", "verification agent concluded", "verification agent's",
    "verifier reported that",
)  # fmt: skip
OF_BOTH = (
    *_said("judge", "recommended", "concluded", "determined", "gave", "scored", "awarded", "approved", "rejected",
           *SPOKEN),
    *_owned("judge", "concerns", "results", "output", "findings", "recommendation", "conclusion"),
    *_through("judge"),
    *_said("verifier", "found", "reported", "noted", "indicated"),
    *_owned("verifier", "assessment", "report", "conclusion"),
    "judge found that", "verification report shows", "verification showed", "verification indicated",
)  # fmt: skip
SAFE = (
    "the verifier agent is spawned", "spawn the judge", "the rating agent produces", "verifier must verify",
    "judge forms an independent", "verifier prompt", "judge prompt", "rating agent prompt", "pass to the verifier",
    "pass to the judge", "verifier step", "judge step", "rating step", "after the verifier returns",
    "before spawning the judge", "verifier's return json", "judge's return json", "rating agent's return json",
    "the verifier reads", "the judge reads", "the rating agent reads",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Watch:
    """Which words a role's fields may not hold. `verifier_missed` is about the verifier by nature and is not read."""

    agent: str
    phrases: tuple[str, ...]
    fields: tuple[str, ...]


WATCHES = {
    "verify": Watch("verifier", OF_THE_EXECUTOR, ("criteria_results[].evidence", "failures[]", "scope_creep[]")),
    "judge": Watch("judge", OF_THE_VERIFIER, ("concerns[]", "independent_evidence[]", "notes")),
    "rate": Watch("rater", OF_BOTH, ("scorecard[].justification", "scorecard[].evidence", "aggregate_justification",
                                     "side_effects[]")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hit:
    agent: str
    phrase: str
    field: str

    @property
    def issue(self) -> str:
        return f"cross_contamination: {self.agent} referenced {self.phrase} in {self.field}"


def hits(role: str, answer: Mapping[str, Any]) -> tuple[Hit, ...]:
    """Each phrase once a field, in the order of the fields. A role that is not watched has none."""
    watch = WATCHES.get(role)
    if watch is None:
        return ()
    return tuple(
        Hit(watch.agent, phrase, field)
        for field in watch.fields
        for phrase in watch.phrases
        if any(_referred(text.casefold(), phrase) for text in _texts(answer, field))
    )


def objections(role: str, answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    return tuple(
        Objection(reminder=WARNING.format(phrase=hit.phrase, field=hit.field), issue=hit.issue)
        for hit in hits(role, answer)
    )


# The judge has to write about the verifier there.
EXCEPTED = "## Divergence Analysis"
PAPERS = {"VERIFICATION.md": OF_THE_EXECUTOR, "JUDGE-REPORT.md": OF_THE_VERIFIER, "SCORECARD.md": OF_BOTH}


@dataclass(frozen=True, slots=True)
class PaperHit:
    """A phrase in a report as it was written, and the line it first stands in."""

    file: str
    pattern: str
    line: int


def in_papers(papers: Mapping[str, str]) -> tuple[PaperHit, ...]:
    """VRFY-06: each phrase once a report, in the order of the lines. It warns; it decides nothing."""
    found: dict[tuple[str, str], PaperHit] = {}
    for file, phrases in PAPERS.items():
        for number, line in enumerate(_own_lines(papers.get(file, "")), start=1):
            for phrase in phrases:
                if _referred(line.casefold(), phrase):
                    found.setdefault((file, phrase), PaperHit(file, phrase, number))
    return tuple(found.values())


def _own_lines(text: str) -> tuple[str, ...]:
    return tuple(takewhile(lambda line: not line.startswith(EXCEPTED), text.splitlines()))


def _referred(text: str, phrase: str) -> bool:
    """The phrase stands somewhere without a safe one that reaches into the window around it."""
    at = text.find(phrase)
    while at >= 0:
        begin, end = at - WINDOW, at + len(phrase) + WINDOW
        if not any(safe in text[max(begin - len(safe) + 1, 0) : end + len(safe) - 1] for safe in SAFE):
            return True
        at = text.find(phrase, at + 1)
    return False


def _texts(value: Any, field: str) -> Iterator[str]:
    """Every string at the field's path; `name[]` goes into a list. What has another shape holds no text."""
    if not field:
        if isinstance(value, str):
            yield value
        return
    name, _, rest = field.partition(".")
    inner = value.get(name.removesuffix("[]")) if isinstance(value, Mapping) else None
    if not name.endswith("[]"):
        yield from _texts(inner, rest)
    elif isinstance(inner, list):
        for item in inner:
            yield from _texts(item, rest)
