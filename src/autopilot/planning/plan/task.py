"""One task of a plan: its labelled lines and child tags to a value."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from autopilot.domain.phase import Complexity, Criterion, DeclaredChange, Task, TaskType
from autopilot.planning.plan.criteria import criterion
from autopilot.planning.roadmap import fields, markdown
from autopilot.planning.roadmap.depends_on import without_parentheses
from autopilot.planning.roadmap.fields import Numbered
from autopilot.planning.roadmap.phase_type import work_kind

_TAGS = {
    "name": "title", "title": "title", "file": "files", "files": "files", "action": "action", "verify": "verify",
    "done": "done", "acceptance_criteria": "criteria", "depends_on": "needs", "requirement": "requirements",
    "requirements": "requirements", "how-to-verify": "done", "what-built": "action", "decision": "action",
    "behavior": "behaviour", "implementation": "action",
    "read_first": "reading", "resume-signal": "signal", "options": "options",
    "context": "context", "changes_tests": "changes_tests", "kind": "kind",
}  # fmt: skip
_LABELS = {
    "file": "files", "files": "files", "files modified": "files", "files to modify": "files",
    "files to create": "files", "files created": "files", "action": "action", "steps": "action",
    "implementation": "action", "verify": "verify", "verification": "verify", "acceptance criteria": "criteria",
    "success criteria": "criteria", "done": "done", "done when": "done", "depends on": "needs",
    "dependencies": "needs", "requirements": "requirements", "requirement": "requirements",
    "complexity": "complexity", "title": "title", "wave": "wave", "type": "type", "description": "action",
    "changes tests": "changes_tests", "changes_tests": "changes_tests", "kind": "kind",
}  # fmt: skip
_CHILD = re.compile(rf"[ \t]*<(?P<tag>{'|'.join(_TAGS)})(?=[\s>])[^>]*>", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:[-*]\s+)?\*\*(?P<label>[A-Za-z][A-Za-z_ ]{1,30})(?P<rest>[:*(].*)$")
# Nobody writes this word in a sentence, so it needs no bold letters.
_PLAIN_LABEL = re.compile(r"\s*(?:[-*]\s+)?`?changes_tests`?\s*:\s*(?P<rest>\S.*)$", re.IGNORECASE)
_LEAD = r"Task\s+[\w.-]+(?:\s*:|\s+--?(?=\s)|\s*[\u2014\u2013])\s*"
_HEADING = re.compile(rf"\s*#{{2,5}}\s*{_LEAD}(?P<name>\S.*)$", re.IGNORECASE)
_TITLE_LEAD = re.compile(rf"\s*{_LEAD}(?=\S)", re.IGNORECASE)
_AUTOMATED = re.compile(r"<automated\b[^<>]*>(.*?)(?:</automated\s*>|\Z)", re.IGNORECASE | re.DOTALL)
# Above a command people say what it is; that is no part of it.
_COMMENTS = re.compile(r"\A(?:[ \t]*#[^\n]*\n\s*)+")
_ABSENT = re.compile(r"\W*(?:missing|tbd|none|n/a|todo|manual)\b", re.IGNORECASE)
_TEST_FILE = re.compile(r"\b(?:run|execute|passes)\b[^`]*`(?:(?:ba)?sh\s+)?([\w./-]+\.sh)`", re.IGNORECASE)
_FILE_NOTE = re.compile(r"\s(?:--?|\u2014|\u2013)\s.*$")
_FILE_LEAD = re.compile(r"(?:create|modify|new|edit|update|delete|test)s?\s*:\s*", re.IGNORECASE)
_END_TAG = re.compile(r"</(?:task|feature)\s*>\s*$", re.IGNORECASE)
_TAG_LINES = 6
_SIZES = {"low": "simple", "small": "simple", "high": "complex", "large": "complex"}
_COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)
_TYPES: tuple[TaskType, ...] = get_args(TaskType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The lines of one task, the tag's own first. `prose` has code and comments blanked, line by line."""

    attributes: dict[str, str]
    line: int
    wave: int
    lines: tuple[str, ...]
    prose: tuple[str, ...]
    tagged: bool = True

    @property
    def tag_end(self) -> int:
        """The line the opening tag ends on; the heading itself where there is no tag."""
        ends = (at for at, line in enumerate(self.prose[:_TAG_LINES]) if ">" in line)
        return next(ends, 0) if self.tagged else 0


