"""What was detected about the project, put into the text of config.json; every other byte of it stays."""

import json
import re
from collections.abc import Iterator
from typing import Any

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.forecast import ProjectFacts

_SPACE = re.compile(r"[ \t\n\r]*")
_INDENT = "  "
_BOM = "\ufeff"


def with_project(text: str | None, facts: ProjectFacts, path: str) -> str:
    """`text` is a config.json that was read without an error, or None when there is none."""
    bare = (text or "").removeprefix(_BOM)
    written = bare if bare.strip() else "{}\n"
    if not isinstance(json.loads(written).get("project", {}), dict):
        raise ConfigInvalid(
            f"In {path}, `project` is not an object.",
            why="The commands belong below it, and what you wrote there is not thrown away.",
            do=f"Rename it in {path}, then try again.",
        )
    for keys, value in _entries(facts):
        written = _put(written, keys, value)
    return (_BOM if (text or "").startswith(_BOM) else "") + written


def _entries(facts: ProjectFacts) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield ("project", "type"), facts.type
    yield ("project", "manifest"), facts.manifest
    # A null would turn a gate off that is detected later.
    known = {name: found for name, found in facts.commands.items() if found.command or found.source == "user-override"}
    for name, command in known.items():
        if command.source != "user-override":
            yield ("project", "commands", name), command.command
    for name, command in known.items():
        yield ("project", "commands_source", name), command.source


def _put(text: str, keys: tuple[str, ...], value: Any) -> str:
    """The text with the value at the path; a value that is there already is not touched."""
    at = _skip(text, 0)
    for depth, key in enumerate(keys):
        members = _members(text, at)
        last = depth == len(keys) - 1
        if key not in members:
            return _insert(text, at, key, _nested(keys[depth + 1 :], value))
        start, end = members[key]
        held = json.loads(text[start:end])
        if last or not isinstance(held, dict):
            new = _nested(keys[depth + 1 :], value)
            return text if held == new else text[:start] + json.dumps(new, ensure_ascii=False) + text[end:]
        at = start
    raise AssertionError("a path has at least one key")


def _nested(keys: tuple[str, ...], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    """Where the value of each member of the object at `at` begins and ends; of a repeated key the last counts."""
    found: dict[str, tuple[int, int]] = {}
    decoder = json.JSONDecoder()
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = decoder.raw_decode(text, start)
        found[key] = (start, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _insert(text: str, at: int, key: str, value: Any) -> str:
    """A new last member, laid out as the object is: on a line of its own unless all of it stands on one."""
    members = _members(text, at)
    line = text[text.rfind("\n", 0, at) + 1 : at]
    outer = line[: len(line) - len(line.lstrip())]
    if not members:
        end = _skip(text, at + 1)
        return f"{text[: at + 1]}\n{outer}{_INDENT}{_member(key, value, outer + _INDENT)}\n{outer}{text[end:]}"
    first = _skip(text, at + 1)
    gap = text[at + 1 : first]
    end = max(end for _, end in members.values())
    if "\n" not in gap:
        return f"{text[:end]}, {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}{text[end:]}"
    indent = gap[gap.rfind("\n") + 1 :]
    newline = "\r\n" if "\r\n" in gap else "\n"
    return f"{text[:end]},{newline}{indent}{_member(key, value, indent)}{text[end:]}"


def _member(key: str, value: Any, indent: str) -> str:
    laid_out = json.dumps(value, ensure_ascii=False, indent=len(_INDENT)).replace("\n", f"\n{indent}")
    return f"{json.dumps(key)}: {laid_out}"


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found, "it matches the empty text too"
    return found.end()
