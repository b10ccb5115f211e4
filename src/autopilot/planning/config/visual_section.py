"""`project.visual_testing` of config.json to values: what is missing is named, what is odd is told."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.value import Value
from autopilot.domain.visual import SCREENSHOT_DIR, Route, Viewport, VisualTesting

INCOMPLETE = "Visual testing config incomplete: missing {field}. Visual testing will be skipped."
REQUIRED = "Visual testing requires project.visual_testing in .planning/config.json."
EXAMPLE = (
    'write "visual_testing": {"enabled": true, "launch_command": "npm run dev", "base_url": "http://localhost:3000", '
    '"routes": [{"path": "/", "name": "home"}]} into "project" there, or leave --visual out'
)
_PLACES = (".planning", ".autopilot")
_LONGEST_MS, _WIDEST = 600_000, 8192
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class VisualSection(Value, frozen=True, kw_only=True):
    """The section as it was found. `testing` is None while something it needs is missing."""

    enabled: bool = False
    missing: tuple[str, ...] = ("visual_testing",)
    testing: VisualTesting | None = None
    notes: tuple[str, ...] = ()


def read(section: object) -> VisualSection:
    """AMB-47: what is no object counts as absent."""
    if not isinstance(section, dict):
        return VisualSection()
    command, base, odd = _text(section.get("launch_command")), _address(section.get("base_url")), list[str]()
    routes = tuple(_routes(section.get("routes"), odd))
    found = {"launch_command": command, "base_url": base, "routes": routes}
    missing = tuple(name for name, value in found.items() if not value)
    enabled = section.get("enabled") is True
    if enabled:
        odd += [INCOMPLETE.format(field=field) for field in missing]
    testing = None if missing or not command or not base else _testing(section, command, base, routes, odd)
    return VisualSection(enabled=enabled, missing=missing, testing=testing, notes=tuple(odd))


def chosen(section: VisualSection, *, asked: bool) -> VisualTesting | None:
    """VIS-01..03: what a run goes by. Raises `ConfigInvalid` when `--visual` asks for what is not configured."""
    if asked and section.testing is None:
        lacking = "" if section.missing == ("visual_testing",) else f" It lacks {', '.join(section.missing)}."
        raise ConfigInvalid(
            f"{REQUIRED}{lacking}",
            why="Autopilot has to know how to launch the app, where it answers and which pages to look at",
            do=EXAMPLE,
        )
    if section.testing is None or not (asked or section.enabled):
        return None
    return msgspec.structs.replace(section.testing, forced=asked)


def _testing(
    section: Mapping[str, Any], command: str, base: str, routes: tuple[Route, ...], odd: list[str]
) -> VisualTesting:
    viewport = section.get("viewport")
    size = viewport if isinstance(viewport, dict) else {}
    if section.get("framework", "playwright") != "playwright":
        odd.append(f"visual_testing.framework is {section['framework']!r}: playwright is used")
    return VisualTesting(
        launch_command=command,
        base_url=base,
        routes=routes,
        launch_wait_ms=_number(section, "launch_wait_ms", 5000, odd),
        launch_limit_ms=_number(section, "launch_limit_ms", 30_000, odd),
        screenshot_dir=_folder(section.get("screenshot_dir"), odd),
        viewport=Viewport(width=_side(size, "width", 1280, odd), height=_side(size, "height", 720, odd)),
        headless=section.get("headless") is not False,
    )


def _routes(listed: object, odd: list[str]) -> Iterator[Route]:
    """Each has a path of the app itself, and a name that is good for a file and not taken."""
    taken = set[str]()
    for item in listed if isinstance(listed, list) else ():
        path, name = (_text(item.get("path")), _text(item.get("name"))) if isinstance(item, dict) else (None, None)
        if not path or not name:
            odd.append(f"visual_testing.routes: {item!r:.60} has no path or no name and is left out")
            continue
        safe = _UNSAFE.sub("-", name).strip(".-") or "route"
        if safe.casefold() in taken or "://" in path.partition("?")[0]:
            odd.append(f"visual_testing.routes: {name!r} is there twice or leads elsewhere, and is left out")
            continue
        taken.add(safe.casefold())
        wait = _number(item, "wait_ms", 2000, odd)
        yield Route(path=f"/{path.lstrip('/')}", name=safe, wait_ms=wait, stable=item.get("stable") is True)


def _address(value: object) -> str | None:
    """An address of a web server, without the slash at its end: a route's path is put behind it."""
    try:
        parts = urlsplit(_text(value) or "")
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return None
    sound = usable and not re.search(r"[\s,*]", parts.netloc)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}" if sound else None


def _folder(value: object, odd: list[str]) -> str:
    """Screenshots may lie only where nothing of the user's work does."""
    text = _text(value)
    if text is None:
        return SCREENSHOT_DIR
    parts = text.strip("/").removeprefix("./").split("/")
    sound = not text.startswith("/") and not any(part in {"", ".", ".."} or "\0" in part for part in parts)
    if sound and parts[0] in _PLACES and len(parts) > 1:
        return "/".join(parts)
    odd.append(
        f"visual_testing.screenshot_dir {text!r} is not below .planning/ or .autopilot/: {SCREENSHOT_DIR} is used"
    )
    return SCREENSHOT_DIR


def _side(size: Mapping[str, Any], key: str, default: int, odd: list[str]) -> int:
    value = _number(size, key, default, odd)
    return value if 0 < value <= _WIDEST else default


def _number(section: Mapping[str, Any], key: str, default: int, odd: list[str]) -> int:
    value = section.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LONGEST_MS:
        return value
    odd.append(f"visual_testing: {key} is {value!r:.40}, not a number from 0 to {_LONGEST_MS}: {default} is used")
    return default


def _text(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None
