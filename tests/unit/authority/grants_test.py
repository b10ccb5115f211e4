"""Grants: one per run and folder, whole or not at all, and never looser at a resume."""

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.app.run_grant import STRENGTH, check_tier, tightened
from autopilot.authority.grants import Grant, GrantedAgent, Grants
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.request import Resumption
from autopilot.domain.settings import SandboxChoice, Settings
from autopilot.planning.config.user_config import AgentChoices, OwnFiles, UserChoices

RUN = "run-2026-01-01-120000"


def grant_for(root: Path, settings: Settings | None = None, tier: str = "bubblewrap") -> Grant:
    agent = GrantedAgent(name="claude", roles=("agent",), program="/usr/bin/claude", argv=("/usr/bin/claude",))
    settings = settings or Settings(agent="claude", setup="npm ci")
    return Grant(run=RUN, root=str(root), version="0", settings=settings, tier=tier, agents=(agent,))


def test_a_grant_is_read_as_it_was_written(tmp_path: Path) -> None:
    grants = Grants(UserFolder(tmp_path / "state"))
    grants.write(grant_for(tmp_path))

    assert grants.read(RUN, tmp_path) == grant_for(tmp_path)


def test_runs_of_two_folders_with_one_name_have_a_grant_each(tmp_path: Path) -> None:
    grants = Grants(UserFolder(tmp_path / "state"))
    grants.write(grant_for(tmp_path / "one"))
    grants.write(grant_for(tmp_path / "two", tier="none"))

    assert [grants.read(RUN, tmp_path / name) for name in ("one", "two", "three")] == [
        grant_for(tmp_path / "one"),
        grant_for(tmp_path / "two", tier="none"),
        None,
    ]


def test_a_grant_that_was_copied_for_another_folder_is_none(tmp_path: Path) -> None:
    folder = UserFolder(tmp_path / "state")
    grants = Grants(folder)
    for name in ("one", "two"):
        grants.write(grant_for(tmp_path / name))
    one, two = sorted((tmp_path / "state" / "grants").glob("*.json"))
    one.write_bytes(two.read_bytes())

    assert [grants.read(RUN, tmp_path / name) for name in ("one", "two")].count(None) == 1


def test_one_that_cannot_be_understood_is_none(tmp_path: Path) -> None:
    grants = Grants(UserFolder(tmp_path / "state"))
    grants.write(grant_for(tmp_path))
    [file] = (tmp_path / "state" / "grants").glob("*.json")

    for content in (b"", b"{", b"[]", b'{"run": 1}', b"\xff"):
        file.write_bytes(content)
        assert grants.read(RUN, tmp_path) is None


NAMES = st.lists(st.sampled_from("abc"), unique=True).map(tuple)
CARRY = st.dictionaries(st.sampled_from(["claude", "codex"]), NAMES)
TIERS = st.sampled_from(get_args(SandboxChoice))
SETTINGS = st.builds(
    Settings,
    agent=st.just("claude"),
    sandbox=TIERS,
    confine_agents=st.booleans(),
    trust_repository_config=st.booleans(),
    carry=CARRY,
    agent_env=NAMES,
    setup=st.sampled_from([None, "make"]),
)
AGENT = st.builds(
    AgentChoices, confine=st.booleans(), trust_repository_config=st.booleans(), env=NAMES
)  # fmt: skip
OWN = CARRY.map(lambda held: {name: OwnFiles(carry=files) for name, files in held.items()})
CHOICES = st.builds(UserChoices, agent=AGENT, agents=OWN, keep_awake=st.booleans())


@given(SETTINGS, CHOICES, st.none() | TIERS)
def test_the_config_of_today_can_only_take_away(settings: Settings, choices: UserChoices, said: SandboxChoice) -> None:
    now = tightened(grant_for(Path("/p"), settings), choices, said, Resumption())

    assert STRENGTH[now.sandbox] >= STRENGTH[settings.sandbox]
    assert now.confine_agents >= max(settings.confine_agents, choices.agent.confine)
    assert now.trust_repository_config <= min(settings.trust_repository_config, choices.agent.trust_repository_config)
    assert all({*files} <= {*settings.carry[name]} & {*choices.agents[name].carry} for name, files in now.carry.items())
    assert {*now.agent_env} == {*settings.agent_env} & {*choices.agent.env}
    assert (now.agent, now.setup, now.commands) == (settings.agent, settings.setup, settings.commands)


@given(SETTINGS, CHOICES, TIERS)
def test_a_flag_typed_today_is_a_grant_of_its_own(
    settings: Settings, choices: UserChoices, tier: SandboxChoice
) -> None:
    changes = Resumption(agent="codex", sandbox=tier)
    now = tightened(grant_for(Path("/p"), settings), choices, None, changes)

    assert (now.agent, now.sandbox) == ("codex", tier)
    assert now.confine_agents >= settings.confine_agents


@given(st.sampled_from(sorted(STRENGTH)), st.sampled_from(sorted(STRENGTH)))
def test_a_weaker_sandbox_than_the_granted_one_is_refused_unless_it_is_named(granted: str, found: str) -> None:
    grant = msgspec.structs.replace(grant_for(Path("/p")), tier=granted)
    check_tier(grant, found, Resumption(sandbox="auto"))
    if STRENGTH[found] >= STRENGTH[granted]:
        check_tier(grant, found, Resumption())
        return
    with pytest.raises(SandboxUnavailable) as refused:
        check_tier(grant, found, Resumption())
    assert f"--sandbox {found}" in refused.value.do
