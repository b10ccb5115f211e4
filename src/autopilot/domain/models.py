"""Which model a role gets: the user's word for it first, then the profile of the project."""

from typing import Literal, get_args

from autopilot.domain.settings import Settings

Profile = Literal["quality", "balanced", "speed"]
PROFILES: tuple[str, ...] = get_args(Profile)


def model_of(role: str, settings: Settings) -> str | None:
    """A model's name, or a profile's, which each vendor has models for. What was set for the role goes first."""
    return settings.models.get(role) or settings.model
