"""What a profile means at each vendor: a model, how hard it thinks, or the program's own choice. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

# The names under which profiles have always been handed to agents.
ALIASES: Mapping[str, str] = {"opus": "quality", "sonnet": "balanced", "haiku": "speed"}


@dataclass(frozen=True, slots=True)
class Model:
    """None leaves the choice to the program."""

    name: str | None = None
    effort: str | None = None


# Programs that reach many vendors' models go by their own settings, so they have no row.
PROFILES: Mapping[str, Mapping[str, Model]] = {
    "anthropic": {"quality": Model("opus"), "balanced": Model("sonnet"), "speed": Model("haiku")},
    "openai": {
        "quality": Model(effort="high"),
        "balanced": Model(effort="medium"),
        "speed": Model(effort="low"),
    },
    "google": {
        "quality": Model("gemini-2.5-pro"),
        "balanced": Model("gemini-2.5-pro"),
        "speed": Model("gemini-2.5-flash"),
    },
}


def model_at(vendor: str, wanted: str | None) -> Model:
    """A profile becomes the vendor's model for it; any other name is taken as it is."""
    if wanted is None:
        return Model()
    profile = ALIASES.get(wanted, wanted)
    if profile not in ALIASES.values():
        return Model(wanted)
    return PROFILES.get(vendor, {}).get(profile, Model())