@dataclass(slots=True)
class _Parts:
    """The numbered lines of each part of a task, as they are filled in."""

    found: dict[str, list[Numbered]] = field(default_factory=dict)
    current: str = "body"
    tag: str = ""

    def add(self, line: int, text: str) -> None:
        self.found.setdefault(self.current, []).append((line, text))

    def text(self, part: str) -> str:
        return "\n".join(line for _, line in self.found.get(part, ())).strip()


def task(block: Block, task_id: str, wave: int, requirements: tuple[str, ...]) -> Task:
    """`wave` and `requirements` are the plan's, for a task that names none itself."""
    parts = _parts(block)
    given = block.attributes
    own = fields.requirement_ids(given.get("requirements", "") + ", " + parts.text("requirements"))
    return Task(
        id=task_id,
        title=_title(block, parts) or f"Task {task_id}",
        action=_action(parts),
        files=tuple(dict.fromkeys(_files(given.get("files", "") + "\n" + parts.text("files")))),
        criteria=_criteria(parts, task_id),
        done=markdown.plain(parts.text("done")),
        type=_type(given.get("type") or markdown.plain(parts.text("type"))),
        complexity=_complexity(given.get("complexity") or markdown.plain(parts.text("complexity"))),
        wave=_number(given.get("wave", "")) or _number(parts.text("wave")) or block.wave or wave or 1,
        depends_on=_needs(given.get("depends_on") or given.get("depends") or parts.text("needs")),
        requirements=own or requirements,
        line=block.line,
        changes_tests=tuple(_declared(given.get("changes_tests", "") + "\n" + parts.text("changes_tests"))),
        kind=work_kind(given.get("kind") or parts.text("kind")),
    )


def _parts(block: Block) -> _Parts:
    parts = _Parts()
    for at in range(len(block.lines)):
        line, prose = _content(block, at)
        if not parts.tag and (opening := _CHILD.match(prose)):
            parts.tag = opening["tag"].lower()
            parts.current = _TAGS[parts.tag]
            line = line[opening.end() :]
        elif not parts.tag and (label := _label(prose)):
            parts.current, line = label
        elif not parts.tag and parts.current == "files" and _is_prose(prose) and parts.text("files"):
            parts.current = "body"
        _take(parts, block.line + at, line)
    return parts


def _content(block: Block, at: int) -> tuple[str, str]:
    """A line as written and as prose, without the task's own tags."""
    if at <= block.tag_end:
        tagged = at == block.tag_end and block.tagged
        after = _END_TAG.sub("", block.lines[at].partition(">")[2])
        return (after, block.prose[at].partition(">")[2]) if tagged else ("", "")
    return _END_TAG.sub("", block.lines[at]), block.prose[at]


