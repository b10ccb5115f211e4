"""
PLAN.md to tasks, in both forms seen: Autopilot's own and GSD's.

A phase may have several plan files, `NN-MM-PLAN.md`. They are put together into one text in which a line such as
`<!-- file: 03-02-PLAN.md -->` starts each of them, and that text reads as one plan.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import msgspec

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.phase import Plan, PlanPart, Task, TaskTest, padded
from autopilot.planning.plan import folders, front_matter, must_haves, traceability
from autopilot.planning.plan.front_matter import FrontMatter
from autopilot.planning.plan.task import Block, task
from autopilot.planning.roadmap import ids, markdown
from autopilot.text.clean import harmless

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
_FILE = re.compile(r"^<!-- file: (?P<name>\S+) -->[ \t]*$", re.MULTILINE)
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
    files: tuple[str, ...] = ()


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
    files = _files(text)
    if files:
        parts, tasks = _joined(files)
    else:
        parts, tasks = (), _single("", text).tasks
    frozen = tuple(TaskTest(path=path, text=tests[path]) for path in sorted(tests))
    return Plan(text=text, tasks=tasks, tests=frozen, sha256=digest(text, tests), parts=parts)


def together(files: Mapping[str, str]) -> str:
    """The text of a plan made of several files, in the order given."""
    return "\n".join(f"<!-- file: {name} -->\n{markdown.decode(text).rstrip()}\n" for name, text in files.items())


def wave_of(text: str) -> int:
    """The wave a plan file says it is in; 1 when it says nothing."""
    matter, _ = front_matter.read(markdown.decode(text).split("\n"))
    return _wave_number(matter) or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Single:
    """One plan file as it was read; `matter` are the lines of its front matter."""

    tasks: tuple[Task, ...]
    context: _Context
    matter: Sequence[str]


def _files(text: str) -> dict[str, str]:
    """The files a plan is made of, by name. Only a text that starts with one and names each once is made of files."""
    starts = [*_FILE.finditer(text)]
    names = {found["name"] for found in starts}
    if not starts or text[: starts[0].start()].strip() or len(names) < len(starts):
        return {}
    ends = [*(found.start() for found in starts[1:]), len(text)]
    return {found["name"]: text[found.end() + 1 : end] for found, end in zip(starts, ends, strict=True)}


def _joined(files: Mapping[str, str]) -> tuple[tuple[PlanPart, ...], tuple[Task, ...]]:
    """The files in order. A file's tasks come after those of the files it depends on, and one after another."""
    singles = {name: _single(name, text) for name, text in files.items()}
    taken: set[str] = set()
    for name, single in singles.items():
        singles[name] = replace(single, tasks=_distinct(single, taken))
        taken |= {task.id for task in singles[name].tasks}
    needs = {name: tuple(_needed(single.context, name, singles)) for name, single in singles.items()}
    last = {name: single.tasks[-1].id for name, single in singles.items()}
    tasks = tuple(
        task
        for name, single in singles.items()
        for task in _in_sequence(single, tuple(last[need] for need in needs[name]))
    )
    return tuple(_part(name, single, needs[name]) for name, single in singles.items()), tasks


def _distinct(single: _Single, taken: AbstractSet[str]) -> tuple[Task, ...]:
    """Two files may number their tasks alike: those of the second then go by the file's own number."""
    if not any(task.id in taken for task in single.tasks):
        return single.tasks
    stem = _stem(single.context)
    return tuple(
        msgspec.structs.replace(
            task,
            id=f"{stem}-{number}",
            depends_on=(),
            criteria=tuple(
                msgspec.structs.replace(one, id=f"{stem}-{number}.{at}") for at, one in enumerate(task.criteria, 1)
            ),
        )
        for number, task in enumerate(single.tasks, start=1)
    )


def _needed(context: _Context, own: str, singles: Mapping[str, _Single]) -> Iterator[str]:
    """The files among these that `depends_on` names: `03-01`, `01`, `03-01-PLAN.md`. Those done already are no more."""
    for need in context.depends_on:
        wanted = folders.plan_file(f"{need.removesuffix('.md').removesuffix('-PLAN')}-PLAN.md")
        for name, single in singles.items():
            if name == own or wanted is None:
                continue
            number = _plain_number(single.context.plan)
            whole = ids.same(wanted.phase, single.context.phase) and _plain_number(wanted.number) == number
            if whole or (not wanted.number and _plain_number(need) == number):
                yield name


def _plain_number(text: str) -> str:
    return text.lstrip("0").upper()


