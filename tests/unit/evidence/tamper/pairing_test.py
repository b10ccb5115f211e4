"""Which old test is which new one: by class and name, then by content. A wrong pair accuses honest work."""

import pytest

from autopilot.domain.evidence import FileTexts, FileVersion, Finding
from autopilot.evidence.tamper.detectors import detect

SLICED = (
    "class SlicedTests(TestCase):\n    def test_negative(self):\n        with self.assertRaises(ValueError):\n"
    "            list(sliced('abc', -1))\n        self.assertEqual(sliced('abc', 0), [])\n"
)
CHUNKED = (
    "class ChunkedTests(TestCase):\n    def test_negative(self):\n        self.assertEqual(chunked('', -1), None)\n"
)
TAIL = (
    "class TailTests(TestCase):\n    def test_basic(self):\n        self.assertEqual(tail(2, 'abc'), 'bc')\n\n"
    "    def test_long(self):\n        self.assertEqual(tail(9, 'abc'), 'abc')\n        self.assertEqual(tail(0, 'a'), '')\n"
)
JS = "describe('add', () => {\n  it('works', () => {\n    expect(add(1, 2)).toBe(3);\n    expect(add(2, 2)).toBe(4);\n  });\n});\n"
JS_SUB = "describe('sub', () => {\n  it('works', () => {\n    expect(sub(2, 1)).toBe(1);\n  });\n});\n"
MORE = "tests/test_more.py"
ORDER = "class RangeTests(TestCase):\n    def test_order(self):\n        self.assertTrue(a < b)\n"
MIXIN = (
    "class PeekTests:\n    def test_peek(self):\n        self.assertEqual(peek(x), 1)\n\n\n"
    "class IterTests(PeekTests, TestCase):\n    pass\n"
)


def blockers(*files: tuple[str, str | None, str | None]) -> list[str]:
    found = detect([FileTexts(path=path, before=_version(old), after=_version(new)) for path, old, new in files])
    return [finding.rule for finding in found if finding.severity == "blocker"]


def _version(text: str | None) -> FileVersion | None:
    return None if text is None else FileVersion(mode="100644", size=len(text), text=text)


Files = list[tuple[str, str | None, str | None]]
HONEST: dict[str, Files] = {
    "a class before another, with a test of the same name": [(MORE, SLICED, f"{CHUNKED}\n\n{SLICED}")],
    "a class after it": [(MORE, SLICED, f"{SLICED}\n\n{CHUNKED}")],
    "a group of tests before another": [("a.test.js", JS, JS_SUB + JS)],
    "a group around tests that were there": [("a.test.js", JS, f"describe('all', () => {{\n{JS}}});\n")],
    "a class renamed": [(MORE, TAIL, TAIL.replace("TailTests", "LastTests"))],
    "a test renamed and extended": [
        (MORE, TAIL, TAIL.replace("test_long", "test_short_and_long") + "        self.assertEqual(tail(1, ''), '')\n")
    ],
    "a test that goes with its function": [
        ("more.py", "def tail(n, s):\n    return s[-n:]\n\n\ndef one():\n    return 1\n", "def one():\n    return 1\n"),
        (MORE, f"{SLICED}\n\n{TAIL}", SLICED),
    ],
    "a test that another one repeats": [
        (MORE, TAIL.replace("test_long", "test_typo") + TAIL.partition("\n")[2].partition("\n\n")[2], TAIL)
    ],
    "a test that was skipped": [
        (MORE, TAIL.replace("    def test_long", "    @unittest.skip('later')\n    def test_long"),
         TAIL.partition("\n\n")[0] + "\n")
    ],
    "an assertion that moved to a new test": [
        (MORE, TAIL, TAIL.replace("        self.assertEqual(tail(0, 'a'), '')\n",
                                  "\n    def test_none(self):\n        self.assertEqual(tail(0, 'a'), '')\n"))
    ],
    "a thing compared with itself beside what was asserted": [(MORE, ORDER, f"{ORDER}        self.assertTrue(a >= a)\n")],
    "tests of a class that others inherit": [
        (MORE, MIXIN.replace("class PeekTests:", "class PeekTests(TestCase):"), MIXIN)
    ],
    "a package that is removed": [
        ("examples/x/package.json", "{}", None),
        ("examples/x/tsconfig.json", '{"compilerOptions": {"strict": true}}', None),
        ("examples/x/a.test.js", JS, None),
    ],
}  # fmt: skip
CHEATS: dict[str, Files] = {
    "a test hollowed under another class": [(MORE, TAIL, TAIL.replace("TailTests", "LastTests").replace(
        "self.assertEqual(tail(9, 'abc'), 'abc')\n        self.assertEqual(tail(0, 'a'), '')", "pass"))],
    "a test hollowed while another class gets one of its name": [
        (MORE, SLICED, CHUNKED + "\n\n" + SLICED.replace("        self.assertEqual(sliced('abc', 0), [])\n", ""))
    ],
    "a test deleted while another class gets one of its name": [(MORE, f"{SLICED}\n\n{TAIL}", f"{CHUNKED}\n\n{TAIL}")],
    "a test renamed and weakened": [
        (MORE, TAIL, TAIL.replace("test_long", "test_size").replace("        self.assertEqual(tail(0, 'a'), '')\n", ""))
    ],
    "a tautology in place of an assertion": [(MORE, ORDER, ORDER.replace("a < b", "a >= a"))],
    "a test deleted though its function stays": [
        ("more.py", "def tail(n, s):\n    return s[-n:]\n", "def tail(n, s, x=1):\n    return s[-n:]\n"),
        (MORE, f"{SLICED}\n\n{TAIL}", SLICED),
    ],
    "a group's tests emptied": [("a.test.js", JS, JS.replace("    expect(add(2, 2)).toBe(4);\n", ""))],
}  # fmt: skip


@pytest.mark.parametrize("kind", HONEST)
def test_honest_work_is_not_blocked(kind: str) -> None:
    assert blockers(*HONEST[kind]) == []


@pytest.mark.parametrize("kind", CHEATS)
def test_a_cheat_of_the_same_shape_is(kind: str) -> None:
    assert blockers(*CHEATS[kind])


def test_findings_of_a_removed_package_are_still_told() -> None:
    found: tuple[Finding, ...] = detect(
        [FileTexts(path=p, before=_version(o)) for p, o, _ in HONEST["a package that is removed"]]
    )

    assert any(finding.rule == "test-deleted" and finding.severity == "warning" for finding in found)
