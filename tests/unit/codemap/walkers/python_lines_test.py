"""The quick reader of Python: what it says is what the parser says, or it says nothing."""

import email
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.codemap.extract import outline, parsed
from autopilot.codemap.grammars import missing
from autopilot.codemap.walkers import python_lines as lex_python

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"the extra `map` is not installed: {missing()}")

ROOT = Path(__file__).parents[4]
STANDARD = Path(email.__file__).parent.parent
OURS = [path for folder in ("src", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
THEIRS = [path for name in ("email", "http", "json", "logging", "xml") for path in (STANDARD / name).rglob("*.py")]
STATEMENTS = st.sampled_from(
    [
        "import os, sys as s", "from .a import (b,  # )\n    c as d)", "from a import b, \\\n    c", "x = 1", "x: int = 2",
        "def f(a, b=(1, 2), *c, **d) -> dict[str, int]:\n    return g(a)", "def g(x):\n    'f(x)'  # f(x)\n    return x",
        ('class A(B, metaclass=M):\n    """def no(self): f(1)"""\n    def m(self):\n        return self.n() + f(1)\n'
        "\n    @p\n    async def n(self, *, k=f(2)):\n        return f'{g(1)} f(2)'"),
        'text = """\ndef hidden():\n    pass\n"""', "call(\nname=1,\n)", "if x:\n    import late\n    y = 1",
        "@f(1)\ndef h(): return f(h())", "__all__ = ['f', \"A\"]", "# x = 2", "def long(\n    a: list[int],  # :\n    b='):',\n):\n    g(a)",
        "class E(enum.Enum):\n    ONE = f(1)", "try:\n    from a import b\nexcept ImportError:\n    b = None",
        "type T = list[int]", 'print(f"""{f(1)}\nx f(2)""")', "d = {\n'a': 1}", "a = b = 3", "x += 1", "z.y = 1",
    ]
)  # fmt: skip


def plain(found: object) -> object:
    return json.loads(json.dumps(found))


def test_of_real_modules_it_says_what_the_parser_says() -> None:
    sources = {path: path.read_bytes() for path in (*OURS[::3], *THEIRS)}
    quick = {path: lex_python.read(source) for path, source in sources.items()}
    other = [
        path
        for path, found in quick.items()
        if found is not None and plain(found) != plain(parsed("python", sources[path]))
    ]

    assert other == []
    assert sum(found is None for found in quick.values()) < len(quick) / 10


@given(st.lists(STATEMENTS, max_size=8))
@settings(max_examples=150, deadline=None)
def test_of_statements_in_any_order_it_says_what_the_parser_says(statements: list[str]) -> None:
    source = "".join(f"{statement}\n" for statement in statements).encode()
    found = lex_python.read(source)

    assert found is None or plain(found) == plain(parsed("python", source))


@pytest.mark.parametrize(
    "source",
    [b"a = 1; b = 2\n", b'x = """never ends\n', b"def f(a=lambda x, y: x): ...\n", b"a\0b\n", b"__all__ = 'a', 'b'\n",
     b"def f(\n", b"x = 'a\\\nb'\n", b"a = 1\rb = 2\n"],
    ids=["several on a line", "an open string", "a function among parameters", "zero byte", "names without brackets",
         "an open parenthesis", "a continued string", "old line ends"],
)  # fmt: skip
def test_what_it_is_not_sure_of_is_left_to_the_parser(source: bytes) -> None:
    assert lex_python.read(source) is None
    assert plain(outline("python", source)) == plain(parsed("python", source))
