"""Source text with comments, or comments and strings, blanked out: what a detector may read as code."""

import re
from dataclasses import dataclass
from functools import cache

LONGEST_LINE = 4_000
_BLANK = re.compile(r"[^\n]")
_DOUBLE = r'"(?:[^"\\\n]|\\.)*"?'
_SINGLE = r"'(?:[^'\\\n]|\\.)*'?"
_C_COMMENT = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?"
_REGEX = r"(?<=[=(,:!&|?])[ ]?/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.){0,99}\]){1,200}/[a-z]*"
_SPANNING = r'"(?:[^"\\]|\\.)*"?'
_HASHED = r'r#"(?:[^"]|"(?!#))*(?:"#)?'
_TEXT_BLOCK = r'"""(?:[^"\\]|\\.|"(?!""))*(?:""")?'
_TRIPLE = _TEXT_BLOCK + r"|'''(?:[^'\\]|\\.|'(?!''))*(?:''')?"
_HASH = r"(?:(?<=\s)|^)#[^\n]*"


def _pattern(comment: str, string: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<comment>{comment})|(?P<string>{string})", re.DOTALL | re.MULTILINE)


_PATTERNS: dict[str, tuple[str, str]] = {
    "python": (r"#[^\n]*", f"{_TRIPLE}|{_DOUBLE}|{_SINGLE}"),
    "javascript": (_C_COMMENT, rf"{_DOUBLE}|{_SINGLE}|`(?:[^`\\]|\\.)*`?|{_REGEX}"),
    "go": (_C_COMMENT, rf"{_DOUBLE}|`[^`]*`?|'(?:[^'\\\n]|\\.)+'"),
    "rust": (_C_COMMENT, rf"{_HASHED}|{_SPANNING}|'(?:[^'\\\n]|\\.)'"),
    "java": (_C_COMMENT, rf"{_TEXT_BLOCK}|{_DOUBLE}|'(?:[^'\\\n]|\\.)+'"),
    "shell": (_HASH, rf"{_SPANNING}|'[^']*'?"),
    "yaml": (_HASH, f"{_DOUBLE}|{_SINGLE}"),
    "toml": (r"#[^\n]*", f"{_TRIPLE}|{_DOUBLE}|'[^'\n]*'?"),
    "ini": (r"^[ \t]*[#;][^\n]*", r"(?!)"),
    "make": (_HASH, r"(?!)"),
    "json": (r"^[ \t]*//[^\n]*", r"(?!)"),
}  # fmt: skip
_SUFFIXES = {
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
    "go": (".go",),
    "rust": (".rs",),
    "java": (".java", ".kt", ".kts", ".groovy", ".scala", ".gradle"),
    "shell": (".sh", ".bash", ".zsh", ".ksh", ".dash", ".bats"),
    "yaml": (".yml", ".yaml"),
    "toml": (".toml",),
    "ini": (".ini", ".cfg", ".coveragerc", ".pylintrc", ".flake8"),
    "make": ("makefile", "gnumakefile", ".mk", "justfile"),
    "json": (".json", ".jsonc", ".json5", ".eslintrc", ".babelrc", ".nycrc"),
}
_DOCUMENT = re.compile(r"""(?<![<$(])<<-?\s*(?P<quote>['"\\]?)(?P<end>[A-Za-z_]\w*)(?P=quote)""")
_SHEBANG = re.compile(r"#![^\n]{0,80}\b(?:ba|da|z|k)?sh\b")
_PYTHON_SHEBANG = re.compile(r"#![^\n]{0,80}\bpython")


def language_of(path: str, text: str = "") -> str:
    """By the name, else by the first line; empty for what we do not read."""
    name = path.rpartition("/")[2].lower()
    for language, endings in _SUFFIXES.items():
        if name.endswith(endings):
            return language
    if _SHEBANG.match(text):
        return "shell"
    return "python" if _PYTHON_SHEBANG.match(text) else ""


@dataclass(frozen=True, slots=True)
class Masked:
    """The same text three times, equally long: as it is, without comments, and without comments and strings."""

    raw: str
    bare: str
    code: str


def masked(text: str, language: str) -> Masked:
    """Lines past the longest we read are cut, so that no pattern ever meets a line of a megabyte."""
    raw = "\n".join(line[:LONGEST_LINE] for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    pattern = _compiled(language)
    if pattern is None:
        return Masked(raw, raw, raw)
    read = _without_documents(raw) if language == "shell" else raw
    bare = pattern.sub(lambda found: _blanked(found[0]) if found["comment"] else found[0], read)
    return Masked(raw, bare, pattern.sub(_without, read))


def _without_documents(text: str) -> str:
    """Shell text without its here-documents, which are data."""
    lines, end = [], ""
    for line in text.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            lines.append(" " * len(line))
            continue
        opened = _DOCUMENT.search(line)
        end = opened["end"] if opened else ""
        lines.append(line)
    return "\n".join(lines)


@cache
def _compiled(language: str) -> re.Pattern[str] | None:
    return _pattern(*_PATTERNS[language]) if language in _PATTERNS else None


def _without(found: re.Match[str]) -> str:
    """A string keeps its quotes, so that an empty argument does not look like none."""
    text = found[0]
    if found["comment"] or len(text) < len("''"):
        return _blanked(text)
    return text[0] + _blanked(text[1:-1]) + text[-1]


def _blanked(text: str) -> str:
    return _BLANK.sub(" ", text)
