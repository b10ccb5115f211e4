"""What a phase's type asks of its change (PTV-01..03), and what a user can touch in it (BTRC-01)."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from autopilot.domain.evidence import Change, CommandRun, Finding
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.behavior_traces import TRACED
from autopilot.ports.agents import Tools

NO_BUILD = "no build command is configured, so nothing shows that this user interface builds"
TOUCHED = frozenset({".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue", ".svelte", ".astro", ".html", ".htm"})
_HANDLER = re.compile(
    r"(?<![\w.])(?P<attribute>on(?:Click|DoubleClick|Drag\w*|Drop|Submit|Change|Input|Key\w+|Mouse\w+|Pointer\w+|Touch\w+|"
    r"Focus|Blur|Scroll|Wheel|Paste)|on(?:click|dblclick|submit|change|input|keydown|keyup|drag\w*|drop))\s*=|"
    r"""addEventListener\(\s*["'](?P<event>\w+)|ipc(?:Main|Renderer)\.(?:on|once|handle)\(\s*["'](?P<ipc>[\w:.-]+)|"""
    r"""(?<![\w-])(?:@|v-on:|on:)(?P<bound>click|submit|change|input|keydown|keyup|drag\w*|drop)\b"""
)


def content_findings(
    record: PhaseRecord, tools: Tools, change: Change, gates: tuple[CommandRun, ...]
) -> tuple[Finding, ...]:
    """
    What is wrong inside the changed files, by the phase's type.

    SBOX-02: a build or compilation that went through counts more than an import we could not follow.
    """
    claimed = {path.removeprefix("./") for task in (record.plan.tasks if record.plan else ()) for path in task.files}
    found = tools.facts.content(change, record.phase.type, frozenset(claimed)) if change.files else ()
    built = any(run.passed for run in gates if run.check in {"build", "compile"})
    settled = tuple(_outweighed(f) if built and f.rule == "PTV-03" else f for f in found)
    return (*settled, *(_unbuilt(record, change, gates)))


def _outweighed(finding: Finding) -> Finding:
    what = f"{finding.what}; the project builds all the same"
    return msgspec.structs.replace(finding, what=what, severity="warning")


def _unbuilt(record: PhaseRecord, change: Change, gates: tuple[CommandRun, ...]) -> Iterator[Finding]:
    """PTV-03: a ui phase whose build nobody ran is told; a project need not have one."""
    if record.phase.type == "ui" and change.files and not any(run.check == "build" for run in gates):
        yield Finding(rule="PTV-03", where="build", what=NO_BUILD, severity="warning")


def handlers(record: PhaseRecord, tools: Tools, change: Change) -> tuple[str, ...]:
    """What the change adds that a user can touch, as `onClick (src/app.tsx)`."""
    touched = any(PurePosixPath(file.path).suffix.lower() in TOUCHED for file in change.files)
    if record.phase.type not in TRACED or not touched:
        return ()
    return handlers_in(tools.workspace.diff(change.base, change.commit))


def handlers_in(diff: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    path = ""
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[4:].strip().removeprefix("b/")
        elif line.startswith("+") and PurePosixPath(path).suffix.lower() in TOUCHED:
            names = (next(filter(None, hit.groups())) for hit in _HANDLER.finditer(line))
            found |= dict.fromkeys(f"{name} ({path})" for name in names)
    return tuple(found)
