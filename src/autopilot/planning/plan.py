"""PLAN.md to tasks, in both forms seen: Autopilot's own and GSD's."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.phase import Plan, Task, TaskTest, padded
from autopilot.domain.plain_text import harmless
from autopilot.planning import front_matter, ids, markdown, traceability
from autopilot.planning.front_matter import FrontMatter
from autopilot.planning.task import Block, task

_OPEN = {
    tag: re.compile(rf"[ \t]*<{tag}(?=[\s>]|$)(?P<attributes>[^>]*)(?P<closed>>?)", re.IGNORECASE)
    for tag in ("task", "feature")
}
_CLOSE = re.compile(r"[ \t]*</(?:task|feature)\s*>", re.IGNORECASE)
_CLOSED = re.compile(r"</(?:task|feature)\s*>", re.IGNORECASE)  # without blanks in front a search stays linear
_ATTRIBUTE = re.compile(r"(?<![\w-])([A-Za-z_][\w-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))")
_PHASE = re.compile(rf"\bPhase\s+({ids.PATTERN})(?![\w.]*\w)", re.IGNORECASE | re.ASCII)
_OPENING_LINES = 10
_LONGEST_ID = 60
_WAVE = re.compile(r"\W*wave\s+(\d{1,4})\b", re.IGNORECASE)
_TITLE = re.compile(
    r"\s*(?:#{2,5}\s*|(?:[-*]\s+)?\*\*)\W{0,3}task\s+(?P<id>[A-Za-z]?\d[\w.-]*)(?:\s*[:)]|\.?\s+--?(?=\s)|\s*[\u2014\u2013])\s*(?P<name>\S.*)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """What the file says of all its tasks."""

    phase: str
    plan: str
    wave: int
    depends_on: tuple[str, ...]
    requirements: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    """The plan's lines as written and as prose, from behind the front matter."""

    lines: Sequence[str]
    prose: Sequence[str]
    start: int

    def block(self, opened: tuple[int, dict[str, str]], end: int, wave: int, *, tagged: bool = True) -> Block:
        at, attributes = opened
        lines, prose = tuple(self.lines[at:end]), tuple(self.prose[at:end])
        return Block(attributes=attributes, line=at + 1, wave=wave, lines=lines, prose=prose, tagged=tagged)


def read(text: str, tests: Mapping[str, str]) -> Plan:
    """Raises `ConfigInvalid` when there is no task: a plan that asks for nothing cannot be carried out."""
    clean = harmless(markdown.decode(text))
    lines = clean.split("\n")
    matter, start = front_matter.read(lines)
    prose = markdown.read(clean).lines
    body = _Body(lines=lines, prose=prose, start=start)
    blocks = list(_tagged(body, "task")) or list(_tagged(body, "feature")) or list(_headed(body))
    if not blocks:
        raise _no_task(lines, prose)
    context = _context(matter, prose[start : start + _OPENING_LINES])
    table = traceability.served(prose)
    tasks = tuple(_task(block, number, context, table) for number, block in enumerate(blocks, start=1))
    frozen = tuple(TaskTest(path=path, text=tests[path]) for path in sorted(tests))
    return Plan(text=text, tasks=tasks, tests=frozen, sha256=digest(text, tests))


def digest(text: str, tests: Mapping[str, str]) -> str:
    """One hash over the plan and its test files; lengths are hashed too, so that nothing can move between them."""
    hashed = hashlib.sha256()
    for piece in (text, *(piece for path in sorted(tests) for piece in (path, tests[path]))):
        data = piece.encode("utf-8", errors="surrogatepass")
        hashed.update(f"{len(data)}:".encode())
        hashed.update(data)
    return hashed.hexdigest()


def _tagged(body: _Body, tag: str) -> Iterator[Block]:
    """`<task ...>` to `</task>` outside fences, by lines: bodies are not well-formed XML."""
    wave = 0
    opened: tuple[int, dict[str, str]] | None = None
    for at in range(body.start, len(body.lines)):
        line = body.prose[at]
        found = _opening(body.prose, at, tag)
        if opened is None:
            wave = _wave(line, wave)
        elif found is not None or _CLOSE.match(line):
            yield body.block(opened, at, wave)
            opened = None
        if found is not None:
            opened = (at, found)
            if _CLOSED.search(line):
                yield body.block(opened, at + 1, wave)
                opened = None
    if opened is not None:
        yield body.block(opened, len(body.lines), wave)


