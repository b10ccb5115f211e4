"""A configuration file as a flat table of keys and values, whatever its format; empty for what cannot be read."""

import configparser
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from autopilot.evidence.tamper.masking import Masked

Flat = dict[str, Any]
DEEPEST = 12
_PAIR = re.compile(
    r"(?<![\w./@-])(?P<key>[\"']?[A-Za-z_][\w./@-]*[\"']?)\s*[:=]\s*(?P<value>true|false|True|False|-?\d+(?:\.\d+)?|[\"'][^\"'\n]*[\"'])"
)
_LIST = re.compile(r"(?<![\w-])(?P<key>[A-Za-z_][\w-]*)[\"']?\s*[:=]\s*\[(?P<items>[^\[\]]*)\]")
_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False}
_ITEM = re.compile(r"[\"'](?P<quoted>[^\"'\n]*)[\"']")


def flat(masked: Masked, language: str) -> Flat:
    try:
        match language:
            case "toml":
                return dict(_flattened(tomllib.loads(masked.raw), "", 0))
            case "json":
                return dict(_flattened(json.loads(masked.bare), "", 0))
            case "ini":
                return dict(_sections(masked.raw))
            case "javascript" | "yaml":
                return _lines(masked.bare)
            case _:
                return {}
    except (ValueError, RecursionError, configparser.Error):
        return _lines(masked.bare)


def _flattened(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth < DEEPEST:
        for key, inner in value.items():
            yield from _flattened(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        yield path, [str(item) for item in value if isinstance(item, str | int | float)]
    else:
        yield path, value


def _sections(text: str) -> Iterator[tuple[str, Any]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=", ":"))
    try:
        parser.read_string(text)
    except AttributeError as error:  # what Python before 3.13 makes of a line indented below a key without a value
        raise ValueError("a line goes on from nothing") from error
    for section in parser.sections():
        for key, value in parser.items(section):
            words = re.split(r"[\s,]+", (value or "").strip())
            yield f"{section}.{key}", words if len(words) > 1 or key in LISTS else _plain(value or "")


def _lines(text: str) -> Flat:
    """Without a parser for it: each `key: value` of the text, the first of a name; lists in brackets."""
    found: Flat = {}
    for pair in _PAIR.finditer(text):
        found.setdefault(pair["key"].strip("\"'"), _plain(pair["value"]))
    for listed in _LIST.finditer(text):
        found[listed["key"]] = [item["quoted"] for item in _ITEM.finditer(listed["items"])]
    return found


def _plain(text: str) -> Any:
    bare = text.strip().strip("\"'")
    if bare.lower() in _SWITCHES:
        return _SWITCHES[bare.lower()]
    try:
        return float(bare) if re.fullmatch(r"-?\d+(?:\.\d+)?", bare) else bare
    except ValueError:
        return bare


LISTS = frozenset(
    {
        "ignore", "extend-ignore", "extend_ignore", "exclude", "extend-exclude", "omit", "disable", "per-file-ignores",
        "exclude_lines", "exclude_also", "testpaths", "python_files", "python_classes", "python_functions", "addopts",
        "norecursedirs", "disable_error_code", "select", "filterwarnings",
    }
)  # fmt: skip
