"""Finds the file and line that a setting or command of the project comes from. Pure."""

import json
import re


def json_place(text: str, path: str, key: str, value: object = None) -> str:
    """`path:line` of the last such key in the file, with this value if there is one; `path` alone if none is found."""
    forms = ("",) if value is None else (json.dumps(value), json.dumps(value, ensure_ascii=False), "")
    for form in forms:
        found = [match.start() for match in re.finditer(rf'"{re.escape(key)}"\s*:\s*{re.escape(form)}', text)]
        if found:
            return f"{path}:{_line(text, found[-1])}"
    return path


def manifest_place(text: str, manifest: str, command: str) -> str:
    """Where a detected command comes from: the script or target it names, else the manifest as a whole."""
    name = command.rsplit(maxsplit=1)[-1] if command.split() else ""
    if manifest == "package.json":
        return json_place(text, manifest, name)
    if manifest == "Makefile":
        found = re.search(rf"^{re.escape(name)}\b[^:=\n]*:", text, re.MULTILINE)
        return f"{manifest}:{_line(text, found.start())}" if found else manifest
    return manifest


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
