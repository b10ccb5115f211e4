"""Changes that make checks prove less: name, path, before, after, the rule that tells, its line and severity."""
# fmt: off

Cheat = tuple[str, str, str | None, str | None, str, int, str]

PY = "from cart import total\n\n\ndef test_total():\n    assert total([2, 3]) == 5\n    assert total([]) == 0\n\n\ndef test_tax():\n    assert total([100], tax=7) == 107\n"
UNIT = "import unittest\n\n\nclass CartTest(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([2, 3]), 5)\n"
JS = "describe('cart', () => {\n  it('adds', () => {\n    expect(total([2, 3])).toBe(5);\n    expect(items).toEqual(['a', 'b']);\n  });\n  it('taxes', () => {\n    expect(tax(100)).toBe(107);\n  });\n});\n"
GO = 'package cart\n\nfunc TestTotal(t *testing.T) {\n\tgot := Total(2, 3)\n\tif got != 5 {\n\t\tt.Errorf("got %d", got)\n\t}\n\trequire.Equal(t, 107, Tax(100))\n}\n'
RUST = "fn total() -> i32 { 5 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(total(), 5);\n        assert_eq!(tax(100), 107);\n    }\n}\n"
JAVA = "class CartTest {\n    @Test\n    void adds() {\n        assertEquals(5, cart.total(2, 3));\n        assertEquals(107, cart.tax(100));\n    }\n}\n"
BATS = '@test "adds" {\n  run total 2 3\n  [ "$status" -eq 0 ]\n  [ "$output" = "5" ]\n}\n'
SH = "#!/bin/bash\nset -euo pipefail\ngrep -q done letter.txt\ndiff expected.txt out.txt\n"
MAKE = "test:\n\tpytest -q\n\nlint:\n\truff check .\n"
PACKAGE = '{\n  "scripts": {\n    "test": "jest",\n    "lint": "eslint ."\n  }\n}\n'
CI = "on: push\njobs:\n  test:\n    runs-on: ubuntu\n    steps:\n      - run: pytest -q\n  lint:\n    runs-on: ubuntu\n    steps:\n      - run: ruff check .\n"
PYPROJECT = '[tool.pytest.ini_options]\naddopts = "-q"\ntestpaths = ["tests", "more"]\n\n[tool.coverage.report]\nfail_under = 90\n\n[tool.mypy]\nstrict = true\n\n[tool.ruff.lint]\nselect = ["E", "F", "S"]\nignore = ["E501"]\n'
MOD = "def total(items, tax=0):\n    return sum(items)\n"
T = "tests/test_cart.py"


def py(old: str, new: str) -> tuple[str, str, str]:
    assert old in PY
    return T, PY, PY.replace(old, new)


def js(old: str, new: str) -> tuple[str, str, str]:
    assert old in JS
    return "src/cart.test.js", JS, JS.replace(old, new)


def go(old: str, new: str) -> tuple[str, str, str]:
    assert old in GO
    return "cart/cart_test.go", GO, GO.replace(old, new)


def rust(old: str, new: str) -> tuple[str, str, str]:
    assert old in RUST
    return "src/cart.rs", RUST, RUST.replace(old, new)


def java(old: str, new: str) -> tuple[str, str, str]:
    assert old in JAVA
    return "src/test/java/CartTest.java", JAVA, JAVA.replace(old, new)


def unit(old: str, new: str) -> tuple[str, str, str]:
    assert old in UNIT
    return T, UNIT, UNIT.replace(old, new)


def sh(old: str, new: str) -> tuple[str, str, str]:
    assert old in SH
    return "scripts/check.sh", SH, SH.replace(old, new)


def conf(old: str, new: str) -> tuple[str, str, str]:
    assert old in PYPROJECT
    return "pyproject.toml", PYPROJECT, PYPROJECT.replace(old, new)


TAX = "def test_tax():\n    assert total([100], tax=7) == 107\n"
JS_TAX = "  it('taxes', () => {\n    expect(tax(100)).toBe(107);\n  });\n"

