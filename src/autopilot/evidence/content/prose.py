"""Whether changed Markdown holds what it refers to (PTV-01): the files it names in code marks, and JSON that parses."""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from autopilot.domain.evidence import Finding
from autopilot.evidence.content.data_files import Unreadable, parse
from autopilot.evidence.content.tree_files import NOT_OURS, TreeFiles

RULE = "PTV-01"
MARKDOWN = frozenset({".md", ".mdx", ".markdown"})
MOST_TEXT = 1_000_000
_PATH = re.compile(r"(?:[\w.@-]+/)*[\w.@-]*\w\.[A-Za-z][A-Za-z0-9]*")
# Without a folder before it, `name.ending` is a file only by a known ending; else it may be code: `console.log`.
_ENDINGS = frozenset(
    {
        "md", "json", "jsonl", "toml", "yaml", "yml", "csv", "py", "js", "ts", "tsx", "jsx", "mjs", "cjs", "sh", "css",
        "html", "txt", "sql", "go", "rs", "vue", "svelte", "rb", "java", "kt", "swift", "lock", "cfg", "ini",
    }
)  # fmt: skip
# An example that is not meant to be parsed: something is left out, explained or to be filled in.
_SKETCH = re.compile(r"\.\.\.|\u2026|//|/\*|(?<!\")<[\w -]+>|(?<!\")\{[\w.-]+\}|\|")


def findings(path: str, tree: TreeFiles, claimed: Collection[str]) -> Iterator[Finding]:
    content = tree.read(path) if PurePosixPath(path).suffix.lower() in MARKDOWN else None
    if content is None or len(content) > MOST_TEXT:
        return
    tokens = MarkdownIt("commonmark").parse(content.decode("utf-8", "replace"))
    yield from _references(path, tokens, tree, claimed)
    for token in tokens:
        if token.type == "fence" and token.info.strip().lower().partition(" ")[0] == "json":
            yield from _block(path, token)


def _references(path: str, tokens: list[Token], tree: TreeFiles, claimed: Collection[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for token in tokens:
        for inline in token.children or ():
            name = inline.content.strip().removeprefix("./")
            if inline.type == "code_inline" and name not in seen and refers(name) and not _there(name, path, tree):
                seen.add(name)
                where = f"{path}:{token.map[0] + 1 if token.map else 1}"
                what = f"names `{name}`, which is not there"
                if name in claimed:
                    yield Finding(rule=RULE, where=where, what=f"{what}, though the plan was to bring it")
                else:
                    yield Finding(rule=RULE, where=where, what=what, severity="warning")


def refers(name: str) -> bool:
    """Whether a code mark reads as the path of a file of the project."""
    first = name.partition("/")[0]
    if not _PATH.fullmatch(name) or first in NOT_OURS:
        return False
    return "/" in name or name.rpartition(".")[2].lower() in _ENDINGS


def _there(name: str, path: str, tree: TreeFiles) -> bool:
    beside = os.path.normpath(PurePosixPath(path).parent / name)
    plain = os.path.normpath(name)
    return not tree.complete or tree.has(plain) or tree.has(beside) or plain in tree.endings


def _block(path: str, token: Token) -> Iterator[Finding]:
    first = token.map[0] + 1 if token.map else 1
    lines = [line for line in token.content.splitlines() if line.strip()]
    if not lines or all(_parses(line) for line in lines):
        return
    try:
        parse(token.content)
    except (Unreadable, RecursionError) as error:
        sketch = bool(_SKETCH.search(token.content))
        what = f"a JSON block does not parse: {error}" + (" (it looks like a sketch)" if sketch else "")
        yield Finding(rule=RULE, where=f"{path}:{first}", what=what, severity="warning" if sketch else "blocker")


def _parses(line: str) -> bool:
    try:
        parse(line)
    except (Unreadable, RecursionError):
        return False
    return True
