"""
Secrets in text: known shapes and known values, replaced by `[redacted:<kind>]` before anything is written.

Pure. Every pattern starts at a fixed word and is bounded, so that the time grows with the text and no faster.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

HOLD = 8_192
SHORTEST_VALUE = 8
# Text in JSON, and JSON in JSON, as agents' events are: a line's end is a letter there, and so is a colour's.
_ESCAPED = r"(?<=\\[abfnrtv])|(?<=\\u[0-9A-Fa-f]{4})|(?<=[0-9;\[]m)"
_WORD = rf"(?:(?<![A-Za-z0-9_])|{_ESCAPED})"
_END = r"(?![A-Za-z0-9_])"
_SPACE = r"(?:\\{1,8}[nr]|\s)"
_QUOTE = r"(?:\\{0,8}[\"'])?"
_KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BLOCK = (
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_SPACE}++[A-Z][\w-]{{2,30}}: [^\n\\\"']{{0,200}})*+"
    rf"(?:{_SPACE}++[A-Za-z0-9+/=]{{16,}}+)*+"
    rf"(?:{_SPACE}*+(?:=?[A-Za-z0-9+/=]{{1,80}}+{_SPACE}*+)?+{_KEY_END})?"
)
# Kind, words one of which must be there (a quick look before the slow one), and the pattern; the group is the secret.
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("private_key", ("PRIVATE KEY",), f"(?P<secret>{_KEY_BLOCK})"),
    ("aws", ("AKIA", "ASIA", "ABIA", "ACCA"), rf"{_WORD}(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}){_END}"),
    (
        "aws",
        ("aws_secret", "AWS_SECRET", "SecretAccessKey"),
        (r"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey)"
        rf"{_QUOTE}\s{{0,8}}[=:]\s{{0,8}}{_QUOTE}"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    ),
    ("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_WORD}(?P<secret>gh[pousr]_[A-Za-z0-9]{{36,251}}+)"),
    ("github", ("github_pat_",), rf"{_WORD}(?P<secret>github_pat_[A-Za-z0-9_]{{50,251}}+)"),
    ("gitlab", ("gl",), rf"{_WORD}(?P<secret>gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_.-]{{20,251}}+)"),
    (
        "slack",
        ("xox", "xapp-"),
        rf"{_WORD}(?P<secret>(?:xox[abeoprs]|xapp)-(?:[A-Za-z0-9]{{1,80}}-){{1,5}}[A-Za-z0-9]{{8,251}}+)",
    ),
    ("slack", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9_/]{20,251}+)"),
    ("anthropic", ("sk-ant-",), rf"{_WORD}(?P<secret>sk-ant-[A-Za-z0-9_-]{{20,251}}+)"),
    ("openai", ("sk-",), rf"{_WORD}(?P<secret>sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{{20,251}}+)"),
    ("openai", ("sk-",), rf"{_WORD}(?P<secret>sk-[A-Za-z0-9]{{48}}){_END}"),
    ("google", ("AIza",), rf"{_WORD}(?P<secret>AIza[A-Za-z0-9_-]{{35}})(?![A-Za-z0-9_-])"),
    ("google", ("ya29.", "GOCSPX-"), rf"{_WORD}(?P<secret>(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{{20,1000}}+)"),
    ("stripe", ("k_live_", "k_test_"), rf"{_WORD}(?P<secret>[sr]k_(?:live|test)_[A-Za-z0-9]{{16,251}}+)"),
    ("stripe", ("whsec_",), rf"{_WORD}(?P<secret>whsec_[A-Za-z0-9]{{16,251}}+)"),
    ("npm", ("npm_",), rf"{_WORD}(?P<secret>npm_[A-Za-z0-9]{{36}}){_END}"),
    ("pypi", ("pypi-Ag",), rf"{_WORD}(?P<secret>pypi-Ag[A-Za-z0-9_-]{{50,1000}}+)"),
    (
        "jwt",
        ("eyJ",),
        (rf"(?:(?<![\w-])|{_ESCAPED})"
        r"(?P<secret>eyJ[A-Za-z0-9_-]{8,8000}+\.eyJ[A-Za-z0-9_-]{8,8000}+\.[A-Za-z0-9_-]{8,8000}+)"),
    ),
    (
        "bearer",
        ("earer ", "EARER "),
        (rf"(?:(?<![A-Za-z])|{_ESCAPED})"
        r"[Bb](?:earer|EARER) {1,4}"
        r"(?P<secret>(?=[A-Za-z._~+/-]{0,200}+[0-9])[A-Za-z0-9._~+/-]{16,4000}+={0,2})"),
    ),
    (
        "basic_auth",
        ("asic ",),
        (rf"[Aa](?i:uthorization){_QUOTE}: {{0,4}}{_QUOTE}"
        r"[Bb]asic {1,4}(?P<secret>[A-Za-z0-9+/]{8,1000}+={0,2})"),
    ),
    ("url_password", ("://",), r"://[^\s/:@\"'<>`]{0,200}+:(?P<secret>[^\s/@\"'<>`]{1,200}+)@"),
)  # fmt: skip
_NAMES = re.compile(
    r"(?:^|_)(?:TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|APIKEY)S?(?:_B64|_BASE64)?$|^PG?PASS$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Redactor:
    """Takes secrets out of text: those of a known shape, and those whose `values` (name and text) are known."""

    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Redactor":
        """One that also knows the values of variables whose names look like those of secrets, plain and as JSON."""
        held = [(name, value) for name, value in environment.items() if is_secret_name(name) and _telling(value)]
        found = {(name, form) for name, value in held for form in _written(value)}
        return cls(tuple(sorted(found, key=lambda pair: (-len(pair[1]), pair[0]))))

    def __call__(self, text: str) -> str:
        return applied(text, self.spans(text))

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where secrets are, in order and apart from each other; the longer of two that overlap swallows the other."""
        found = sorted((*self._known(text), *_shaped(text)), key=lambda span: (span.start, -span.end))
        kept: list[Span] = []
        for span in found:
            if not kept or span.start >= kept[-1].end:
                kept.append(span)
            elif span.end > kept[-1].end:
                kept[-1] = Span(kept[-1].start, span.end, kept[-1].kind)
        return tuple(kept)

    def _known(self, text: str) -> Iterator[Span]:
        for name, value in self.values:
            at = text.find(value)
            while at >= 0:
                yield Span(at, at + len(value), f"env:{name}")
                at = text.find(value, at + len(value))


def _shaped(text: str) -> Iterator[Span]:
    for kind, words, pattern in _SHAPES:
        if any(word in text for word in words):
            for found in re.finditer(pattern, text):
                yield Span(*found.span("secret"), kind)


def is_secret_name(name: str) -> bool:
    """Whether a variable of that name usually holds a secret: `..._TOKEN`, `..._KEY`, `PASSWORD` and the like."""
    return _NAMES.search(name) is not None


def _written(value: str) -> Iterator[str]:
    """As it is, in JSON, and in JSON within JSON."""
    for _ in range(3):
        yield value
        value = json.dumps(value)[1:-1]


def _telling(value: str) -> bool:
    """Short words and paths occur in any text; to replace them would hide what was printed."""
    return len(value) >= SHORTEST_VALUE and not value.startswith("/") and not value.isspace()


def applied(text: str, spans: tuple[Span, ...]) -> str:
    parts, at = list[str](), 0
    for span in spans:
        parts += (text[at : span.start], f"[redacted:{span.kind}]")
        at = span.end
    return "".join((*parts, text[at:]))


def redact(text: str) -> str:
    """The text without secrets of a known shape: the same for the same text, wherever it is done."""
    return Redactor()(text)
