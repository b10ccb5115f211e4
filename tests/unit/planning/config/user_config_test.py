"""What the user settles for all projects, and that no repository can."""

import pytest

from autopilot.domain.errors import ConfigInvalid, UsageInvalid
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import SandboxChoice, Settings
from autopilot.planning.config.user_config import UserChoices, applied, asked, read
from autopilot.planning.start.read_project import understand

FILE = """
sandbox = "landlock"
[agent]
confine = false
trust_repository_config = true
[agents.claude]
carry = ["settings.json", "~/.gitconfig"]
[agents.codex]
"""


def test_all_of_the_file_reaches_the_settings() -> None:
    choices = read(FILE, "config.toml")
    settings = applied(Settings(agent="auto"), choices)

    assert choices.sandbox == "landlock"
    assert (settings.confine_agents, settings.trust_repository_config) == (False, True)
    assert settings.carry == {"claude": ("settings.json", "~/.gitconfig")}
    assert read(None, "config.toml") == UserChoices()


@pytest.mark.parametrize(
    "text",
    ["sandbox = ", 'sandbox = "docker"', "sandbx = 1", "[agent]\ntrust = true", '[agents.claude]\ncarry = ["/etc"]',
     '[agents.claude]\ncarry = ["../other"]', '[agents.claude]\ncarry = ["~/"]', "[agents.claud]\ncarry = []",
     "[agents.claude]\nfiles = []"],
    ids=["no TOML", "no tier", "no key", "no key of agents", "absolute", "out of the home", "the whole home",
         "no agent", "no key of an agent"],
)  # fmt: skip
def test_a_choice_about_safety_is_never_half_read(text: str) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        read(text, "config.toml")

    assert "config.toml" in refused.value.what


@pytest.mark.parametrize(
    ("flag", "variable", "file", "wins"),
    [("none", "landlock", "bubblewrap", "none"), (None, "landlock", "bubblewrap", "landlock"),
     (None, "", "bubblewrap", "bubblewrap"), (None, "", None, None)],
    ids=["flag", "environment", "file", "nothing said"],
)  # fmt: skip
def test_the_nearest_word_of_the_user_wins(
    flag: SandboxChoice | None, variable: str, file: SandboxChoice | None, wins: SandboxChoice | None
) -> None:
    request = asked(RunRequest(folder="/p", sandbox=flag), UserChoices(sandbox=file), {"AUTOPILOT_SANDBOX": variable})

    assert request.sandbox == wins


def test_a_variable_with_a_typing_mistake_is_no_choice() -> None:
    with pytest.raises(UsageInvalid, match="AUTOPILOT_SANDBOX"):
        asked(RunRequest(folder="/p"), UserChoices(), {"AUTOPILOT_SANDBOX": "of"})


def test_no_file_of_the_repository_can_open_the_sandbox() -> None:
    config = b'{"sandbox": "none", "agent": {"confine": false, "trust_repository_config": true}}'
    files = {".planning/config.json": config, ".planning/ROADMAP.md": b"### Phase 1: One\n**Goal**: One.\n"}
    project = understand(files.get, {}, {})

    assert project.config.raw["sandbox"] == "none"
    assert not {"sandbox", "agent", "confine"} & set(type(project.config).__struct_fields__)
