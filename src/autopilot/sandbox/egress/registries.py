"""Where the user's own package managers install from: read from their settings, never from files of a repository."""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

# Variables that say where to install from, and are handed on to the set-up command.
VARIABLES = (
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX",
    "NPM_CONFIG_REGISTRY", "npm_config_registry", "YARN_NPM_REGISTRY_SERVER", "GOPROXY",
)  # fmt: skip
_URL = re.compile(r"https?://[^\s,|'\"]+")
_NPM = re.compile(r"^\s*(@[^:\s]+:)?registry\s*=\s*(\S+)", re.MULTILINE)
_GO = re.compile(r"^\s*GOPROXY\s*=\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """`hosts` as the proxy takes them; `variables` tell the package managers, without any account of the user's."""

    hosts: tuple[str, ...] = ()
    variables: Mapping[str, str]


def registries(environment: Mapping[str, str]) -> Registries:
    found = dict(_settings(environment))
    said = {name: environment[name] for name in VARIABLES if environment.get(name)}
    urls = [url for value in (*found.values(), *said.values(), *_cargo(environment)) for url in _URL.findall(value)]
    hosts = dict.fromkeys(place for url in urls if (place := _place(url)))
    known = {name: value for name, value in found.items() if name in VARIABLES} | said
    return Registries(hosts=tuple(hosts), variables={name: _URL.sub(_nameless, v) for name, v in known.items()})


def _settings(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What the settings files say, by the variable that says the same."""
    home = Path(environment.get("HOME") or "/nonexistent")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    for path in (
        Path("/etc/pip.conf"),
        home / ".pip/pip.conf",
        config / "pip/pip.conf",
        environment.get("PIP_CONFIG_FILE"),
    ):
        yield from _pip(_text(path))
    for path in (Path("/etc/uv/uv.toml"), config / "uv/uv.toml"):
        yield from _uv(_toml(path))
    for own, registry in _NPM.findall(_text(environment.get("NPM_CONFIG_USERCONFIG") or home / ".npmrc")):
        yield (f"npm {own}" if own else "NPM_CONFIG_REGISTRY"), registry
    for proxy in _GO.findall(_text(environment.get("GOENV") or config / "go/env")):
        yield "GOPROXY", proxy


def _pip(text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in ("global", "install"):
        for option, name in (("index-url", "PIP_INDEX_URL"), ("extra-index-url", "PIP_EXTRA_INDEX_URL")):
            if parser.has_option(section, option):
                yield name, " ".join(parser.get(section, option).split())


def _uv(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    plain = {**settings, **settings.get("pip", {})} if isinstance(settings.get("pip"), dict) else settings
    if isinstance(plain.get("index-url"), str):
        yield "UV_DEFAULT_INDEX", plain["index-url"]
    more = plain.get("extra-index-url")
    if isinstance(more, list):
        yield "UV_INDEX", " ".join(map(str, more))
    for entry in settings.get("index") or ():
        if isinstance(entry, dict) and isinstance(entry.get("url"), str):
            yield ("UV_DEFAULT_INDEX" if entry.get("default") else f"uv {entry['url']}"), entry["url"]


def _cargo(environment: Mapping[str, str]) -> Iterator[str]:
    home = environment.get("CARGO_HOME") or f"{environment.get('HOME') or '/nonexistent'}/.cargo"
    for name in ("config.toml", "config"):
        settings = _toml(Path(home, name))
        for table, key in (("registries", "index"), ("source", "registry")):
            entries = settings.get(table)
            for entry in entries.values() if isinstance(entries, dict) else ():
                if isinstance(entry, dict):
                    yield str(entry.get(key, "")).removeprefix("sparse+")
    yield from (value for name, value in environment.items() if re.fullmatch(r"CARGO_REGISTRIES_.+_INDEX", name))


def _text(path: Path | str | None) -> str:
    try:
        return Path(path).read_text(errors="replace") if path else ""
    except OSError:
        return ""


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(path))
    except (ValueError, RecursionError):
        return {}


def _place(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return ""
    return f"{_host(parts)}:{port}" if parts.hostname else ""


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    return f"[{host}]" if ":" in host else host


def _nameless(url: re.Match[str]) -> str:
    """Without the account: what is installed gets no keys to see."""
    try:
        parts = urlsplit(url[0])
    except ValueError:
        return ""
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
