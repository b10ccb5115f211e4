"""
The outline of a Go file by its lines alone, several times faster than by parsing it.

As `gofmt` leaves it, everything a file declares begins at the left edge, and what is long ends there. What this reader
is not sure of it leaves to the parser.
"""

import re
from itertools import pairwise

from autopilot.codemap.outline import LONGEST, Body, InCode, Kind, Raw, Sheet, finished, one_line

NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+"
SHORT = rb""""(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?"""
# Everything up to the next thing that may have several lines, and that.
LONG = re.compile(
    rb"(?s)(?:[^\"'`/]++|/(?![/*])|//[^\n]*+|" + SHORT + rb")*+(`[^`]*+`?|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"
)
# A raw string becomes spaces between two ends, a comment marks that are no part of anything; a newline stays one.
BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))  # noqa: PLR2004 - a newline
MARK, END = b"\x01", b"\x02"
MARKED = BLANK.replace(b" ", MARK)
ODD_BYTES = (b"\0", b"\r", b"\f", b"\v", MARK, END)
HIDDEN = re.compile(rb"\n[ \t]+func[ \t]+[\w(\x80-\xff]")
TOP = re.compile(rb"\n(package|import|func|type|var|const)(?=[ \t(])")
GAP = re.compile(rb"(?:[ \t\n\x01]++|//[^\n]*+)*+")
COMMENT = re.compile(rb"//[^\n]*")
STRING_OR_COMMENT = re.compile(rb"(" + SHORT + rb")|//[^\n]*+")
STRING = re.compile(SHORT)
PACKAGE = re.compile(rb"[ \t]++" + NAME)
IMPORTED = re.compile(rb"[ \t]*+(?:(\.|" + NAME + rb")[ \t]++)?\"([^\"\n]*)\"[ \t]*+")
GROUP = re.compile(rb"[ \t]*+\([ \t]*+(?://[^\n]*)?(?=\n)")
VALUES = re.compile(rb"[ \t]*+(" + NAME + rb"(?:\s*,\s*" + NAME + rb")*+)(?=[ \t\n=*\[]|\Z)")
FUNCTION = re.compile(rb"(?:[ \t]*+\(([^()\n]*)\))?[ \t]*+(" + NAME + rb")[ \t]*+(?=[(\[])")
RECEIVER = re.compile(rb"[ \t]*+(?:" + NAME + rb"[ \t]++)?\**(" + NAME + rb")(?:\[[^\[\]]*\])?[ \t]*+,?[ \t]*+")
# Parameters and a result without anything in parentheses, and where the code begins.
PLAIN_HEAD = re.compile(
    rb"\(((?:[^(){}\n/\"\x01]++|\{\})*+)\)[ \t]*+(\([^(){}\n/\"\x01]*+\)[ \t]*+|[^(){}\n/\"\x01]*+)(?:(\{)|(?=\n))"
)
TYPE_WORD = re.compile(rb"(?:\A|[^\w\x80-\xff])(?:struct|interface)\Z")
TOKEN = re.compile(rb"([(\[{])|([)\]}])|(,)|(\n)|//[^\n]*+|" + SHORT)
OPENS, CLOSES, COMMA, NEWLINE = 1, 2, 3, 4
MOST_HEAD = 20_000
NAMED_PARAM = re.compile(rb"(" + NAME + rb")(?:\s+(?=\S)|(?=\.\.\.))")
FIRST = re.compile(rb"(" + NAME + rb")(?=\s|\.\.\.|\Z)")
TYPE_WORDS = frozenset({b"chan", b"func", b"map", b"struct", b"interface"})
GENERIC = rb"\[(?=[^\[\]\n]*[ ,])(?:[^\[\]\n]|\[[^\[\]\n]*\])*+\]"
TYPE = re.compile(rb"[ \t]*+(" + NAME + rb")(" + GENERIC + rb")?(?:[ \t]*+=?[ \t]*+(struct|interface)[ \t]*+(\{))?")
EMBEDDED = re.compile(rb"(?:\A|\n)[ \t]*+\*?[ \t]*+[\w.\x80-\xff]++(?:\[[^\n]*\])?[ \t]*+(?:\"|\x01|\x02|//|\n|\Z)")
EMBEDDED_FIELD = re.compile(rb"\*?[ \t]*+([\w.\x80-\xff]++[ \t]*+(?:\[.*\])?)[ \t]*+(?:\"\"|\x02[^\x02]*\x02)?")
# Not one type, as far as one can see.
SEVERAL = re.compile(rb"[\n{\x01]|[\w\])][ \t]++[\w(\[]")
METHOD = re.compile(rb"(" + NAME + rb")[ \t]*+\(")
NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"()[]{}")
MARGIN = b" \t" + MARK
KINDS: dict[bytes, Kind] = {b"struct": "class", b"interface": "interface"}
# A line that ends with one of these goes on.
GOES_ON = re.compile(rb"(?:[,+\-*/%&|^<>=!:]|(?<![\da-fA-F])\.)\Z")
ODD_LINE = re.compile(rb"\n[^ \t\n)}\]/\x01\x02]")
ODD_STOP = re.compile(rb"(?:\A|\n(?=[^ \t\n]))[^\n]*;")
INNER = re.compile(rb"\n[ \t]++(?:import|func|type|var|const)[ \t(]")
# A longer line was made by a machine, and looking at it again for each call in it would take for ever.
MOST_LINE = 5_000
BEFORE = re.compile(rb"(?:[^\"'/]++|/(?!/)|\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+')*+")