def _is_prose(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(("-", "*", "+", "`"))


def _take(parts: _Parts, number: int, line: str) -> None:
    """Add a line to the part it is in; a child's end tag closes it."""
    end = f"</{parts.tag}"
    at = line.lower().find(end) if parts.tag else -1
    if at < 0:
        parts.add(number, line)
        return
    parts.add(number, line[:at])
    parts.tag, parts.current = "", "body"


def _label(prose: str) -> tuple[str, str] | None:
    """`**Files:** a, b` and its kin; any other bold words belong to the text around them."""
    if _HEADING.match(prose):
        return ("heading", prose)
    if plain := _PLAIN_LABEL.match(prose):
        return ("changes_tests", plain["rest"])
    found = _LABEL.match(prose) if "**" in prose else None
    name = _LABELS.get(found["label"].strip().lower()) if found else None
    if found is None or name is None:
        return None
    rest = re.sub(r"^\s*(?:\([^()]*\))?\s*:?\s*\*\*\s*(?:\([^()]*\))?\s*:?\s*", "", found["rest"])
    return (name, rest) if rest != found["rest"] else None


def _title(block: Block, parts: _Parts) -> str:
    heading = _HEADING.match(parts.text("heading").partition("\n")[0])
    raw = parts.text("title") or (heading["name"] if heading else "") or block.attributes.get("name", "")
    raw = raw or block.attributes.get("title", "")
    return markdown.plain(_TITLE_LEAD.sub("", raw, count=1))


def _action(parts: _Parts) -> str:
    """What to do; a test-driven plan says it as the behaviour wanted."""
    said = [parts.text(part) for part in ("behaviour", "action")]
    return "\n".join(text for text in said if text) or parts.text("body")


def _criteria(parts: _Parts, task_id: str) -> tuple[Criterion, ...]:
    """Every criterion of the acceptance list and of **Verify:**, then what `<automated>` runs; none twice."""
    found: dict[str, Criterion] = {}
    for line, text in _statements(parts):
        read = criterion(text, f"{task_id}.{len(found) + 1}", "plan", line)
        if read.command is None and not read.behavioural and (test := _TEST_FILE.search(text)):
            read = Criterion(id=read.id, text=read.text, command=f"bash {test[1]}", line=line)
        found.setdefault(read.text, read)
    for line, command in _automated(parts):
        text = f"automated check: {command}"
        number = len(found) + 1
        found.setdefault(text, Criterion(id=f"{task_id}.{number}", text=text, command=command, line=line))
    return tuple(found.values())


def _statements(parts: _Parts) -> Iterator[Numbered]:
    for part in ("criteria", "verify"):
        lines = [(number, _AUTOMATED.sub("", text)) for number, text in parts.found.get(part, ())]
        if part == "verify" and "<automated" in parts.text(part).lower():
            # Beside a command of its own, what else is said there only describes it.
            continue
        listed = list(fields.items(lines))
        if listed:
            yield from listed
        elif said := " ".join(text.strip() for _, text in lines if text.strip()):
            yield next(number for number, text in lines if text.strip()), said


def _automated(parts: _Parts) -> Iterator[Numbered]:
    lines = [numbered for part in ("verify", "criteria", "body") for numbered in parts.found.get(part, ())]
    text = "\n".join(line for _, line in lines)
    at = row = 0
    for found in _AUTOMATED.finditer(text):
        row += text.count("\n", at, found.start())
        at = found.start()
        command = _COMMENTS.sub("", html.unescape(found[1]).strip().strip("`").strip())
        if command and not _ABSENT.match(command):
            yield lines[row][0], command


def _files(text: str) -> Iterator[str]:
    """Comma- or line-separated paths; notes behind them and marks around them are dropped."""
    for piece in re.split(r"[,\n]", "\n".join(without_parentheses(line) for line in text.split("\n"))):
        bare = _FILE_LEAD.sub("", _FILE_NOTE.sub("", piece).strip(" \t-*+;[]").strip(), count=1)
        quoted = re.search(r"`([^`]+)`", bare)
        path = quoted[1].strip() if quoted else (bare.split() or [""])[0]
        if path and path.lower() not in {"none", "n/a", "tbd", "-"}:
            yield path


def _declared(text: str) -> Iterator[DeclaredChange]:
    """A line each: the test files, and behind a dash the reason why they must change."""
    for line in text.split("\n"):
        note = _FILE_NOTE.search(line)
        reason = markdown.plain(note[0].strip(" \t-\u2014\u2013")) if note else ""
        for path in _files(line[: note.start()] if note else line):
            yield DeclaredChange(path=path, reason=reason)


def _needs(text: str) -> tuple[str, ...]:
    bare = without_parentheses(markdown.plain(text))
    return tuple(dict.fromkeys(re.findall(r"(?<![\w.-])\d[\w.]*(?:-[\w.]*\w)*(?![\w-])", bare)))


def _type(text: str) -> TaskType:
    """Absent or unknown is `auto`; an unknown checkpoint still waits for a person."""
    known = next((kind for kind in _TYPES if kind == text.strip().lower()), None)
    if known:
        return known
    return "checkpoint:human-action" if text.strip().lower().startswith("checkpoint") else "auto"


def _complexity(text: str) -> Complexity | None:
    word = text.strip().lower()
    return next((kind for kind in _COMPLEXITIES if kind == _SIZES.get(word, word)), None)


def _number(text: str) -> int:
    found = re.match(r"\s*(\d{1,4})\b", text)
    return int(found[1]) if found else 0
