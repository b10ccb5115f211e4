"""
The outline of a Python module by its lines alone, several times faster than by parsing it.

Indentation tells where things begin and end, once strings of several lines are blanked out. What this reader is not
sure of it leaves to the parser.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from autopilot.codemap.outline import LONGEST, Body, InCode, Raw, Sheet, finished, one_line

ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
KEYWORDS = frozenset({b"else", b"try", b"finally", b"lambda", b"except"})
SHORT = rb""""(?!"")(?:[^"\\\n]++|\\.)*+"?|'(?!'')(?:[^'\\\n]++|\\.)*+'?"""
# Everything up to the next string of several lines, and that string.
LONG = re.compile(
    rb"(?s)(?:[^\"'#]++|#[^\n]*+|" + SHORT + rb")*+"
    rb"(\"{3}(?:[^\"\\]++|\\.|\"(?!\"\"))*+(?:\"{3})?|'{3}(?:[^'\\]++|\\.|'(?!''))*+(?:'{3})?)"
)
BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))  # noqa: PLR2004 - a newline stays one
# Where a string of several lines ends, so that the rest of its last line is not taken for a line of its own.
END = b"\x01\x01\x01"
FILLED = re.compile(rb"\{[^{}\n]*\}")
STATEMENT = re.compile(
    rb"\n(?:([ \t]*+)(?=[acdfi])(?:(?:async[ \t]+)?(def|class)[ \t]+([\w\x80-\xff]++)|(import|from)[ \t.])"
    rb"|([A-Za-z_][\w\x80-\xff]*+)[ \t]*+(?:=(?!=)|:(?!=))"
    rb"|type[ \t]+(\w++)[ \t]*[\[=])"
)
# A string that goes on at the beginning of a line, and several statements on one: there lines tell too little.
CONTINUED = re.compile(rb"\\\n[^ \t\n]")
CHAINED = re.compile(rb"\n[^\n\"'#]*;")
PLAIN_HEAD = re.compile(rb"[ \t]*(?:\(([^()\[\]{}\"'#]*)\))?[ \t]*(?:->([^\n:\"'#]*))?:")
OPENED = re.compile(rb"[ \t]*(?:\[[^\[\]]*\])?[ \t]*\(")
HEAD = re.compile(rb"(?s)([(\[{])|([)\]}])|(,)|#[^\n]*+|" + SHORT)
# The groups of it.
STEPS: dict[int | None, int] = {1: 1, 2: -1}
COMMA = 3
MOST_HEAD = 20_000
AFTER = re.compile(rb"(?s)(?:[ \t]|\\\n)*+(?:->((?:[^\n:\"'#\\]++|\\\n|" + SHORT + rb")++))?:")
KEYWORD_ARGUMENT = re.compile(rb"\s*\w+\s*=(?!=)")
BODY = re.compile(rb"\n([ \t]*)[^ \t\n#\x01]")
IMPORT = re.compile(rb"import[ \t]+((?:[^\n#;\\]++|\\\n)++)")
FROM = re.compile(
    rb"from[ \t]*(\.*[ \t]*[\w.\x80-\xff]*)[ \t]*import(?:[ \t]|\\\n)*+"
    rb"(?:\(((?:[^)#]++|#[^\n]*+)*+)\)|(?!\()((?:[^\n#;\\]++|\\\n)++))"
)
COMMENT = re.compile(rb"#[^\n]*")
SCRUBBED = re.compile(rb"(?s)#[^\n]*+|" + SHORT)
LISTED = re.compile(rb"[^=\n]*=\s*[\[(]((?:[^\[\](){}#]++|#[^\n]*+)*+)[\])][ \t]*(?=[\n#]|\Z)")
LISTED_NAME = re.compile(rb"[\"']([^\"'\n]*)[\"']")
# A longer line was made by a machine, and looking at it again for each call in it would take for ever.
MOST_LINE = 5_000
MOST_DOUBTS = 100
OPEN_ENDS = b",([{\\"
BEFORE = re.compile(rb"(?s)(?:[^\"'#]++|\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+')*+")
DEFINES = re.compile(rb"(?:def|class)[ \t]+\Z")


def read(source: bytes) -> Raw | None:
    """The fields of `Outline`; None where the lines do not tell enough."""
    text = blanked(source)
    if text is None or (b";" in text and CHAINED.search(text)) or CONTINUED.search(text):
        return None
    sheet = Sheet(text)
    return finished(sheet, in_code_of(text)) if _Lines(sheet).read() else None


