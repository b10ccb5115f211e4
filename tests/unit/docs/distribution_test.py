"""No message and no page tells a user to install a distribution that is not ours."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from autopilot.text.distribution import NAME, Extra, how_to_install

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXTS = sorted(
    path
    for part in ("src", "docs", "bench", "changes", "README.md", "CHANGELOG.md", "Makefile", ".ci")
    for path in ([ROOT / part] if (ROOT / part).is_file() else (ROOT / part).rglob("*"))
    if path.is_file() and path.suffix in {".py", ".md", ".html", ".js", ".toml", ""} and "__pycache__" not in path.parts
    if "projects" not in path.parts  # sample projects have their own dependencies
)
INSTALL = re.compile(r"\b(?P<program>pipx|uv tool|uv pip|pip3?) install (?P<rest>[^\n`\"#;&|)]*)")
EXTRAS = "|".join(get_args(Extra))
WITH_EXTRA = re.compile(rf"(?<![\w./-])(?P<name>[A-Za-z0-9][\w.-]*)\[(?:{EXTRAS})(?:,(?:{EXTRAS}))*\]")
# What commands for the user's own project install there, and what a fuzzing environment of ours needs.
OTHERS = {"pytest", "atheris", "hypothesis"}


def is_distribution(word: str) -> bool:
    """A name, and not an option, a path, or a place to be filled in."""
    return re.fullmatch(r"[A-Za-z0-9][\w-]*(\[[\w,]+\])?", word) is not None and "/" not in word


def installed(text: str) -> Iterator[str]:
    """The distributions that a text tells someone to install."""
    for found in INSTALL.finditer(text.replace("\n'", " '")):
        words = iter(found["rest"].replace("'", " ").split())
        for word in words:
            if word in {"-r", "--python", "--target"}:
                next(words, None)
            elif is_distribution(word):
                yield word.partition("[")[0]
            elif not word.startswith(("-", "/", ".", "{", "$")):
                break  # the sentence has moved on
    yield from (found["name"] for found in WITH_EXTRA.finditer(text))


def strangers(text: str) -> set[str]:
    return set(installed(text)) - {NAME} - OTHERS


def test_the_metadata_has_our_name_our_extras_and_our_license() -> None:
    assert PROJECT["name"] == NAME
    assert set(PROJECT["optional-dependencies"]) == set(get_args(Extra))
    assert PROJECT["scripts"] == {"autopilot": "autopilot.cli.main:main"}
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_nothing_names_a_stranger_s_distribution() -> None:
    found = {str(path.relative_to(ROOT)): strangers(path.read_text(encoding="utf-8")) for path in TEXTS}

    assert len(TEXTS) > 500
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Install it: pip install 'autopilot-engine[web]'", {"autopilot-engine"}),
        ("Install Autopilot as `autopilot-engine[map]`.", {"autopilot-engine"}),
        ("pipx install autopilot", {"autopilot"}),
        ("uv tool install 'autopilot[map,web]'", {"autopilot"}),
        ("and `pip install\n'autopilot-engine[visual]'`", {"autopilot-engine"}),
        ("pip install -q -r requirements.txt", set()),
        ("pipx install /path/to/this/folder", set()),
        (how_to_install("web"), set()),
    ],
)
def test_a_stranger_s_distribution_is_noticed(text: str, found: set[str]) -> None:
    assert strangers(text) == found


@pytest.mark.parametrize("extra", get_args(Extra))
def test_a_hint_names_the_tools_that_install_programs(extra: Extra) -> None:
    hint = how_to_install(extra)

    assert hint.startswith(f"pipx install '{NAME}[{extra}]'")
    assert f"uv tool install '{NAME}[{extra}]'" in hint
