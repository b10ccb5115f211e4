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


# What a short name stands for changes every few months: the newest first, and the price list says which it knows.
LISTED: Mapping[str, tuple[str, ...]] = {
    "opus": ("claude-opus-5-5", "claude-opus-5", "claude-opus-4-7", "claude-opus-4-6", "claude-opus-4-5"),
    "sonnet": ("claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5"),
    "haiku": ("claude-haiku-5-5", "claude-haiku-5", "claude-haiku-4-5"),
}
# The models that programs take which choose one themselves.
OWN_CHOICE: Mapping[str, tuple[str, ...]] = {"openai": ("gpt-5.5", "gpt-5.4", "gpt-5.2-codex", "gpt-5-codex")}


def price_names(vendor: str, wanted: str | None) -> tuple[str, ...]:
    """The names under which a price list may have the model; none where nobody can say which model it will be."""
    name = model_at(vendor, wanted).name
    if name is None:
        return OWN_CHOICE.get(vendor, ())
    return LISTED.get(name, (name,))


def model_at(vendor: str, wanted: str | None) -> Model:
    """A profile becomes the vendor's model for it; any other name is taken as it is."""
    if wanted is None:
        return Model()
    profile = ALIASES.get(wanted, wanted)
    if profile not in ALIASES.values():
        return Model(wanted)
    return PROFILES.get(vendor, {}).get(profile, Model())
