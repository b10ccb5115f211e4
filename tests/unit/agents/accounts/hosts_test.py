"""Which hosts an agent's program may reach: its service's, for the account the user has, where the user says it is."""

import pytest

from autopilot.agents.accounts.hosts import allowed, hosts_of, place_in
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.domain.agent_call import ROLES
from autopilot.domain.settings import Network


def hosts(name: str, **environment: str) -> tuple[str, ...]:
    return hosts_of(BY_NAME[name], environment)


def test_a_key_and_an_account_have_hosts_of_their_own() -> None:
    assert hosts("claude", ANTHROPIC_API_KEY="k") == ("api.anthropic.com",)
    assert hosts("claude") == ("api.anthropic.com", "platform.claude.com")
    assert hosts("codex", OPENAI_API_KEY="k") == ("api.openai.com",)
    assert hosts("codex") == ("chatgpt.com", "auth.openai.com")
    assert hosts("codex:app-server") == hosts("codex")
    assert hosts("gemini", GEMINI_API_KEY="k") == ("generativelanguage.googleapis.com",)


def test_a_program_with_a_provider_of_the_users_choice_reaches_those_there_are_keys_for() -> None:
    assert hosts("pi", ANTHROPIC_API_KEY="k", OPENROUTER_API_KEY="k") == ("api.anthropic.com", "openrouter.ai")
    assert hosts("pi") == ()


def test_a_base_url_takes_the_place_of_the_host_it_stands_for() -> None:
    here = "http://127.0.0.1:4000/v1"
    assert hosts("claude", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=here) == ("127.0.0.1:4000",)
    assert hosts("claude", ANTHROPIC_BASE_URL=here) == ("127.0.0.1:4000", "platform.claude.com")
    assert hosts("goose", OPENAI_API_KEY="k", ANTHROPIC_API_KEY="k", OPENAI_HOST=here) == (
        "127.0.0.1:4000",
        "api.anthropic.com",
    )


def test_another_service_altogether_has_hosts_by_region() -> None:
    found = hosts("claude", CLAUDE_CODE_USE_BEDROCK="1", AWS_REGION="eu-west-1", ANTHROPIC_API_KEY="k")

    assert found == ("bedrock-runtime.eu-west-1.amazonaws.com",)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://a.example/v1", "a.example:443"),
        ("http://a.example", "a.example:80"),
        ("a.example:8080", "a.example:8080"),
        ("http://[::1]:99/", "[::1]:99"),
        ("http://user:key@a.example/", "a.example:80"),
        ("http://a.example:port", ""),
        ("", ""),
    ],
)
def test_the_place_in_a_url(url: str, place: str) -> None:
    assert place_in(url) == place


def test_only_those_who_do_the_work_reach_registries() -> None:
    network = Network(asked=("a.example",), hosts=("b.example",), registries=True)
    with_registries = {role for role in ROLES if "r.example" in allowed(role, network, ("r.example",))}

    assert with_registries == {"execute", "debug", "fix"}
    assert all({"a.example", "b.example"} <= set(allowed(role, network, ())) for role in ROLES)
    assert allowed("execute", Network(), ("r.example",)) == ()