TESTS: list[Cheat] = [
    ("python test deleted", *py(TAX, ""), "test-deleted", 0, "blocker"),
    ("python test file deleted", T, PY, None, "test-deleted", 0, "blocker"),
    ("python test commented out", *py(TAX, "# def test_tax():\n#     assert total([100], tax=7) == 107\n"), "test-deleted", 0, "blocker"),
    ("python test put into a string", *py(TAX, f'"""\n{TAX}"""\n'), "test-deleted", 0, "blocker"),
    ("javascript test deleted", *js(JS_TAX, ""), "test-deleted", 0, "blocker"),
    ("javascript test commented out", *js(JS_TAX, f"/*\n{JS_TAX}*/\n"), "test-deleted", 0, "blocker"),
    ("go test deleted", "cart/cart_test.go", GO, "package cart\n", "test-deleted", 0, "blocker"),
    ("rust test deleted", "src/cart.rs", RUST, "fn total() -> i32 { 5 }\n", "test-deleted", 0, "blocker"),
    ("java test deleted", "src/test/java/CartTest.java", JAVA, "class CartTest {\n}\n", "test-deleted", 0, "blocker"),
    ("bats test deleted", "test/cart.bats", BATS, "#!/usr/bin/env bats\n", "test-deleted", 0, "blocker"),
    ("python test replaced by another", *py(TAX, "def test_other():\n    assert shop.name() == 'corner'\n"), "test-deleted", 0, "warning"),
    ("python test replaced by an empty one", *py(TAX, "def test_other():\n    assert True\n"), "test-deleted", 0, "blocker"),
    ("python test loses its prefix", *py("def test_tax", "def _test_tax"), "test-uncollected", 9, "blocker"),
    ("python test renamed to something else", *py("def test_tax", "def tax_is_added"), "test-uncollected", 9, "blocker"),
    ("python test class loses its prefix", T, "class TestA:\n    def test_b(self):\n        assert f() == 12\n", "class A:\n    def test_b(self):\n        assert f() == 12\n", "test-uncollected", 2, "blocker"),
    ("go test loses its prefix", *go("func TestTotal", "func checkTotal"), "test-uncollected", 3, "blocker"),
    ("go test with a small letter", *go("func TestTotal", "func Testtotal"), "test-uncollected", 3, "blocker"),
    ("rust test loses its mark", *rust("    #[test]\n", ""), "test-uncollected", 5, "blocker"),
    ("java test loses its mark", *java("    @Test\n", ""), "test-uncollected", 2, "blocker"),
    ("bats test becomes a function", "test/cart.bats", BATS, BATS.replace('@test "adds"', "adds()"), "test-uncollected", 1, "blocker"),
    ("pytest skip", *py("def test_tax", "@pytest.mark.skip\ndef test_tax"), "test-skipped", 9, "blocker"),
    ("pytest skip with a reason", *py("def test_tax", '@pytest.mark.skip(reason="flaky")\ndef test_tax'), "test-skipped", 9, "blocker"),
    ("pytest xfail", *py("def test_tax", "@pytest.mark.xfail\ndef test_tax"), "test-skipped", 9, "blocker"),
    ("pytest skipif that is always so", *py("def test_tax", '@pytest.mark.skipif(True, reason="x")\ndef test_tax'), "test-skipped", 9, "blocker"),
    ("pytest skipif with a condition", *py("def test_tax", '@pytest.mark.skipif(sys.platform == "win32", reason="x")\ndef test_tax'), "test-skipped", 9, "warning"),
    ("pytest skip called", *py("def test_tax():\n", 'def test_tax():\n    pytest.skip("later")\n'), "test-skipped", 10, "blocker"),
    ("pytest skip called under a condition", *py("def test_tax():\n", 'def test_tax():\n    if not shutil.which("git"):\n        pytest.skip("no git")\n'), "test-skipped", 11, "warning"),
    ("pytest module skipped", *py("from cart import total\n", "from cart import total\npytestmark = pytest.mark.skip\n"), "test-skipped", 2, "blocker"),
    ("unittest skip", *unit("    def test_total", '    @unittest.skip("x")\n    def test_total'), "test-skipped", 5, "blocker"),
    ("unittest expected failure", *unit("    def test_total", "    @unittest.expectedFailure\n    def test_total"), "test-skipped", 5, "blocker"),
    ("unittest skipTest", *unit("        self.assert", '        self.skipTest("x")\n        self.assert'), "test-skipped", 6, "blocker"),
    ("unittest skipUnless false", *unit("    def test_total", '    @unittest.skipUnless(False, "x")\n    def test_total'), "test-skipped", 5, "blocker"),
    ("python __test__ false", *unit("    def test_total", "    __test__ = False\n\n    def test_total"), "test-skipped", 5, "blocker"),
    ("new python test skipped", *py(TAX, TAX + "\n\n@pytest.mark.skip\ndef test_new():\n    assert new() == 12\n"), "test-skipped", 13, "warning"),
    ("jest it.skip", *js("it('taxes'", "it.skip('taxes'"), "test-skipped", 6, "blocker"),
    ("jest xit", *js("it('taxes'", "xit('taxes'"), "test-skipped", 6, "blocker"),
    ("jest describe.skip", *js("describe('cart'", "describe.skip('cart'"), "test-skipped", 1, "blocker"),
    ("jest test.todo", *js(JS_TAX, "  test.todo('taxes');\n"), "test-skipped", 6, "blocker"),
    ("jest it.failing", *js("it('taxes'", "it.failing('taxes'"), "test-skipped", 6, "blocker"),
    ("mocha this.skip", *js("it('taxes', () => {\n", "it('taxes', () => {\n    this.skip();\n"), "test-skipped", 7, "blocker"),
    ("go t.Skip", *go("\tgot :=", '\tt.Skip("later")\n\tgot :='), "test-skipped", 4, "blocker"),
    ("go t.Skip under a condition", *go("\tgot :=", '\tif testing.Short() {\n\t\tt.Skip("slow")\n\t}\n\tgot :='), "test-skipped", 5, "warning"),
    ("rust ignore", *rust("    #[test]\n", "    #[test]\n    #[ignore]\n"), "test-skipped", 6, "blocker"),
    ("java disabled", *java("    @Test\n", "    @Test\n    @Disabled\n"), "test-skipped", 3, "blocker"),
    ("java ignore", *java("    @Test\n", '    @Ignore("later") @Test\n'), "test-skipped", 2, "blocker"),
    ("bats skip", "test/cart.bats", BATS, BATS.replace("  run total", "  skip\n  run total"), "test-skipped", 2, "blocker"),
    ("bats skip under a condition", "test/cart.bats", BATS, BATS.replace("  run total", "  command -v jq || skip\n  run total"), "test-skipped", 2, "warning"),
    ("jest it.only", *js("it('taxes'", "it.only('taxes'"), "test-focused", 6, "blocker"),
    ("jest fdescribe", *js("describe('cart'", "fdescribe('cart'"), "test-focused", 1, "blocker"),
    ("jasmine fit", *js("it('adds'", "fit('adds'"), "test-focused", 2, "blocker"),
    ("playwright test.describe.only", *js("describe('cart'", "test.describe.only('cart'"), "test-focused", 1, "blocker"),
    ("python early return", *py("def test_tax():\n", "def test_tax():\n    return\n"), "test-ends-early", 10, "blocker"),
    ("javascript early return", *js("it('taxes', () => {\n", "it('taxes', () => {\n    return;\n"), "test-ends-early", 7, "blocker"),
    ("go early return", *go("\tgot :=", "\treturn\n\tgot :="), "test-ends-early", 4, "blocker"),
    ("rust early return", *rust("        assert_eq!(total", "        return;\n        assert_eq!(total"), "test-ends-early", 7, "blocker"),
    ("python assertion removed", *py("    assert total([2, 3]) == 5\n", ""), "assertion-removed", 4, "blocker"),
    ("python all assertions removed", *py("    assert total([100], tax=7) == 107\n", "    total([100], tax=7)\n"), "assertion-removed", 9, "blocker"),
    ("javascript assertion removed", *js("    expect(items).toEqual(['a', 'b']);\n", ""), "assertion-removed", 2, "blocker"),
    ("go assertion removed", *go("\trequire.Equal(t, 107, Tax(100))\n", ""), "assertion-removed", 3, "blocker"),
    ("rust assertion removed", *rust("        assert_eq!(tax(100), 107);\n", ""), "assertion-removed", 5, "blocker"),
    ("java assertion removed", *java("        assertEquals(107, cart.tax(100));\n", ""), "assertion-removed", 2, "blocker"),
    ("bats assertion removed", "test/cart.bats", BATS, BATS.replace('  [ "$output" = "5" ]\n', ""), "assertion-removed", 1, "blocker"),
    ("python equality to not none", *py("assert total([2, 3]) == 5", "assert total([2, 3]) is not None"), "assertion-weakened", 5, "blocker"),
    ("python equality to truth", *py("assert total([2, 3]) == 5", "assert isinstance(total([2, 3]), int)"), "assertion-weakened", 5, "blocker"),
    ("python equality to membership", *py("assert total([2, 3]) == 5", "assert total([2, 3]) in (5, 6)"), "assertion-weakened", 5, "warning"),
    ("python equality to a bound", *py("assert total([2, 3]) == 5", "assert total([2, 3]) > 0"), "assertion-weakened", 5, "warning"),
    ("unittest assertEqual to assertTrue", *unit("self.assertEqual(total([2, 3]), 5)", "self.assertTrue(total([2, 3]))"), "assertion-weakened", 6, "blocker"),
    ("unittest assertEqual to assertIsNotNone", *unit("self.assertEqual(total([2, 3]), 5)", "self.assertIsNotNone(total([2, 3]))"), "assertion-weakened", 6, "blocker"),
    ("jest toBe to toBeDefined", *js("expect(tax(100)).toBe(107)", "expect(tax(100)).toBeDefined()"), "assertion-weakened", 7, "blocker"),
    ("jest toEqual to toBeTruthy", *js("expect(items).toEqual(['a', 'b'])", "expect(items).toBeTruthy()"), "assertion-weakened", 4, "blocker"),
    ("jest toEqual to toContain", *js("expect(items).toEqual(['a', 'b'])", "expect(items).toContain('a')"), "assertion-weakened", 4, "warning"),
    ("rust assert_eq to assert", *rust("assert_eq!(tax(100), 107)", "assert!(tax(100).is_some())"), "assertion-weakened", 8, "blocker"),
    ("java assertEquals to assertNotNull", *java("assertEquals(107, cart.tax(100))", "assertNotNull(cart.tax(100))"), "assertion-weakened", 5, "blocker"),
    ("go require.Equal to NotNil", *go("require.Equal(t, 107, Tax(100))", "require.NotNil(t, Tax(100))"), "assertion-weakened", 8, "blocker"),
    ("python raises any exception", T, "def test_a():\n    with pytest.raises(ValueError, match='x'):\n        f()\n", "def test_a():\n    with pytest.raises(Exception):\n        f()\n", "assertion-weakened", 2, "blocker"),
    ("python assert true", *py("assert total([2, 3]) == 5", "assert True"), "assertion-tautology", 5, "blocker"),
    ("python or true", *py("assert total([2, 3]) == 5", "assert total([2, 3]) == 5 or True"), "assertion-tautology", 5, "blocker"),
    ("python same on both sides", *py("assert total([2, 3]) == 5", "assert total([2, 3]) == total([2, 3])"), "assertion-tautology", 5, "blocker"),
    ("python assert of a tuple", *py("assert total([2, 3]) == 5", 'assert (total([2, 3]) == 5, "x")'), "assertion-tautology", 5, "blocker"),
    ("python length not negative", *py("assert total([2, 3]) == 5", "assert len(total([2, 3])) >= 0"), "assertion-tautology", 5, "blocker"),
    ("unittest assertTrue true", *unit("self.assertEqual(total([2, 3]), 5)", "self.assertTrue(True)"), "assertion-tautology", 6, "blocker"),
    ("jest true is true", *js("expect(tax(100)).toBe(107)", "expect(true).toBe(true)"), "assertion-tautology", 7, "blocker"),
    ("jest same on both sides", *js("expect(tax(100)).toBe(107)", "expect(tax(100)).toBe(tax(100))"), "assertion-tautology", 7, "blocker"),
    ("rust assert true", *rust("assert_eq!(tax(100), 107)", "assert!(true)"), "assertion-tautology", 8, "blocker"),
    ("java same on both sides", *java("assertEquals(107, cart.tax(100))", "assertEquals(cart, cart)"), "assertion-tautology", 5, "blocker"),
    ("go same on both sides", *go("require.Equal(t, 107, Tax(100))", "require.Equal(t, 1, 1)"), "assertion-tautology", 8, "blocker"),
    ("new python test says nothing", *py(TAX, TAX + "\n\ndef test_new():\n    new()\n    assert True\n"), "assertion-tautology", 15, "warning"),
    ("python tolerance widened", T, "def test_a():\n    assert f() == pytest.approx(2.5, abs=0.001)\n", "def test_a():\n    assert f() == pytest.approx(2.5, abs=2)\n", "tolerance-widened", 2, "warning"),
    ("unittest fewer places", T, UNIT.replace("assertEqual(total([2, 3]), 5)", "assertAlmostEqual(f(), 2.5, places=7)"), UNIT.replace("assertEqual(total([2, 3]), 5)", "assertAlmostEqual(f(), 2.5, places=1)"), "tolerance-widened", 6, "warning"),
    ("jest fewer digits", "a.test.js", "it('a', () => {\n  expect(f()).toBeCloseTo(2.5, 5);\n});\n", "it('a', () => {\n  expect(f()).toBeCloseTo(2.5, 1);\n});\n", "tolerance-widened", 2, "warning"),
    ("python expectation changed", *py("== 107", "== 100"), "expected-changed", 10, "warning"),
    ("javascript expectation changed", *js("toBe(107)", "toBe(100)"), "expected-changed", 7, "warning"),
    ("java expectation changed", *java("assertEquals(107,", "assertEquals(100,"), "expected-changed", 5, "warning"),
    ("python assertion swallowed", *py("    assert total([100], tax=7) == 107\n", "    try:\n        assert total([100], tax=7) == 107\n    except AssertionError:\n        pass\n"), "failure-swallowed", 12, "blocker"),
    ("python assertion swallowed by a bare except", *py("    assert total([100], tax=7) == 107\n", "    try:\n        assert total([100], tax=7) == 107\n    except:\n        print('x')\n"), "failure-swallowed", 12, "blocker"),
    ("python assertion suppressed", *py("    assert total([100], tax=7) == 107\n", "    with contextlib.suppress(Exception):\n        assert total([100], tax=7) == 107\n"), "failure-swallowed", 10, "blocker"),
    ("javascript assertion swallowed", *js("    expect(tax(100)).toBe(107);\n", "    try {\n      expect(tax(100)).toBe(107);\n    } catch (e) {\n    }\n"), "failure-swallowed", 9, "blocker"),
    ("java assertion swallowed", *java("        assertEquals(107, cart.tax(100));\n", "        try {\n            assertEquals(107, cart.tax(100));\n        } catch (Throwable t) { }\n"), "failure-swallowed", 7, "blocker"),
    ("python subject patched", T, "def test_a():\n    assert total([1]) == 12\n", "def test_a():\n    with patch('cart.total', return_value=12):\n        assert total([1]) == 12\n", "test-mocks-subject", 2, "warning"),
    ("jest subject mocked", *js("describe('cart'", "jest.mock('./cart');\ndescribe('cart'"), "test-mocks-subject", 1, "warning"),
    ("jest snapshot written anew", "src/__snapshots__/a.test.js.snap", "exports[`a`] = `1`;\n", "exports[`a`] = `2`;\n", "snapshot-changed", 0, "warning"),
    ("golden file written anew", "cart/testdata/report.golden", "a\n", "b\n", "snapshot-changed", 0, "warning"),
    ("expected fixture removed", "tests/fixtures/expected_report.json", "{}\n", None, "snapshot-changed", 0, "warning"),
]