class Unsure(Exception):
    """The lines do not tell enough."""


def read(source: bytes) -> Raw | None:
    """The fields of `Outline`; None where the lines do not tell enough."""
    try:
        text = blanked(source)
        sheet = Sheet(text)
        _Lines(sheet).read()
    except Unsure:
        return None
    return finished(sheet, in_code_of(text))


def blanked(source: bytes) -> bytes:
    """As many bytes, and one newline before them, without what is in raw strings and comments in `/*`."""
    source = source.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b" \n")
    if any(byte in source for byte in ODD_BYTES):
        raise Unsure
    parts, at = [b"\n"], 0
    if b"`" in source or b"/*" in source:
        while (found := LONG.match(source, at)) is not None:
            said = found[1]
            if len(said) < 2 or not said.endswith((b"`", b"*/")):  # noqa: PLR2004 - the two quotes of a string
                raise Unsure
            kept = END + said[1:-1].translate(BLANK) + END if said[:1] == b"`" else said.translate(MARKED)
            parts += (source[at : found.start(1)], kept)
            at = found.end()
    text = b"".join((*parts, source[at:], b"\n"))
    if (b"\tfunc " in text or b" func " in text) and HIDDEN.search(text):
        raise Unsure
    return text


class _Lines:
    """One reading: the line it is at, and where what it has understood ends."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet, self.text = sheet, sheet.source
        self.line, self.counted = 0, 0
        # `loose`: what was begun goes on up to the next declaration.
        self.end, self.loose = 0, False

    def read(self) -> None:
        reads = {
            b"package": self._package, b"import": self._import, b"func": self._function, b"type": self._type,
            b"var": self._values, b"const": self._values,
        }  # fmt: skip
        for found in TOP.finditer(self.text):
            start = found.start()
            self._gap(start)
            self.line += self.text.count(b"\n", self.counted, start + 1)
            self.counted = start + 1
            reads[found[1]](found.end())
        self._gap(len(self.text))

    def _gap(self, start: int) -> None:
        """What lies before the next declaration belongs to the last one, or is nothing."""
        if start < self.end:
            raise Unsure
        if self.loose:
            _check_rest(self.text[self.end : start])
        elif GAP.fullmatch(self.text, self.end, start) is None:
            raise Unsure
        self.loose = False

    def _package(self, at: int) -> None:
        self.end = _sure(PACKAGE.match(self.text, at)).end()

    def _import(self, at: int) -> None:
        group = GROUP.match(self.text, at)
        if group is None:
            single = _sure(IMPORTED.match(self.text, at))
            self._included(single, self.line)
            self.end = single.end()
            return
        for number, line in enumerate(self._group(group.end()).split(b"\n")):
            found = IMPORTED.match(line)
            if found is not None:
                self._included(found, self.line + number)
            if GAP.fullmatch(line, 0 if found is None else found.end()) is None:
                raise Unsure

    def _included(self, found: "re.Match[bytes]", line: int) -> None:
        name, source = _said(found[1] or b""), _said(found[2])
        names = ("*",) if name == "." else (name,) if name and name != "_" else ()
        if source:
            self.sheet.imports.append((source[:LONGEST], names, line))

    def _group(self, at: int) -> bytes:
        """What stands between the parentheses, from the end of the first line."""
        end = self.text.find(b"\n)", at)
        if end < 0:
            raise Unsure
        self.end = end + 2
        return self.text[at:end]

    def _values(self, at: int) -> None:
        group = GROUP.match(self.text, at)
        if group is not None:
            for line, said in _entries(_scrubbed(self._group(group.end())), self.line):
                self._named(_sure(VALUES.match(said)), line)
            return
        found = _sure(VALUES.match(self.text, at))
        self._named(found, self.line)
        self.end, self.loose = found.end(), True

    def _named(self, found: "re.Match[bytes]", line: int) -> None:
        for name in found[1].split(b","):
            line += name[: len(name) - len(name.lstrip())].count(b"\n")
            self._public(_said(name.strip()), "const", line)
            line += name[len(name.rstrip()) :].count(b"\n")

    def _public(self, name: str, kind: Kind, line: int) -> None:
        if name[:1].isupper():
            self.sheet.exports.append((name, kind, line))

    def _function(self, at: int) -> None:
        found = _sure(FUNCTION.match(self.text, at))
        name, at = _said(found[2]), found.end()
        params, returns, brace = self._head(at)
        owner = ""
        if found[1] is None:
            self._public(name, "function", self.line)
            self.sheet.functions.append((name, _params(params), self.line, one_line(_said(returns)) or None))
        else:
            owner = _said(_sure(RECEIVER.fullmatch(found[1]))[1])
            self.sheet.methods.setdefault(owner, []).append(name)
        if brace >= 0:
            self.sheet.bodies.append(Body(name, owner, self.line, brace, self._closed(brace)))

    def _head(self, at: int) -> tuple[list[bytes], bytes, int]:
        """The parameters, the result, and where the code begins; that is -1 where there is none."""
        plain = PLAIN_HEAD.match(self.text, at)
        parts = [] if plain is None else plain[1].split(b",")
        nested = any(part.count(b"[") != part.count(b"]") for part in parts)
        if plain is None or nested or plain[2].rstrip().endswith((b"struct", b"interface")):
            return self._long_head(at)
        self.end = plain.end()
        return parts, plain[2], plain.start(3)

    def _long_head(self, at: int) -> tuple[list[bytes], bytes, int]:
        """The same with brackets or comments among the parameters, or parameters of types before them."""
        edges = self._edges(at)
        if self.text[at : at + 1] == b"[":
            edges = self._edges(edges[-1] + 1)
        parts = [self.text[one + 1 : other] for one, other in pairwise(edges)]
        start, depth = edges[-1] + 1, 0
        for found in TOKEN.finditer(self.text, start, start + MOST_HEAD):
            which, stop = found.lastindex, found.start()
            if depth == 0 and (which == NEWLINE or found[0] == b"{") and MARK in self.text[at:stop]:
                raise Unsure
            if depth == 0 and which == NEWLINE:
                self.end = stop
                return parts, COMMENT.sub(b"", self.text[start:stop]), -1
            before = self.text[max(start, stop - LONGEST) : stop].rstrip()
            if depth == 0 and found[0] == b"{" and not TYPE_WORD.search(before):
                return parts, self.text[start:stop], stop
            depth += (which == OPENS) - (which == CLOSES)
        raise Unsure

    def _edges(self, at: int) -> list[int]:
        """The bracket, the commas between what stands in it, and the one that closes it."""
        depth, edges = 0, [at]
        for found in TOKEN.finditer(self.text, at, at + MOST_HEAD):
            which = found.lastindex
            depth += (which == OPENS) - (which == CLOSES)
            if depth == 0:
                return [*edges, found.start()]
            if which == COMMA and depth == 1:
                edges.append(found.start())
        raise Unsure

    def _closed(self, brace: int) -> int:
        """Where the brace is closed: on its line, or at the left edge of a later one."""
        line_end = self.text.find(b"\n", brace)
        rest = self.text[brace:line_end]
        if b"}" in rest:
            bare = _scrubbed(rest).rstrip()
            if bare.count(b"}") == bare.count(b"{"):
                if not bare.endswith(b"}"):
                    raise Unsure
                self.end = line_end
                return line_end
        end = self.text.find(b"\n}", line_end) + 2
        if end < 2 or not self._balanced(brace, end):  # noqa: PLR2004 - nothing was found
            raise Unsure
        self.end = end
        return end

    def _balanced(self, start: int, end: int) -> bool:
        if self.text.count(b"{", start, end) == self.text.count(b"}", start, end):
            return True
        bare = _scrubbed(self.text[start:end])
        return bare.count(b"{") == bare.count(b"}")

    def _type(self, at: int) -> None:
        group = GROUP.match(self.text, at)
        if group is not None:
            for line, said in _entries(_scrubbed(self._group(group.end())), self.line):
                self._declared(_sure(TYPE.match(said)), line, len(said))
            return
        found = _sure(TYPE.match(self.text, at))
        if found[3]:
            self._declared(found, self.line, self._closed(found.start(4)))
        else:
            self._declared(found, self.line, self.text.find(b"\n", at))
            self.end, self.loose = found.end(), True

    def _declared(self, found: "re.Match[bytes]", line: int, end: int) -> None:
        """One type, that ends there; of one with nothing inside, the line does."""
        name, shape, rest = _said(found[1]), found[3] or b"", found.string[found.end() : end]
        self._public(name, KINDS.get(shape, "type"), line)
        if shape:
            inside = rest[: rest.rfind(b"}")]
            embedded = _embedded(inside) if shape == b"struct" else self._interface(name, inside)
            self.sheet.classes.append((name, ", ".join(embedded) or None, line))
        elif rest[:1] == b"[" or MARK in rest:
            # Its parameters may be too many for the pattern.
            raise Unsure

    def _interface(self, name: str, inside: bytes) -> list[str]:
        """The types whose methods become its own; its methods are noted."""
        embedded = []
        for _, said in _entries(_scrubbed(inside).replace(b";", b"\n"), 0):
            method = METHOD.match(said)
            if method is not None:
                self.sheet.methods.setdefault(name, []).append(_said(method[1]))
            elif SEVERAL.search(said):
                raise Unsure
            else:
                embedded.append(one_line(_said(said)))
        return embedded


def _sure(found: "re.Match[bytes] | None") -> "re.Match[bytes]":
    if found is None:
        raise Unsure
    return found


def _scrubbed(text: bytes) -> bytes:
    """Without comments, and with nothing in its strings."""
    if b"//" in text:
        text = STRING_OR_COMMENT.sub(rb"\1", text)
    return STRING.sub(b'""', text) if b'"' in text or b"'" in text else text


def _check_rest(text: bytes) -> None:
    """The rest of a declaration whose end is not looked for has nothing in it that is not its own."""
    bare = _scrubbed(text)
    if ODD_LINE.search(bare) or (b";" in bare and ODD_STOP.search(bare)) or _depth(bare):
        raise Unsure
    depth, at = 0, 0
    for found in INNER.finditer(bare):
        depth += _depth(bare[at : found.start()])
        at = found.start()
        if depth <= 0:
            raise Unsure


def _depth(bare: bytes) -> int:
    brackets = bare.translate(None, NOT_BRACKETS)
    opened = brackets.count(b"(") + brackets.count(b"[") + brackets.count(b"{")
    return 2 * opened - len(brackets)


def _entries(bare: bytes, line: int) -> list[tuple[int, bytes]]:
    """What a list in brackets is made of, each with the line it begins on."""
    if b";" in bare:
        raise Unsure
    found, depth, goes_on = list[tuple[int, list[bytes]]](), 0, False
    for number, said in enumerate(bare.split(b"\n"), line):
        part = said.strip(MARGIN)
        if depth or goes_on:
            found[-1][1].append(part)
        elif part:
            found.append((number, [part]))
        if not part:
            continue
        depth += _depth(part)
        goes_on = GOES_ON.search(part, max(len(part) - 2, 0)) is not None
    if depth:
        raise Unsure
    return [(number, b"\n".join(parts)) for number, parts in found]


def _embedded(inside: bytes) -> list[str]:
    """The types whose fields and methods become those of a struct."""
    if b";" not in inside and not EMBEDDED.search(inside):
        return []
    found = []
    for _, said in _entries(_scrubbed(inside).replace(b";", b"\n"), 0):
        field = EMBEDDED_FIELD.fullmatch(said)
        if field is not None:
            found.append(one_line(_said(field[1])))
        elif MARK in said and EMBEDDED_FIELD.fullmatch(said.replace(MARK, b"")):
            raise Unsure
    return found


def _params(parts: list[bytes]) -> tuple[str, ...]:
    """Names; where there are none, types."""
    bare = [said for part in parts if (said := (COMMENT.sub(b"", part) if b"/" in part else part).strip())]
    if any((found := NAMED_PARAM.match(part)) and found[1] not in TYPE_WORDS for part in bare):
        return tuple(_said(_sure(FIRST.match(part))[0]) for part in bare)
    return tuple(one_line(_said(part)) for part in bare)


def in_code_of(text: bytes) -> InCode:
    """Whether what lies there is code: no comment and no string."""

    def in_code(start: int, end: int) -> bool:  # noqa: ARG001 - as the parser's own answer takes it
        at = text.rfind(b"\n", max(start - MOST_LINE, 0), start)
        if at < 0:
            return False
        before = text[at + 1 : start]
        if b'"' not in before and b"'" not in before and b"//" not in before:
            return True
        return BEFORE.fullmatch(before) is not None

    return in_code


def _said(said: bytes) -> str:
    return said.decode("utf-8", "replace")