def _in_sequence(single: _Single, first: tuple[str, ...]) -> Iterator[Task]:
    own, before = {each.id for each in single.tasks}, first
    for each in single.tasks:
        named = tuple(need for need in each.depends_on if need in own)
        files = each.files or (single.context.files if each.type == "auto" else ())
        yield msgspec.structs.replace(each, depends_on=tuple(dict.fromkeys((*named, *before))), files=files)
        before = (each.id,)


def _part(name: str, single: _Single, needs: tuple[str, ...]) -> PlanPart:
    matter, _ = front_matter.read(single.matter)
    return PlanPart(
        file=name,
        tasks=tuple(task.id for task in single.tasks),
        wave=single.context.wave or 1,
        depends_on=needs,
        autonomous=_one(matter, "autonomous").lower() != "false",
        files_modified=single.context.files,
        must_haves=must_haves.read(single.matter),
    )


def _single(name: str, text: str) -> _Single:
    clean = harmless(markdown.decode(text))
    lines = clean.split("\n")
    matter, start = front_matter.read(lines)
    prose = markdown.read(clean).lines
    body = _Body(lines=lines, prose=prose, start=start)
    blocks = list(_tagged(body, "task")) or list(_tagged(body, "feature")) or list(_headed(body))
    if not blocks:
        raise _no_task(lines, prose, name)
    context = _named(_context(matter, prose[start : start + _OPENING_LINES]), name)
    table = traceability.served(prose)
    tasks = tuple(_task(block, number, context, table) for number, block in enumerate(blocks, start=1))
    return _Single(tasks=tasks, context=context, matter=lines[:start])


def _named(context: _Context, name: str) -> _Context:
    """The name of a file tells it from the others of its phase, whatever its front matter says."""
    file = folders.plan_file(name) if name else None
    if file is None or not file.number:
        return context
    return replace(context, phase=file.phase or context.phase, plan=file.number)


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
    return _Context(
        phase=ids.normalise(phase[0] if phase else (titled[1] if titled else "")),
        plan=_one(matter, "plan") or _one(matter, "plan_id"),
        wave=_wave_number(matter),
        depends_on=tuple(need.split("(")[0].strip() for need in matter.get("depends_on", ())),
        requirements=matter.get("requirements", ()) or matter.get("requirement_ids", ()),
        files=matter.get("files_modified", ()) or matter.get("files-modified", ()),
    )


def _wave_number(matter: FrontMatter) -> int:
    wave = _one(matter, "wave")
    return int(wave) if re.fullmatch(r"[0-9]{1,4}", wave) else 0


def _one(matter: FrontMatter, key: str) -> str:
    return next(iter(matter.get(key, ())), "")


def _task(block: Block, number: int, context: _Context, table: Mapping[str, tuple[str, ...]]) -> Task:
    task_id = _task_id(block, number, context)
    own = table.get(task_id) or table.get(block.attributes.get("id", "")) or ()
    return task(block, task_id, context.wave, tuple(dict.fromkeys((*own, *context.requirements))))


def _task_id(block: Block, number: int, context: _Context) -> str:
    """The tag's id where it has one; GSD tasks are numbered within their plan: `08-02-1`."""
    own = _safe(block.attributes.get("id", ""))
    if re.fullmatch(r"\d+[\w.]*-[\w.-]+", own):
        return own
    if stem := _stem(context):
        return f"{stem}-{own or number}"
    return (
        f"{padded(context.phase)}-{(own or str(number)).zfill(2)}" if context.phase else (own or str(number)).zfill(2)
    )


def _stem(context: _Context) -> str:
    plan = _safe(context.plan)
    return f"{padded(context.phase)}-{plan.zfill(2)}" if context.phase and plan else ""


def _safe(text: str) -> str:
    """What of an id can stand in a file name, a commit's subject and a command without meaning anything else there."""
    kept = re.sub(r"[^A-Za-z0-9_.-]", "", text)
    return re.sub(r"\.{2,}", ".", kept)[:_LONGEST_ID].strip(".-")


def _no_task(lines: Sequence[str], prose: Sequence[str], name: str) -> ConfigInvalid:
    masked = next((at + 1 for at, line in enumerate(lines) if "<task" in line and not prose[at].strip()), None)
    why = "A plan without tasks asks for nothing, and nothing done must not look like success."
    if masked:
        why += f" The <task> on line {masked} stands in code or in a comment and does not count."
    return ConfigInvalid(
        f"The plan {name} has no task." if name else "The plan has no task.",
        why=why,
        do='Write each task as <task id="03-01" type="auto" complexity="simple"> ... </task>.',
    )