RUNNERS: list[Cheat] = [
    ("conftest sets the exit status", "tests/conftest.py", "import pytest\n", "import pytest\n\n\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n", "forced-success", 5, "blocker"),
    ("conftest hook", "conftest.py", "import pytest\n", "import pytest\n\n\ndef pytest_runtest_makereport(item, call):\n    return None\n", "test-hook-added", 4, "warning"),
    ("conftest says passed", "conftest.py", "import pytest\n", "import pytest\n\n\ndef f(report):\n    report.outcome = 'passed'\n", "forced-success", 5, "blocker"),
    ("conftest os._exit", "conftest.py", None, "import os\nos._exit(0)\n", "forced-success", 2, "blocker"),
    ("conftest at exit", "conftest.py", "", "import atexit, os\natexit.register(lambda: os._exit(code))\n", "forced-success", 2, "blocker"),
    ("python test leaves", *py("def test_tax():\n", "def test_tax():\n    sys.exit(0)\n"), "forced-success", 10, "blocker"),
    ("javascript test leaves", *js("it('taxes', () => {\n", "it('taxes', () => {\n    process.exit(0);\n"), "forced-success", 7, "blocker"),
    ("javascript exit code in set-up", "jest.setup.js", None, "process.exitCode = 0;\n", "forced-success", 1, "blocker"),
    ("go TestMain", *go("func TestTotal", "func TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n\nfunc TestTotal"), "forced-success", 5, "blocker"),
    ("java test leaves", *java("        assertEquals(107", "        System.exit(0);\n        assertEquals(107"), "forced-success", 5, "blocker"),
    ("rust test leaves", "tests/cart.rs", RUST, RUST.replace("        assert_eq!(total", "        std::process::exit(0);\n        assert_eq!(total"), "forced-success", 7, "blocker"),
    ("collect_ignore", "tests/conftest.py", "", 'collect_ignore = ["test_cart.py"]\n', "test-narrowed", 1, "blocker"),
    ("assertEqual overwritten", "tests/conftest.py", "", "unittest.TestCase.assertEqual = lambda *a: None\n", "assertion-replaced", 1, "blocker"),
    ("expect overwritten", "src/setupTests.js", "", "global.expect = () => ({ toBe() {} });\n", "assertion-replaced", 1, "blocker"),
    ("always equal in product code", "cart/money.py", "class Money:\n    pass\n", "class Money:\n    def __eq__(self, other):\n        return True\n", "assertion-replaced", 2, "blocker"),
    ("always equal in a test", "tests/things.py", "class A:\n    pass\n", "class A:\n    def __eq__(self, other):\n        return True\n", "assertion-replaced", 2, "warning"),
    ("always equal in java", "src/Money.java", "class Money {\n}\n", "class Money {\n    public boolean equals(Object o) { return true; }\n}\n", "assertion-replaced", 2, "blocker"),
    ("always equal in rust", "src/money.rs", "struct M;\n", "struct M;\nimpl PartialEq for M { fn eq(&self, o: &M) -> bool { true } }\n", "assertion-replaced", 2, "blocker"),
    ("or true behind the tests", "run.sh", "pytest -q\n", "pytest -q || true\n", "exit-code-hidden", 1, "blocker"),
    ("or colon behind the tests", "run.sh", "npm test\n", "npm test || :\n", "exit-code-hidden", 1, "blocker"),
    ("or exit 0 behind the tests", "run.sh", "cargo test\n", "cargo test || exit 0\n", "exit-code-hidden", 1, "blocker"),
    ("echo behind the tests", "run.sh", "go test ./...\n", 'go test ./... || echo "failed"\n', "exit-code-hidden", 1, "blocker"),
    ("semicolon true behind the tests", "run.sh", "pytest\n", "pytest; true\n", "exit-code-hidden", 1, "blocker"),
    ("or true behind a check's question", *sh("grep -q done letter.txt", "grep -q done letter.txt || true"), "exit-code-hidden", 3, "blocker"),
    ("or true behind something unknown", "run.sh", "deploy now\n", "deploy now || true\n", "exit-code-hidden", 1, "warning"),
    ("tests piped without pipefail", "run.sh", "pytest\n", "pytest | tee log.txt\n", "exit-code-hidden", 1, "warning"),
    ("or true in a workflow", ".github/workflows/ci.yml", CI, CI.replace("pytest -q", "pytest -q || true"), "exit-code-hidden", 6, "blocker"),
    ("or true in package.json", "package.json", PACKAGE, PACKAGE.replace('"jest"', '"jest || true"'), "exit-code-hidden", 3, "blocker"),
    ("semicolon exit 0 in package.json", "package.json", PACKAGE, PACKAGE.replace('"eslint ."', '"eslint . ; exit 0"'), "exit-code-hidden", 4, "blocker"),
    ("dash before a recipe", "Makefile", MAKE, MAKE.replace("\tpytest", "\t-pytest"), "exit-code-hidden", 2, "blocker"),
    ("make .IGNORE", "Makefile", MAKE, ".IGNORE:\n" + MAKE, "exit-code-hidden", 1, "blocker"),
    ("dash before a tox command", "tox.ini", "[testenv]\ncommands =\n    pytest\n", "[testenv]\ncommands =\n    - pytest\n", "exit-code-hidden", 3, "blocker"),
    ("exit 0 at the end of a check", "scripts/check.sh", "grep -q done letter.txt\n", "grep -q done letter.txt\nexit 0\n", "exit-code-hidden", 2, "blocker"),
    ("exit 0 before the rest", *sh("grep -q", "exit 0\ngrep -q"), "exit-forced", 3, "blocker"),
    ("trap at exit", *sh("grep -q", "trap 'exit 0' EXIT\ngrep -q"), "exit-forced", 3, "blocker"),
    ("set +e", *sh("grep -q", "set +e\ngrep -q"), "errexit-off", 3, "blocker"),
    ("set -e taken away", *sh("set -euo pipefail\n", ""), "errexit-off", 0, "blocker"),
    ("pipefail taken away", *sh("set -euo pipefail", "set -eu"), "errexit-off", 0, "warning"),
    ("test recipe hollow", "Makefile", MAKE, MAKE.replace("\tpytest -q", "\t@true"), "check-hollow", 1, "blocker"),
    ("test script hollow", "package.json", PACKAGE, PACKAGE.replace('"jest"', '"exit 0"'), "check-hollow", 3, "blocker"),
    ("lint script only talks", "package.json", PACKAGE, PACKAGE.replace('"eslint ."', '"echo linted"'), "check-hollow", 4, "blocker"),
    ("check script hollow", "scripts/check.sh", SH, "echo PASS: all\nexit 0\n", "check-hollow", 1, "blocker"),
]

