"""Says what account a program signs in with, and nothing else of its settings."""

from collections.abc import Mapping

import msgspec

from autopilot.agents.json_fields import at, text

# Programs that ask any service keep one entry for each: its kind, and a key or tokens.
ONE_PER_PROVIDER = ("*.type", "*.key", "*.accountId")
PROVIDERS = (
    "platform.claude.com", "console.anthropic.com", "auth.openai.com", "oauth2.googleapis.com", "api.github.com",
)  # fmt: skip


def quiet_settings(kinds: Mapping[str, str], usual: str, environment: Mapping[str, str], own: str) -> str:
    """
    The account kind the user chose in the program, else that of a variable in `kinds`, else the usual one.

    Statistics of usage are switched off: a connection that is refused then means something.
    """
    try:
        chosen = text(at(msgspec.json.decode(own or "{}"), "security", "auth", "selectedType"))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        chosen = ""
    of_variables = (kind for name, kind in kinds.items() if environment.get(name))
    kind = chosen or next(of_variables, usual)
    held = {"security": {"auth": {"selectedType": kind}}, "privacy": {"usageStatisticsEnabled": False}}
    return msgspec.json.encode(held).decode()
