"""The section `agents` of config.json: models by role, and which agents stand in for each other."""

from collections.abc import Mapping
from typing import Any

from autopilot.domain.agent_call import ROLES
from autopilot.domain.value import Value


class AgentSection(Value, frozen=True, kw_only=True):
    """`failover` and `backends` name programs Autopilot knows: a repository cannot name a command to be run as one."""

    models: dict[str, str] = {}
    failover: tuple[str, ...] = ()
    backends: dict[str, tuple[str, ...]] = {}
    notes: tuple[str, ...] = ()


def read(section: Mapping[str, Any]) -> AgentSection:
    models = _table(section.get("models"))
    known = {role: name for role, name in models.items() if role in ROLES and isinstance(name, str) and name}
    unknown = sorted(
        f"agents.models.{role} is ignored: it is no role with a model's name." for role in models.keys() - known
    )
    failover, refused = _names(section.get("failover"), "agents.failover")
    backends = dict[str, tuple[str, ...]]()
    for role, said in _table(section.get("roles")).items():
        names, more = _names(said, f"agents.roles.{role}")
        refused += more
        if role not in ROLES:
            refused += (f"agents.roles.{role} is ignored: it is no role.",)
        elif names:
            backends[role] = names
    return AgentSection(models=known, failover=failover, backends=backends, notes=(*unknown, *refused))


def _names(said: Any, key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The agents named, and what of it is not heeded."""
    words = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    names = tuple(word for word in words if isinstance(word, str) and word and _is_plain(word))
    notes = tuple(
        f"{key}: {word!r} is ignored: only your own config.toml or --failover may name a command or a file."
        for word in words
        if not isinstance(word, str) or not _is_plain(word)
    )
    if said is not None and not isinstance(said, str | list):
        notes = (f"{key} is ignored: it is no list of agents.",)
    return names, notes


def _is_plain(word: str) -> bool:
    """A program's name, such as `codex` or `codex:app-server`, and no command."""
    return word.partition(":")[0] not in {"exec", "acp", "scripted", "replay", "auto"}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