def blanked(source: bytes) -> bytes | None:
    """As many bytes, and one newline before them, with spaces for strings in three quotes; None for odd ones."""
    source = source.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b" \n")
    if b"\0" in source or b"\1" in source or b"\r" in source:
        return None
    parts, at = [b"\n"], 0
    if b'"""' in source or b"'''" in source:
        while (found := LONG.match(source, at)) is not None:
            start, end = found.span(1)
            said = found[1]
            if len(said) < 6 or said[-3:] != said[:3]:  # noqa: PLR2004 - two times three quotes
                return None
            formatted = b"f" in source[max(start - 2, 0) : start].lower()
            parts += (source[at:start], (_filled(said) if formatted else said.translate(BLANK))[:-3], END)
            at = end
    parts.append(source[at:])
    return b"".join(parts)


def _filled(said: bytes) -> bytes:
    """What stands in the braces of a formatted string is code."""
    parts, at = list[bytes](), 0
    for found in FILLED.finditer(said):
        parts += (said[at : found.start()].translate(BLANK), found[0])
        at = found.end()
    return b"".join((*parts, said[at:].translate(BLANK)))


class _Lines:
    """One reading: where it is in the text, and the class it is in."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet, self.text = sheet, sheet.source
        self.line, self.counted = 0, 0
        self.settled, self.doubts = 0, 0
        self.owner, self.inner, self.owner_end = "", b"", 0
        self.public: frozenset[str] = frozenset()

    def read(self) -> bool:
        for found in STATEMENT.finditer(self.text):
            start = found.start()
            self.line += self.text.count(b"\n", self.counted, start + 1)
            self.counted = start + 1
            if not self._statement(found):
                return False
        if self.public:
            self.sheet.exports = [e for e in self.sheet.exports if e[0] in self.public]
        else:
            self.sheet.exports = [e for e in self.sheet.exports if not e[0].startswith("_")]
        return True

    def _statement(self, found: "re.Match[bytes]") -> bool:
        indent, kind, name, including, assigned, alias = found.groups()
        if including:
            return self._import(found.start(4))
        if assigned:
            return self._assigned(assigned, found.start())
        if alias:
            self.sheet.exports.append((_said(alias), "type", self.line))
        elif not indent or (indent == self.inner and found.start() < self.owner_end and kind == b"def"):
            return self._defined(kind, _said(name), indent, found.end())
        return True

    def _defined(self, kind: bytes, name: str, indent: bytes, at: int) -> bool:
        parts, returns, colon = self._head(at)
        if colon < 0 or b"lambda" in self.text[at:colon]:
            return False
        end = self._end(indent, colon)
        if indent:
            self.sheet.methods.setdefault(self.owner, []).append(name)
            self.sheet.bodies.append(Body(name, self.owner, self.line, colon, end))
        elif kind == b"def":
            params = tuple(_param(part) for part in parts)
            self.sheet.exports.append((name, "function", self.line))
            self.sheet.functions.append((name, tuple(p for p in params if p not in {"", "*", "/"}), self.line, returns))
            self.sheet.bodies.append(Body(name, "", self.line, colon, end))
        else:
            self._class(name, parts, colon, end)
        self.settled = colon
        return True

    def _class(self, name: str, parts: list[bytes], colon: int, end: int) -> None:
        bases = [one_line(_said(COMMENT.sub(b"", part))) for part in parts if not KEYWORD_ARGUMENT.match(part)]
        extends = [base for base in bases if base]
        enum = any(base.rpartition(".")[2] in ENUMS for base in extends)
        self.sheet.exports.append((name, "enum" if enum else "class", self.line))
        self.sheet.classes.append((name, ", ".join(extends) or None, self.line))
        first = BODY.search(self.text, colon, end)
        self.owner, self.inner, self.owner_end = name, first[1] if first else b"", end

    def _head(self, at: int) -> tuple[list[bytes], str | None, int]:
        """What stands in the parentheses, what after the arrow, and where the colon is; that is -1 without one."""
        plain = PLAIN_HEAD.match(self.text, at)
        if plain is not None:
            parts = plain[1].split(b",") if plain[1] else []
            return parts, _returned(plain[2] or b""), plain.end() - 1
        return self._long_head(at)

    def _long_head(self, at: int) -> tuple[list[bytes], str | None, int]:
        """The same where brackets, strings or comments stand between the parentheses."""
        opened = OPENED.match(self.text, at)
        edges = self._edges(opened.end() - 1) if opened else []
        after = AFTER.match(self.text, edges[-1] + 1) if edges else None
        if after is None:
            return [], None, -1
        parts = [self.text[one + 1 : other] for one, other in pairwise(edges)]
        return parts, _returned(after[1] or b""), after.end() - 1

    def _edges(self, at: int) -> list[int]:
        """The parenthesis, the commas between what stands in it, and the one that closes it; nothing without that."""
        depth, edges = 0, [at]
        for found in HEAD.finditer(self.text, at, at + MOST_HEAD):
            which = found.lastindex
            if which == COMMA and depth == 1:
                edges.append(found.start())
            elif which in STEPS:
                depth += STEPS[which]
                if depth == 0:
                    return [*edges, found.start()]
        return []

    def _end(self, indent: bytes, at: int) -> int:
        found = outdented(len(indent)).search(self.text, at)
        return found.start() if found else len(self.text)

    def _assigned(self, name: bytes, start: int) -> bool:
        if name in KEYWORDS or self._inside(start):
            return self.doubts < MOST_DOUBTS
        self.settled = start
        if name != b"__all__":
            self.sheet.exports.append((_said(name), "const", self.line))
            return True
        listed = LISTED.match(self.text, start + 1)
        names = LISTED_NAME.findall(COMMENT.sub(b"", listed[1])) if listed else ()
        self.public = frozenset(_said(one) for one in names) or self.public
        return listed is not None

    def _inside(self, start: int) -> bool:
        """Whether a line without indentation goes on with what the lines before it began."""
        before = self.text[max(self.settled, start - LONGEST) : start].rstrip()
        last = before[before.rfind(b"\n") + 1 :]
        if not last or (last[-1] not in OPEN_ENDS and b"#" not in last):
            return False
        self.doubts += 1
        whole = SCRUBBED.sub(b"", self.text[self.settled : start])
        opened = whole.count(b"(") + whole.count(b"[") + whole.count(b"{")
        return whole.rstrip().endswith(b"\\") or opened > whole.count(b")") + whole.count(b"]") + whole.count(b"}")

    def _import(self, at: int) -> bool:
        if found := FROM.match(self.text, at):
            source, several, plain = found.groups()
            names = tuple(_names(COMMENT.sub(b"", several) if several is not None else plain))
            self.sheet.imports.append(("".join(_said(source).split())[:LONGEST], names, self.line))
        elif found := IMPORT.match(self.text, at):
            self.sheet.imports += [(name[:LONGEST], (), self.line) for name in _names(found[1])]
        return found is not None


@cache
def outdented(width: int) -> "re.Pattern[bytes]":
    """A line that ends what is indented deeper; one that begins with a bracket goes on with what was opened before."""
    return re.compile(rb"\n[ \t]{0,%d}(?=[^ \t\n#(){}\[\]\x01])" % width)


def in_code_of(text: bytes) -> InCode:
    """Whether what lies there is code: no comment, no string, no definition."""

    def in_code(start: int, end: int) -> bool:  # noqa: ARG001 - as the parser's own answer takes it
        line = text.rfind(b"\n", max(start - MOST_LINE, 0), start)
        before = text[line + 1 : start] if line >= 0 else b""
        if line < 0 or DEFINES.search(before):
            return False
        if b'"' not in before and b"'" not in before and b"#" not in before:
            return True
        found = BEFORE.match(before)
        at = found.end() if found else 0
        rest = before[at:]
        formatted = rest[:1] != b"#" and b"f" in before[max(at - 2, 0) : at].lower()
        return not rest or (formatted and rest.rfind(b"{") > rest.rfind(b"}"))

    return in_code


def _said(said: bytes) -> str:
    return said.decode("utf-8", "replace")


def _returned(said: bytes) -> str | None:
    return one_line(_said(said.replace(b"\\\n", b" "))) or None


def _param(part: bytes) -> str:
    """The name is what stands before a type or a default."""
    bare = COMMENT.sub(b"", part) if b"#" in part else part
    return _said(bare.partition(b":")[0].partition(b"=")[0].strip())


def _names(listed: bytes) -> Iterator[str]:
    for part in listed.replace(b"\\\n", b" ").split(b","):
        words = part.split()
        if words:
            yield _said(words[0])
