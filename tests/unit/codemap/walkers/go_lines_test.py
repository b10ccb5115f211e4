"""The quick reader of Go: what it says is what the parser says, or it says nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.codemap.extract import outline, parsed
from autopilot.codemap.grammars import missing
from autopilot.codemap.walkers import go_lines as lex_go

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"the extra `map` is not installed: {missing()}")

SAMPLE = Path(__file__).parents[3] / "data" / "repo_map" / "go.txt"
DECLARATIONS = [
    'import "fmt"', 'import (\n\tm "a/b" // c "d"\n\t. "strings"\n\n\t// _ "no"\n\t_ "embed"\n)',
    "const Limit, inner = 3, 'x'", 'const (\n\tA = iota // A(\n\tB\n\tc, D = "}", 2.\n\tE = `F`\n\tG = 1 +\n\t\tH\n)',
    "var Table = []struct {\n\ta int\n}{\n\t{1}, {New(2)},\n}", "var (\n\tx, Y int\n\tZ = func() int {\n\t\treturn 1\n\t}()\n)",
    "var Raw = `\nfunc Hidden() {\n}\n` + `x`", "var f = F(\n\t1,\n)", "type Name string", "type Alias = map[string]struct{}",
    'type Till struct {\n\tsync.Mutex // M\n\t*Base[int] `json:"b"`\n\tTotal, Rest int\n\tin struct {\n\t\tOther\n\t}\n}',
    "type Empty struct{}", "type Pair struct{ A, B int; Base }", "type List[T any, S ~[]T] struct {\n\thead *T\n}",
    "type Doer interface {\n\tio.Closer\n\tDo(a int,\n\t\tb int) (int, error) // No()\n\t~int | ~string\n}",
    "type (\n\tOne int\n\tTwo struct {\n\t\tOne\n\t}\n\tThree interface{ Go() }\n)", "type Fn func(\n\ta int,\n) error",
    "func New(a, b int, rest ...string) *Till { return &Till{Total: add(a)} }",
    'func add(n int) int {\n\tfmt.Println("New(1)", \'"\', New(2)) // add(1)\n\treturn helper(n)\n}',
    "func helper[K comparable, V any](m map[K]V, f func(K, V) error) (x int, err error) {\nloop:\n\tfor {\n\t\tbreak loop\n\t}\n\treturn\n}",
    "func (t *Till) Close() error { add(1); return nil }", "func (List[T]) Len() interface{ Do() } {\n\t/* add(1)\n}\n*/\n\treturn New(1)\n}",
    "func (self Till) Go(\n\tctx context.Context, // the context, or (\n\twants ...Want,\n) (a, b int) {\n\tself.Close()\n}",
    "func Asm(x float64) float64", "func Types(int, chan string, func(a, b int), ...bool) map[string]struct{} {\n}",
    "/*\nfunc Commented() {\n}\n*/", "// func Line() {", "//go:build x", "func Ünder(ñ int) {}",
]  # fmt: skip
SPACES = b" " * 400_000


def plain(found: object) -> object:
    return json.loads(json.dumps(found))


def agrees(source: bytes) -> bool:
    found = lex_go.read(source)
    return found is None or plain(found) == plain(parsed("go", source))


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["newlines", "carriage returns"])
def test_of_the_sample_it_says_what_the_parser_says(line_end: bytes) -> None:
    source = SAMPLE.read_bytes().replace(b"\n", line_end)

    assert plain(lex_go.read(source)) == plain(parsed("go", source))


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_of_every_kind_of_declaration_it_is_sure(declaration: str) -> None:
    source = f"package a\n\n{declaration}\n".encode()

    assert plain(lex_go.read(source)) == plain(parsed("go", source))


@given(st.lists(st.sampled_from(DECLARATIONS), max_size=8))
@settings(max_examples=150, deadline=None)
def test_of_declarations_in_any_order_it_says_what_the_parser_says(declarations: list[str]) -> None:
    assert agrees("\n".join(("package a\n", *declarations, "")).encode())


@given(st.lists(st.sampled_from(DECLARATIONS), min_size=1, max_size=4), st.data())
@settings(max_examples=150, deadline=None)
def test_of_code_with_other_spaces_it_says_what_the_parser_says(declarations: list[str], data: st.DataObject) -> None:
    lines = "\n".join(("package a\n", *declarations, "")).split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at] = data.draw(st.sampled_from(["  ", "\t", ""])) + lines[at].strip()

    assert agrees("\n".join(lines).encode())


@pytest.mark.parametrize(
    "source",
    [
        b"var a = 1; var B = 2\n", b"var x = `never ends\n", b"/* never ends\n", b"func f() {\n", b"a\0b\n",
        b"func f() {\nif x {\n}\n}\n", b"func f() {\n\tg()\n\t}\nfunc G() {\n}\n", b"  func F() {\n}\n", b"func\nf() {\n}\n",
        b"func f(a /* b */ int) {\n}\n", b"type T /* t */ struct {\n}\n", b"import `fmt`\n", b"var a = 1\rvar B = 2\n",
        b"func f() {\n}\ng()\n", b"var (\n\ta = 1; B = 2\n)\n", b"var x = 1\n  var Y = 2\n", b"func f(x struct {\n\ta int\n}) {\n}}\n",
    ],
    ids=[
        "several on a line", "an open string", "an open comment", "an open function", "zero byte", "no indentation",
        "an indented end", "an indented function", "a name on the next line", "a comment in parameters", "a comment in a type",
        "a raw import", "old line ends", "code at the left edge", "several in a group", "an indented variable", "braces too many",
    ],
)  # fmt: skip
def test_what_it_is_not_sure_of_is_left_to_the_parser(source: bytes) -> None:
    assert lex_go.read(source) is None
    assert plain(outline("go", source)) == plain(parsed("go", source))


@pytest.mark.parametrize(
    "text",
    [
        b"import (\n" * 100_000,
        b"var x = T{\n" + b"\tvar(\n" * 100_000 + b"\n}",
        b"var x = T{\n" + b"\tvar a\n" * 100_000 + b"}\n",
        b"var (\n" + b"\tx = f(\n" * 100_000 + b"\n)",
        b"func f() { " + b"f()," * 200_000 + b"}",
        b"func f() {\n\tx := '" + b"f(" * 400_000 + b"\n}\n",
        b"`" * 900_001,
        b"/*" * 400_001,
        b"func f(" + b"a, " * 300_000,
        b"type T[" + b"[" * 900_000,
        b"type T struct {\n" + b"\tA[" * 300_000 + b"\n}\n",
        b"type T struct {\n" + b"\tA\n" * 300_000 + b"}\n",
        b"type T struct {\n}\n" * 50_000,
        b"func f()" + SPACES + b"x\n",
        b"func (T" + SPACES + b"x) f() {\n}\n",
        b"type T" + SPACES + b"]\n",
        b"type T struct {\n\tA\n" + SPACES + b"]\n\tA" + SPACES + b"]\n}\n",
        b"var x" + SPACES + b",\nvar (\n\tx" + SPACES + b"]\n)\n",
        b"func f(" + b"[" * 900_000 + b") {\n}\n",
        b"func f()" + b" struct{}" * 100_000 + b" {\n}\n",
        b"import" + SPACES + b"x\n",
    ],
    ids=["imports", "groups", "variables", "values", "calls", "a string", "quotes", "comments", "parameters", "type parameters",
         "brackets", "fields", "types", "spaces after parameters", "spaces in a receiver", "spaces after a type", "spaces in a type",
         "spaces after a variable", "brackets in parameters", "results", "spaces after import"],
)  # fmt: skip
def test_rmap_01_a_text_as_long_as_is_read_at_all_is_read_in_one_go(text: bytes) -> None:
    """RMAP-01: with work that grew with the square of the length this would not end."""
    found = lex_go.read(b"package a\n" + text)

    assert found is None or found["imports"] == []
