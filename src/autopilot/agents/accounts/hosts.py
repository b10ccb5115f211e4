"""Which hosts an agent's program needs: those of its service, for the kind of account the user has there."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from autopilot.agents.backend import Backend
from autopilot.domain.settings import Network

# Those who do the work may install what it needs. Who judges it, or says how it is judged, gets nothing new.
INSTALLERS = frozenset({"execute", "debug", "fix"})


def hosts_of(backend: Backend, environment: Mapping[str, str]) -> tuple[str, ...]:
    """
    By the keys that are set, else those of an account. A base URL takes the place of the host it stands for.

    The environment is the user's own: what a repository says about where the service is does not count.
    """
    reach = backend.reach
    switched = [hosts for name, hosts in reach.switches.items() if environment.get(name)]
    keys = [hosts for name, hosts in reach.keys.items() if environment.get(name)]
    usual = [host for hosts in switched or keys or [reach.account] for host in hosts]
    moved = {name: host for name, host in reach.bases.items() if environment.get(name)}
    there = [place for name in moved if (place := place_in(environment[name]))]
    stay = [filled(host, environment) for host in usual if host not in moved.values()]
    return tuple(dict.fromkeys((*there, *stay)))


def place_in(url: str) -> str:
    """`host:port` of a base URL, empty where it names none."""
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        port = parts.port or {"http": 80, "ws": 80}.get(parts.scheme, 443)
    except ValueError:
        return ""
    host = parts.hostname or ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if host else ""


def filled(host: str, environment: Mapping[str, str]) -> str:
    """A host that has a region in its name, which is a variable of the user's."""
    before, opening, rest = host.partition("{")
    name, _, after = rest.partition("}")
    return f"{before}{environment.get(name, 'us-east-1')}{after}" if opening else host


def allowed(role: str, network: Network, registries: tuple[str, ...]) -> tuple[str, ...]:
    """What the user allows every agent in this role, whatever its program."""
    return (*network.listed, *(registries if network.registries and role in INSTALLERS else ()))
