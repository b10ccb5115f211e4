"""Lists what of a repository would get power on this machine, with a hash of each part and of the whole. Pure."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from autopilot.domain.value import Value
from autopilot.text.clean import harmless

Kind = Literal["setup", "gate", "launch", "host", "settings", "folder", "roadmap"]
SEALED = "runs sealed: no network, no home, in a copy"
MAY: dict[Kind, str] = {
    "setup": "runs with registries as its only network, without your home, in a copy",
    "gate": SEALED,
    "launch": "runs sealed, in a network of its own",
    "host": "agents may reach it",
    "settings": "agents load it: its hooks run with an agent's rights",
    "folder": "agents and commands may read it",
    "roadmap": SEALED,
}
UNCONFINED = "runs WITHOUT A SANDBOX: it can do all that you can"
# What never gets more than a sealed sandbox, unless the user gives that up.
CONFINED = frozenset[Kind]({"gate", "launch", "roadmap"})
_RUNS = frozenset[Kind]({"setup", "gate", "launch", "roadmap"})
_MOST, _WIDTH = 2000, 78


class Part(Value, frozen=True, kw_only=True):
    """
    One thing of the repository that gets power: a command, a folder, a file of settings.

    `files` are the files whose content it stands for, by path, with the name git gives that content. `where` tells a
    reader where it is from, `may` what it may do here; neither is a part of what is agreed to.
    """

    name: str
    kind: Kind
    text: str
    where: str
    files: dict[str, str] = {}
    may: str = ""

    @property
    def sha256(self) -> str:
        return _hash([self.name, self.kind, self.text, sorted(self.files.items())])


class Surface(Value, frozen=True, kw_only=True):
    """
    Everything of one repository that gets power. An empty one needs nobody's consent.

    `unconfined`: its commands would run without a sandbox, which who agreed to them in one did not agree to.
    """

    parts: tuple[Part, ...] = ()
    unconfined: bool = False

    @property
    def sha256(self) -> str:
        return _hash([self.unconfined, sorted((part.name, part.sha256) for part in self.parts)])


class AgreedPart(Value, frozen=True, kw_only=True):
    """A part as the user agreed to it, also `unconfined` or not: the text is kept so that a change can be shown."""

    sha256: str
    text: str
    files: dict[str, str] = {}
    unconfined: bool = False


class PartChange(Value, frozen=True, kw_only=True):
    """A part nobody has agreed to. `before` is what it was when somebody did; None for a new one."""

    part: Part
    before: AgreedPart | None = None


def agreed(surface: Surface, before: Mapping[str, AgreedPart] | None = None) -> dict[str, AgreedPart]:
    """What was agreed to `before` without a sandbox, and is the same now, stays so."""
    free = {known.sha256 for known in (before or {}).values() if known.unconfined}
    return {
        part.name: AgreedPart(
            sha256=part.sha256,
            text=part.text,
            files=part.files,
            unconfined=surface.unconfined or part.sha256 in free,
        )
        for part in surface.parts
    }


def missing(surface: Surface, known: Mapping[str, AgreedPart]) -> tuple[PartChange, ...]:
    """What is still to be agreed to. A part that is gone, or a roadmap with fewer commands, takes nothing."""
    return tuple(
        PartChange(part=part, before=known.get(part.name))
        for part in surface.parts
        if not _is_covered(part, known.get(part.name), unconfined=surface.unconfined)
    )


def _is_covered(part: Part, known: AgreedPart | None, *, unconfined: bool) -> bool:
    if known is None or (unconfined and part.kind in _RUNS and not known.unconfined):
        return False
    fewer = part.kind == "roadmap" and known.text.isdecimal() and int(part.text) <= int(known.text)
    return fewer or known.sha256 == part.sha256


def table(changes: tuple[PartChange, ...], *, unconfined: bool = False) -> Iterator[str]:
    """Two lines or more for each: what it is, where it is from, what it may do; of a changed one the difference."""
    wide = max((len(change.part.name) for change in changes), default=0)
    for change in changes:
        part, before = change.part, change.before
        lines = [*_difference(part, before), f"{part.where}: {_may(part, unconfined=unconfined)}"]
        for number, line in enumerate(lines):
            yield f"  {(part.name if number == 0 else ''):<{wide}}  {line}"


def _may(part: Part, *, unconfined: bool) -> str:
    return UNCONFINED if unconfined and part.kind in _RUNS else part.may or MAY[part.kind]


def _difference(part: Part, before: AgreedPart | None) -> Iterator[str]:
    if before is None or before.text == part.text:
        yield from _shown(part.kind, part.text)
    else:
        yield from (f"- {line}" for line in _shown(part.kind, before.text))
        yield from (f"+ {line}" for line in _shown(part.kind, part.text))
    known = before.files if before else {}
    for path in sorted({*part.files, *known}):
        if before is None:
            yield f"with {harmless(path)}"
        elif part.files.get(path) != known.get(path):
            yield f"{harmless(path)} {_fate(path, part.files, known)}"


def _fate(path: str, now: Mapping[str, str], before: Mapping[str, str]) -> str:
    if path not in now:
        return "is gone"
    return "changed" if path in before else "is new"


def _shown(kind: Kind, text: str) -> Iterator[str]:
    """In full, so that nothing hides behind a cut; letters a terminal would act upon are written out."""
    if kind == "roadmap":
        yield "1 command" if text == "1" else f"{text} commands"
        return
    plain = "".join(letter if harmless(letter) else f"\\u{ord(letter):04x}" for letter in text)
    if len(plain) > _MOST:
        plain = f"{plain[:_MOST]} ... and {len(plain) - _MOST} characters more"
    for line in plain.split("\n"):
        yield from (line[at : at + _WIDTH] for at in range(0, max(len(line), 1), _WIDTH))


def _hash(content: object) -> str:
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()