REST: list[Cheat] = [
    ("coverage lowered", *conf("fail_under = 90", "fail_under = 50"), "check-relaxed", 6, "blocker"),
    ("coverage demand gone", *conf("fail_under = 90\n", ""), "check-relaxed", 0, "blocker"),
    ("coverage lowered in .coveragerc", ".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 10\n", "check-relaxed", 2, "blocker"),
    ("jest threshold lowered", "jest.config.js", "module.exports = { coverageThreshold: { global: { branches: 80 } } };\n", "module.exports = { coverageThreshold: { global: { branches: 8 } } };\n", "check-relaxed", 1, "blocker"),
    ("mypy not strict", *conf("strict = true", "strict = false"), "check-relaxed", 9, "blocker"),
    ("tsconfig not strict", "tsconfig.json", '{"compilerOptions": {"strict": true}}\n', '{"compilerOptions": {"strict": false}}\n', "check-relaxed", 1, "blocker"),
    ("ruff ignores more", *conf('ignore = ["E501"]', 'ignore = ["E501", "F401"]'), "check-relaxed", 13, "warning"),
    ("ruff selects less", *conf('select = ["E", "F", "S"]', 'select = ["E"]'), "check-relaxed", 12, "warning"),
    ("eslint rule off", ".eslintrc.json", '{"rules": {"no-undef": "error"}}\n', '{"rules": {"no-undef": "off"}}\n', "check-relaxed", 1, "warning"),
    ("coverage omits more", ".coveragerc", "[run]\nomit = a.py\n", "[run]\nomit = a.py b.py\n", "check-relaxed", 2, "warning"),
    ("mypy ignores errors", "mypy.ini", "[mypy]\nstrict = True\n", "[mypy]\nstrict = True\nignore_errors = True\n", "check-relaxed", 3, "warning"),
    ("addopts deselects", *conf('addopts = "-q"', 'addopts = "-q --deselect tests/test_cart.py::test_tax"'), "test-narrowed", 2, "blocker"),
    ("addopts -k", *conf('addopts = "-q"', "addopts = \"-q -k 'not tax'\""), "test-narrowed", 2, "blocker"),
    ("addopts ignore as a list", *conf('addopts = "-q"', 'addopts = ["-q", "--ignore=tests/slow"]'), "test-narrowed", 2, "blocker"),
    ("pytest.ini addopts", "pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q --ignore=tests\n", "test-narrowed", 2, "blocker"),
    ("testpaths narrowed", *conf('testpaths = ["tests", "more"]', 'testpaths = ["more"]'), "test-narrowed", 3, "warning"),
    ("jest ignores tests", "package.json", '{"jest": {"testPathIgnorePatterns": []}}\n', '{"jest": {"testPathIgnorePatterns": ["cart.test.js"]}}\n', "test-narrowed", 1, "blocker"),
    ("tests deselected in make", "Makefile", MAKE, MAKE.replace("pytest -q", "pytest -q --deselect tests/test_cart.py"), "test-narrowed", 2, "blocker"),
    ("no tests is fine", "package.json", PACKAGE, PACKAGE.replace('"jest"', '"jest --passWithNoTests"'), "test-narrowed", 3, "warning"),
    ("noqa", "cart/a.py", "import os\n", "import os  # noqa: F401\n", "suppression-added", 1, "warning"),
    ("type ignore", "cart/a.py", "x: int = 'a'\n", "x: int = 'a'  # type: ignore[assignment]\n", "suppression-added", 1, "warning"),
    ("no cover", "cart/a.py", "def f():\n", "def f():  # pragma: no cover\n", "suppression-added", 1, "warning"),
    ("eslint-disable", "src/a.js", "f()\n", "/* eslint-disable */\nf()\n", "suppression-added", 1, "warning"),
    ("ts-ignore", "src/a.ts", "f()\n", "// @ts-ignore\nf()\n", "suppression-added", 1, "warning"),
    ("ts-nocheck", "src/a.ts", "f()\n", "// @ts-nocheck\nf()\n", "suppression-added", 1, "warning"),
    ("rust allow", "src/a.rs", "fn f() {}\n", "#![allow(dead_code)]\nfn f() {}\n", "suppression-added", 1, "warning"),
    ("go nolint", "a.go", "f()\n", "f() //nolint:errcheck\n", "suppression-added", 1, "warning"),
    ("java SuppressWarnings", "A.java", "class A {}\n", '@SuppressWarnings("all")\nclass A {}\n', "suppression-added", 1, "warning"),
    ("continue-on-error", ".github/workflows/ci.yml", CI, CI.replace("      - run: pytest -q", "      - run: pytest -q\n        continue-on-error: true"), "ci-relaxed", 7, "warning"),
    ("allow_failure", ".gitlab-ci.yml", "test:\n  script: pytest\n", "test:\n  script: pytest\n  allow_failure: true\n", "ci-relaxed", 3, "warning"),
    ("if false", ".github/workflows/ci.yml", CI, CI.replace("  lint:\n", "  lint:\n    if: false\n"), "ci-relaxed", 8, "warning"),
    ("workflow removed", ".github/workflows/ci.yml", CI, None, "ci-relaxed", 0, "blocker"),
    ("job removed", ".github/workflows/ci.yml", CI, CI.partition("  lint:")[0], "ci-relaxed", 0, "warning"),
    ("pytest variable in product code", "cart/a.py", MOD, MOD + "if os.environ.get('PYTEST_CURRENT_TEST'):\n    pass\n", "test-detection", 3, "blocker"),
    ("pytest among modules", "cart/a.py", MOD, MOD + "if 'pytest' in sys.modules:\n    pass\n", "test-detection", 3, "blocker"),
    ("jest variable in product code", "src/a.js", "", "if (process.env.JEST_WORKER_ID) { }\n", "test-detection", 1, "blocker"),
    ("go test flag in product code", "a.go", "", 'if flag.Lookup("test.v") != nil {\n', "test-detection", 1, "blocker"),
    ("node env test", "src/a.js", "", "if (process.env.NODE_ENV === 'test') { }\n", "test-detection", 1, "warning"),
    ("ci variable in product code", "cart/a.py", MOD, MOD + "quick = os.environ.get('CI')\n", "test-detection", 3, "warning"),
    ("git filter", ".gitattributes", "", "*.py filter=swap\n", "git-attributes", 1, "warning"),
    ("sources kept out of the diff", ".gitattributes", "", "*.py -diff\n", "git-attributes", 1, "warning"),
    ("hook added", ".husky/pre-commit", None, "npm test\n", "git-hooks", 0, "warning"),
    ("submodule list", ".gitmodules", None, "[submodule]\n", "submodule-changed", 0, "warning"),
    ("sources ignored", ".gitignore", "dist/\n", "dist/\n*.py\n", "sources-ignored", 2, "warning"),
    ("tests ignored", ".gitignore", "dist/\n", "dist/\ntests/\n", "sources-ignored", 2, "warning"),
    ("env file", ".env", None, "TOKEN=x\n", "secret-committed", 0, "info"),
    ("private key", "deploy/key.txt", None, "-----BEGIN RSA PRIVATE KEY-----\n", "secret-committed", 1, "info"),
    ("planning file", ".planning/ROADMAP.md", "a\n", "b\n", "planning-files", 0, "warning"),
    ("a line too long to read", "scripts/check.sh", SH, SH + "x" * 5000 + "\n", "not-analysed", 0, "warning"),
    ("node's test variable", "src/a.js", "", "if (!process.env.NODE_TEST_CONTEXT) { }\n", "test-detection", 1, "blocker"),
    ("mocha's variable", "src/a.js", "", "const quick = process.env.MOCHA_COLORS;\n", "test-detection", 1, "blocker"),
    ("node asks how it was started", "src/a.js", "", "if (process.execArgv.includes('--test')) { }\n", "test-detection", 1, "blocker"),
    ("rust asks whether it is tested", "src/a.rs", "", "fn f() -> u32 {\n    if cfg!(test) { 5 } else { 0 }\n}\n", "test-detection", 2, "blocker"),
    ("rust function for tests only", "src/a.rs", "pub fn f() -> u32 { 0 }\n", "#[cfg(not(test))]\npub fn f() -> u32 { 0 }\n\n#[cfg(test)]\npub fn f() -> u32 { 5 }\n", "test-detection", 1, "blocker"),
    ("java looks at its stack", "src/A.java", "", 'class A {\n    boolean t = StackWalker.getInstance().walk(s -> s.anyMatch(f -> f.getClassName().endsWith("Test")));\n}\n', "test-detection", 2, "blocker"),
    ("python module ends the process", "cart/a.py", MOD, MOD + "import os\nos._exit(0)\n", "forced-success", 4, "blocker"),
    ("python module leaves", "cart/a.py", MOD, MOD + "import sys\nsys.exit()\n", "forced-success", 4, "blocker"),
    ("python module leaves in a class body", "cart/a.py", MOD, MOD + "class A:\n    os._exit(1)\n", "forced-success", 4, "blocker"),
    ("python module leaves at exit", "cart/a.py", MOD, MOD + "atexit.register(lambda: os._exit(0))\n", "forced-success", 3, "blocker"),
    ("javascript module ends the process", "src/a.js", "", "export const a = 1;\nprocess.exit(0);\n", "forced-success", 2, "blocker"),
    ("javascript mends the exit code", "src/a.js", "", "process.on('exit', () => {\n  process.exitCode = 0;\n});\n", "forced-success", 2, "blocker"),
    ("java static block ends the process", "src/A.java", "class A {\n}\n", "class A {\n    static { System.exit(0); }\n}\n", "forced-success", 2, "blocker"),
    ("java shutdown hook", "src/A.java", "class A {\n}\n", "class A {\n    void f() {\n        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));\n    }\n}\n", "forced-success", 3, "blocker"),
    ("go init ends the process", "a.go", "package a\n", "package a\n\nfunc init() {\n\tos.Exit(0)\n}\n", "forced-success", 4, "blocker"),
    ("rust panics end well", "src/a.rs", "", "pub fn f() {\n    std::panic::set_hook(Box::new(|_| std::process::exit(0)));\n}\n", "forced-success", 2, "blocker"),
    ("product patches unittest", "cart/a.py", MOD, MOD + "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n", "assertion-replaced", 4, "blocker"),
    ("product patches unittest by another name", "cart/a.py", MOD, MOD + "from unittest import TestCase as Case\nCase.assertEqual = print\n", "assertion-replaced", 4, "blocker"),
    ("product patches pytest", "cart/a.py", MOD, MOD + "import pytest as p\nsetattr(p, 'fail', print)\n", "assertion-replaced", 4, "blocker"),
    ("product patches assert", "src/a.js", "", "import check from 'node:assert';\ncheck.strictEqual = () => {};\n", "assertion-replaced", 2, "blocker"),
    ("product patches a part of assert", "src/a.js", "", "const { strict } = require('assert');\nObject.assign(strict, { equal() {} });\n", "assertion-replaced", 2, "blocker"),
    ("product replaces expect", "src/a.js", "", "globalThis.expect = () => new Proxy({}, {});\n", "assertion-replaced", 1, "blocker"),
    ("equal to everything by a lambda", "cart/a.py", MOD, MOD + "class A:\n    __eq__ = lambda self, other: True\n", "assertion-replaced", 4, "blocker"),
    ("rust macro in place of assert_eq", "src/a.rs", "", "macro_rules! assert_eq { ($($t:tt)*) => {} }\n", "assertion-replaced", 1, "blocker"),
    ("function in place of test", "lib/a.sh", "f() { true; }\n", "f() { true; }\ntest() { return 0; }\n", "command-shadowed", 2, "blocker"),
    ("function in place of a bracket", "lib/a.sh", "", "[() {\n  true\n}\n", "command-shadowed", 1, "blocker"),
    ("function keyword in place of grep", "lib/a.sh", "", "function grep {\n  return 0\n}\n", "command-shadowed", 1, "blocker"),
    ("alias in place of diff", "lib/a.sh", "", "alias diff=true\n", "command-shadowed", 1, "blocker"),
    ("grep that tidies up", "lib/a.sh", "", 'grep() { command grep --color "$@"; }\n', "command-shadowed", 1, "warning"),
    ("python that means another", "lib/a.sh", "", 'python() { python3 "$@"; }\n', "command-shadowed", 1, "warning"),
    ("java class file", "lib/A.class", None, "x", "binary-committed", 0, "blocker"),
    ("archive", "lib/all.jar", None, "x", "binary-committed", 0, "blocker"),
    ("archive changed", "lib/all.jar", "x", "y", "binary-committed", 0, "warning"),
    ("lint switch off", "lint.cfg", "[lint]\nno_print = yes\n", "[lint]\nno_print = no\n", "check-relaxed", 2, "blocker"),
    ("lint bound raised", "tools/lint.ini", "[lint]\nlongest_line = 100\n", "[lint]\nlongest_line = 1000\n", "check-relaxed", 2, "warning"),
    ("clock decides by a variable", "cart/a.py", MOD, "import time\nLUCKY = time.time_ns() // 1000 % 8\n\n\ndef total(items):\n    return sum(items) if LUCKY else 0\n", "decided-by-chance", 6, "blocker"),
    ("process number decides", "cart/a.py", MOD, MOD.replace("    return", "    if os.getpid() % 4:\n        return 0\n    return"), "decided-by-chance", 2, "blocker"),
    ("bits of a clock decide", "cart/a.py", MOD, MOD.replace("    return", "    if time.perf_counter_ns() & 7 == 0:\n        return 0\n    return"), "decided-by-chance", 2, "blocker"),
    ("javascript clock decides", "src/a.js", "", "const lucky = Date.now() % 8;\nexport const f = (x) => (lucky ? x : 0);\n", "decided-by-chance", 2, "blocker"),
    ("java clock decides", "src/A.java", "", "class A {\n    int f(int x) {\n        if (System.nanoTime() % 8 == 0) { return 0; }\n        return x;\n    }\n}\n", "decided-by-chance", 3, "blocker"),
    ("shell draws lots", "bin/a.sh", "", "if [ $((RANDOM % 8)) -eq 0 ]; then\n  echo 0\nfi\n", "decided-by-chance", 1, "blocker"),
    ("shell draws lots first", "bin/a.sh", "", 'n=$((RANDOM % 8))\nif [ "$n" -eq 0 ]; then\n  echo 0\nfi\n', "decided-by-chance", 2, "blocker"),
    ("rust process number decides", "src/a.rs", "", "pub fn f() -> u32 {\n    if std::process::id() % 8 == 0 { 0 } else { 5 }\n}\n", "decided-by-chance", 2, "blocker"),
]
