"""Which model a role gets, at which vendor."""

import pytest

from autopilot.agents.model_profiles import ALIASES, PROFILES, Model, model_at
from autopilot.domain.settings import PROFILES as NAMES
from autopilot.domain.settings import Settings, model_of


@pytest.mark.parametrize(
    ("vendor", "wanted", "model"),
    [
        ("anthropic", "quality", Model("opus")),
        ("anthropic", "sonnet", Model("sonnet")),
        ("anthropic", "claude-opus-4-5", Model("claude-opus-4-5")),
        ("openai", "quality", Model(effort="high")),
        ("openai", "haiku", Model(effort="low")),
        ("openai", "gpt-5.5", Model("gpt-5.5")),
        ("google", "speed", Model("gemini-2.5-flash")),
        ("goose", "opus", Model()),
        ("goose", "my-model", Model("my-model")),
        ("anthropic", None, Model()),
    ],
)
def test_inv_19_a_profile_is_the_vendors_own_model(vendor: str, wanted: str | None, model: Model) -> None:
    assert model_at(vendor, wanted) == model


def test_every_vendor_has_every_profile() -> None:
    assert {frozenset(rows) for rows in PROFILES.values()} == {frozenset(NAMES)}
    assert set(ALIASES.values()) == set(NAMES)


def test_a_roles_own_model_goes_first() -> None:
    settings = Settings(agent="claude", model="sonnet", models={"judge": "opus"})

    assert (model_of("judge", settings), model_of("execute", settings)) == ("opus", "sonnet")