def _opening(prose: Sequence[str], at: int, tag: str) -> dict[str, str] | None:
    """The attributes of a `<task>` tag in any order; the tag may run over a few lines."""
    found = _OPEN[tag].match(prose[at])
    if found is None:
        return None
    text = found["attributes"] if found["closed"] else " ".join(prose[at : at + 6]).partition(">")[0]
    return {name.lower(): one or two or three for name, one, two, three in _ATTRIBUTE.findall(text)}


def _headed(body: _Body) -> Iterator[Block]:
    """Plans without tags: each `### Task 1: Title` up to the next task or heading of its level."""
    wave = level = 0
    opened: tuple[int, dict[str, str]] | None = None
    for at in range(body.start, len(body.lines)):
        line = body.prose[at]
        title = _TITLE.match(line)
        depth = len(line) - len(line.lstrip("#"))
        if opened is not None and (title or 0 < depth <= level):
            yield body.block(opened, at, wave, tagged=False)
            opened = None
        if opened is None:
            wave = _wave(line, wave)
        if title:
            opened, level = (at, {"id": title["id"], "name": markdown.plain(title["name"])}), depth
    if opened is not None:
        yield body.block(opened, len(body.lines), wave, tagged=False)


def _wave(line: str, current: int) -> int:
    if "wave" not in line.lower() or line[:1] not in {"#", "*"}:
        return current
    found = _WAVE.match(line.lstrip("#* "))
    return int(found[1]) if found else current


def _context(matter: FrontMatter, opening: Sequence[str]) -> _Context:
    """The front matter speaks first; without one, a title such as `# Plan: Phase 3 -- Name` names the phase."""
    titled = next((found for line in opening if line.startswith("#") and (found := _PHASE.search(line))), None)
    phase = re.match(ids.PATTERN + r"(?![\w.])", _one(matter, "phase"))
    wave = _one(matter, "wave")
    return _Context(
        phase=ids.normalise(phase[0] if phase else (titled[1] if titled else "")),
        plan=_one(matter, "plan") or _one(matter, "plan_id"),
        wave=int(wave) if re.fullmatch(r"[0-9]{1,4}", wave) else 0,
        depends_on=tuple(need.split("(")[0].strip() for need in matter.get("depends_on", ())),
        requirements=matter.get("requirements", ()) or matter.get("requirement_ids", ()),
    )


def _one(matter: FrontMatter, key: str) -> str:
    return next(iter(matter.get(key, ())), "")


def _task(block: Block, number: int, context: _Context, table: Mapping[str, tuple[str, ...]]) -> Task:
    task_id = _task_id(block, number, context)
    own = table.get(task_id) or table.get(block.attributes.get("id", "")) or ()
    return task(block, task_id, context.wave, tuple(dict.fromkeys((*own, *context.requirements))))


def _task_id(block: Block, number: int, context: _Context) -> str:
    """The tag's id where it has one; GSD tasks are numbered within their plan: `08-02-1`."""
    own, plan = _safe(block.attributes.get("id", "")), _safe(context.plan)
    if re.fullmatch(r"\d+[\w.]*-[\w.-]+", own):
        return own
    stem = f"{padded(context.phase)}-{plan.zfill(2)}" if context.phase and plan else ""
    if stem:
        return f"{stem}-{own or number}"
    return (
        f"{padded(context.phase)}-{(own or str(number)).zfill(2)}" if context.phase else (own or str(number)).zfill(2)
    )


def _safe(text: str) -> str:
    """What of an id can stand in a file name, a commit's subject and a command without meaning anything else there."""
    kept = re.sub(r"[^A-Za-z0-9_.-]", "", text)
    return re.sub(r"\.{2,}", ".", kept)[:_LONGEST_ID].strip(".-")


def _no_task(lines: Sequence[str], prose: Sequence[str]) -> ConfigInvalid:
    masked = next((at + 1 for at, line in enumerate(lines) if "<task" in line and not prose[at].strip()), None)
    why = "A plan without tasks asks for nothing, and nothing done must not look like success."
    if masked:
        why += f" The <task> on line {masked} stands in code or in a comment and does not count."
    return ConfigInvalid(
        "The plan has no task.",
        why=why,
        do='Write each task as <task id="03-01" type="auto" complexity="simple"> ... </task>.',
    )
