"""What agents answer who look for what a phase leaves open: questions, gray areas, follow-ups."""

from typing import Literal, get_args

from autopilot.domain.evidence import Claim
from autopilot.domain.value import Value

MapCategory = Literal["build_config", "architecture", "requirements", "criteria", "dependencies", "domain"]
MAP_CATEGORIES: tuple[str, ...] = get_args(MapCategory)
TalkCategory = Literal["edge_case", "preference", "threshold", "trade_off", "scope"]
TALK_CATEGORIES: tuple[str, ...] = get_args(TalkCategory)
DOMAINS = ("SEE", "CALL", "RUN", "READ", "ORGANIZE")


class OpenQuestion(Value, frozen=True, kw_only=True):
    question: str = ""
    category: str = ""
    why_needed: str = ""


class QuestionsClaim(Claim, frozen=True, kw_only=True):
    """CMAP-02d."""

    questions: tuple[OpenQuestion, ...]
    phase_id: str | int = ""
    current_score: float = 0
    estimated_score_after: float = 0


class AreaQuestion(Value, frozen=True, kw_only=True):
    """`options` are a few words each; without any it is answered in words."""

    question: str = ""
    options: tuple[str, ...] = ()
    category: str = ""


class GrayArea(Value, frozen=True, kw_only=True):
    area: str = ""
    description: str = ""
    sample_questions: tuple[AreaQuestion | str, ...] = ()

    @property
    def questions(self) -> tuple[AreaQuestion, ...]:
        return tuple(AreaQuestion(question=q) if isinstance(q, str) else q for q in self.sample_questions)


class GrayAreasClaim(Claim, frozen=True, kw_only=True):
    """DISC-01."""

    gray_areas: tuple[GrayArea, ...]
    phase_id: str | int = ""
    domain: str = ""
    domain_description: str = ""


class FollowUpClaim(Claim, frozen=True, kw_only=True):
    """More questions about an area, and what the answers so far hold beside decisions."""

    questions: tuple[AreaQuestion | str, ...] = ()
    deferred_ideas: tuple[str, ...] = ()
    specific_ideas: tuple[str, ...] = ()

    @property
    def asked(self) -> tuple[AreaQuestion, ...]:
        return tuple(AreaQuestion(question=q) if isinstance(q, str) else q for q in self.questions)
