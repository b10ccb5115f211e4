"""The project's version in the files that name it, and what each becomes when it is bumped (VERS-01, AMB-25). Pure."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

FILES = ("package.json", "VERSION", "CHANGELOG.md")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_FIELD = re.compile(r'("version"\s*:\s*")([^"]*)(")')
_HEADING = re.compile(r"^## .*$", re.MULTILINE)
_KEPT = re.compile(r"^## \[v?\d+\.\d+\.\d+\]", re.MULTILINE)
_UNRELEASED = re.compile(r"^## \[?unreleased\]?.*$", re.MULTILINE | re.IGNORECASE)
_WORDS = tuple(re.compile(word, re.IGNORECASE) for word in (r"\bminor\b", r"\bpatch\b", r"\bbump|\bversion"))
_FORBIDDEN = re.compile(r"\b(?:never|not|n't)\s+bump\s+(?:the\s+)?versions?\b", re.IGNORECASE)


def has_rules(text: str) -> bool:
    """Whether a CLAUDE.md says when a version gets a new minor and when a new patch number."""
    return all(word.search(text) for word in _WORDS) and not _FORBIDDEN.search(text)


def decisive(phases: Iterable[str]) -> str:
    """The phase a bump is named for: the highest whole one, else the highest."""
    known = sorted(phases, key=_numbers)
    whole = [phase for phase in known if "." not in phase]
    return (whole or known)[-1]


def _numbers(phase: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", phase))


def bumped(version: str, phase: str) -> str:
    """Minor for a whole phase, patch for a decimal one; never major."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return ""
    major, minor, patch = (int(number) for number in found.groups())
    return f"{major}.{minor}.{patch + 1}" if "." in phase else f"{major}.{minor + 1}.0"


def version_in(path: str, text: str) -> str | None:
    """What the file says the version is; None where it says nothing that could be bumped."""
    if path == "VERSION":
        return text.strip().removeprefix("v")
    if path == "package.json":
        said = _object(text).get("version")
        return said if isinstance(said, str) else None
    return None


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def current(files: Mapping[str, str]) -> tuple[str, str]:
    """The one version all files name, or an empty one and why."""
    named = {path: said for path, text in files.items() if (said := version_in(path, text)) is not None}
    if not named:
        return "", "no package.json or VERSION names a version"
    if len(set(named.values())) > 1:
        return "", "; ".join(f"{path} says {said}" for path, said in named.items())
    (version,) = set(named.values())
    return (version, "") if _VERSION.fullmatch(version) else ("", f"{version!r} is no version of the form 1.2.3")


def with_version(path: str, text: str, new: str, entry: str) -> str | None:
    """The file with the new version; None where that cannot be done without touching anything else."""
    if path == "VERSION":
        return _VERSION.sub(new, text, count=1)
    if path == "package.json":
        return _package(text, new)
    return _changelog(text, entry)


def _package(text: str, new: str) -> str | None:
    wanted = _object(text) | {"version": new}
    for field in _FIELD.finditer(text):
        changed = f"{text[: field.start(2)]}{new}{text[field.end(2) :]}"
        # The first one may belong to something else inside the file.
        if _object(changed) == wanted:
            return changed
    return None


def _changelog(text: str, entry: str) -> str:
    """Before the newest version, below what is not released yet."""
    unreleased = _UNRELEASED.search(text)
    first = _HEADING.search(text, unreleased.end() if unreleased else 0)
    if first is None:
        return f"{text.rstrip()}\n\n{entry}" if text.strip() else f"# Changelog\n\n{entry}"
    return f"{text[: first.start()]}{entry}\n{text[first.start() :]}"


def changelog_entry(text: str, new: str, date: str, features: Iterable[tuple[str, str]]) -> str:
    """In the form the file has already; it speaks of what the project can do now, not of phases."""
    kept = bool(_KEPT.search(text))
    heading = f"## [{new}] - {date}" if kept else f"## {new} ({date})"
    lines = "\n".join(f"- **{name}:** {line}" if line else f"- **{name}**" for name, line in features)
    return f"{heading}\n\n### {'Added' if kept else 'Features'}\n\n{lines}\n"
