"""Which model a role gets: the user's word for it first, then the profile of the project."""

from typing import Literal, get_args

from autopilot.domain.settings import Settings

Profile = Literal["quality", "balanced", "speed"]
PROFILES: tuple[str, ...] = get_args(Profile)
# The names under which profiles have always been handed to agents.
ALIASES = ("opus", "sonnet", "haiku")


def model_of(role: str, settings: Settings) -> str | None:
    """A model's name, or a profile's, which each vendor has models for. What was set for the role goes first."""
    return settings.models.get(role) or settings.model


def known_model(agent: str, model: str | None) -> str | None:
    """The model to show. An alias names a model of one vendor's; other agents choose their own for the profile."""
    foreign = agent.partition(":")[0] not in {"claude", "auto"} and portable(model) is not None
    return None if foreign else model


def portable(model: str | None) -> str | None:
    """What an agent of another vendor can make of it: a profile is known to all, a model's name to its own alone."""
    return model if model in PROFILES or model in ALIASES else None
