"""Writes a failing test in the form that the project's test command picks up."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autopilot.evidence.content.references import NOT_OURS
from autopilot.evidence.safe_read import read_beneath

STEM = "autopilot_canary"
# Behind the tests that load the product, where one process runs them all: what the product did to it is then done.
LAST = f"zz_{STEM}"
PYTHON = """import unittest


class AutopilotCanary(unittest.TestCase):
    def test_autopilot_canary(self):
        for broken in (
            lambda: self.assertEqual(1, 2),
            lambda: self.assertTrue(False),
            lambda: self.assertFalse(True),
            lambda: self.assertIn(1, [2]),
            lambda: self.assertIsNone(1),
            lambda: self.assertListEqual([1], [2]),
        ):
            try:
                broken()
            except AssertionError:
                continue
            return
        self.fail("the canary of Autopilot: this test must fail")
"""
SCRIPT = 'throw new Error("the canary of Autopilot: this test must fail");\n'
# Fails only if every assertion does what it should; one that was switched off lets the canary live.
ASSERTING = """
{loaded}
const autopilotBroken = [
  () => autopilotAssert.strictEqual(1, 2),
  () => autopilotAssert.equal(1, 2),
  () => autopilotAssert.deepStrictEqual([1], [2]),
  () => autopilotAssert.deepEqual([1], [2]),
  () => autopilotAssert.ok(false),
  () => autopilotAssert.strict.equal(1, 2),
  () => autopilotAssert.throws(() => {{}}),
  ...(typeof expect === 'function' ? [() => expect(1).toBe(2)] : []),
];
const autopilotNoticed = (broken) => {{
  try {{
    broken();
  }} catch {{
    return true;
  }}
  return false;
}};
if (autopilotBroken.every(autopilotNoticed)) {{
  throw new Error('the canary of Autopilot: this test must fail');
}}
"""
_MODULE = re.compile(r"^\s*import\b(?!\s*\()", re.MULTILINE)
LONGEST_MODEL = 9_000
GO = (
    'package {package}\n\nimport "testing"\n\nfunc TestAutopilotCanary(t *testing.T) {{\n'
    '\tt.Fatal("the canary of Autopilot: this test must fail")\n}}\n'
)
RUST = '#[test]\nfn autopilot_canary() {\n    panic!("the canary of Autopilot: this test must fail");\n}\n'
BATS = '@test "the canary of Autopilot: this test must fail" {\n  false\n}\n'
SHELL = "#!/bin/sh\necho 'the canary of Autopilot: this test must fail' >&2\nexit 1\n"
RUBY = 'raise "the canary of Autopilot: this test must fail"\n'

_PICKS = re.compile(
    r"\s(?:-k|-m|-t|-g|-run|--run|--grep|--filter|--testNamePattern|--test-name-pattern)[\s=]"
    r"|\bunittest\s+(?:-\w+\s+)*(?!discover\b)[A-Za-z]"
)

Read = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bird:
    """A file to write. `direct`: the command itself names the runner that finds it."""

    path: str
    text: str
    direct: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """`runner` in a command, or a file that matches `tests` in the project, calls for this form."""

    runner: re.Pattern[str]
    tests: re.Pattern[str]
    make: Callable[[str, str, Read], tuple[str, str] | None]
    otherwise: str = ""


def canary(command: str, files: Sequence[str], read: Read) -> Bird | None:
    """
    The canary for a command in a project with those files; None when no form is known.

    It lies beside a test that is there and is named like it, so that what finds the one finds the other.
    """
    direct = next((form for form in _FORMS if form.runner.search(command)), None)
    for form in (direct,) if direct else sorted(_FORMS, key=lambda form: not _spoken_of(form, command, files)):
        beside = _model(form, command, files) or (_first(form, command, files) if direct else "")
        made = form.make(beside, command, read) if beside else None
        if made and made[0] not in files:
            return Bird(path=made[0], text=made[1], direct=direct is not None and not _narrowed(command, files))
    return None


def _model(form: _Form, command: str, files: Sequence[str]) -> str:
    """The test to lie beside: one the command points at, or the one nearest to the top."""
    found = sorted((f for f in files if form.tests.search(f)), key=lambda f: (f.count("/"), f))
    pointed = [f for f in found if any(f.startswith(f"{folder}/") for folder in _folders(command, files))]
    return next(iter(pointed or found), "")


def _spoken_of(form: _Form, command: str, files: Sequence[str]) -> bool:
    """The command mentions the ending of such tests: `for t in tests/*.sh`."""
    suffix = PurePosixPath(_model(form, command, files)).suffix
    return bool(suffix) and f"{suffix} " in f"{command} ".replace(";", " ")


def _first(form: _Form, command: str, files: Sequence[str]) -> str:
    """Where the runner looks first when there is no test yet."""
    folder = next((folder for folder in _folders(command, files) if form.otherwise), "")
    return f"{folder}/{form.otherwise}" if folder else form.otherwise


def _folders(command: str, files: Sequence[str]) -> list[str]:
    words = [word.strip("'\"").removeprefix("./").rstrip("/.") for word in command.split()]
    return [word for word in words if word and any(f.startswith(f"{word}/") for f in files)]


def _narrowed(command: str, files: Sequence[str]) -> bool:
    """The command names single files or picks tests by name, so that it rightly does not see another one."""
    bare = re.sub(r"\bpython[\d.]*\s+(?:-\w\s+)*-m\s", "", command)
    words = {word.partition("::")[0].removeprefix("./") for word in bare.split()}
    return bool(words & set(files)) or _PICKS.search(bare) is not None


def _beside(model: str, name: str) -> str:
    folder = str(PurePosixPath(model).parent)
    return name if folder == "." else f"{folder}/{name}"


def _python(model: str, command: str, read: Read) -> tuple[str, str]:  # noqa: ARG001 - the signature of every form
    late = model.endswith(("_test.py", "_tests.py"))
    suffix = re.search(r"_tests?\.py$", model)
    return _beside(model, f"{LAST}{suffix[0]}" if late and suffix else f"test_{LAST}.py"), PYTHON


def _javascript(model: str, command: str, read: Read) -> tuple[str, str]:  # noqa: ARG001 - as above
    """
    By the same ending as the model: `.spec.ts` is found where `.test.js` is not.

    Each file is a process of its own, so it is the model once more and loads what that loads.
    """
    ending = re.search(r"[.-](?:test|spec|cy)\.[cm]?[jt]sx?$", model)
    suffix = PurePosixPath(model).suffix
    path, text = _beside(model, f"autopilot-canary{ending[0] if ending else f'.test{suffix}'}"), read(model)
    if not text.strip() or len(text) > LONGEST_MODEL:
        return path, SCRIPT
    module = _MODULE.search(text) is not None or suffix in {".mjs", ".mts"}
    loaded = (
        "import autopilotAssert from 'node:assert';" if module else "const autopilotAssert = require('node:assert');"
    )
    return path, text + ASSERTING.format(loaded=loaded)


def _go(model: str, command: str, read: Read) -> tuple[str, str] | None:  # noqa: ARG001 - as above
    package = re.search(r"^package\s+(\w+)", read(model), re.MULTILINE)
    return (_beside(model, f"{STEM}_test.go"), GO.format(package=package[1])) if package else None


def _rust(model: str, command: str, read: Read) -> tuple[str, str] | None:  # noqa: ARG001 - as above
    """Beside a test of its own file, or in `tests` of the crate."""
    if not model.endswith("Cargo.toml"):
        return _beside(model, f"{STEM}.rs"), RUST
    return (_beside(model, f"tests/{STEM}.rs"), RUST) if "[package]" in read(model) else None


def _named_like(name: str, text: str) -> Callable[[str, str, Read], tuple[str, str]]:
    return lambda model, _command, _read: (_beside(model, name), text)


def _shell(model: str, command: str, read: Read) -> tuple[str, str]:  # noqa: ARG001 - as above
    early = PurePosixPath(model).name.startswith("test")
    return _beside(model, f"test_{STEM}.sh" if early else f"{STEM}_test.sh"), SHELL


_FORMS = (
    _Form(
        runner=re.compile(r"\b(?:pytest|py\.test|unittest)\b"),
        tests=re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_tests?)\.py$"),
        make=_python,
        otherwise="test_none.py",
    ),
    _Form(
        runner=re.compile(r"\bnode\s+(?:\S+\s+)*--test\b|\b(?:jest|vitest|mocha|ava)\b|\b(?:bun|deno)\s+test\b"),
        tests=re.compile(r"[.-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:tests?|__tests__)/[^/]+\.[cm]?[jt]sx?$"),
        make=_javascript,
    ),
    _Form(runner=re.compile(r"\bgo\s+test\b"), tests=re.compile(r"\.go$"), make=_go),
    _Form(
        runner=re.compile(r"\bcargo\s+(?:\S+\s+)?(?:test|nextest)\b"),
        tests=re.compile(r"(?:^|/)tests/[^/]+\.rs$|(?:^|/)Cargo\.toml$"),
        make=_rust,
    ),
    _Form(
        runner=re.compile(r"\bbats\b"), tests=re.compile(r"\.bats$"), make=_named_like(f"{STEM}.bats", BATS)
    ),
    _Form(
        runner=re.compile(r"\brspec\b"), tests=re.compile(r"_spec\.rb$"), make=_named_like(f"{STEM}_spec.rb", RUBY)
    ),
    _Form(
        runner=re.compile(r"(?!)"), tests=re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.sh$"), make=_shell
    ),
)  # fmt: skip


MOST_FILES = 20_000
HEAD_BYTES = 10_000


def planted(folder: str, command: str) -> Bird | None:
    """The canary, on disk now; None when none can be made for the command, or no place is safe for it."""
    top = Path(os.path.realpath(folder))
    bird = canary(command, listing(top), lambda path: _head(top, path))
    if bird is None:
        return None
    target = top / bird.path
    if not Path(os.path.realpath(target.parent)).is_relative_to(top):
        return None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o755)
    except OSError:
        return None
    with os.fdopen(file, "w", encoding="utf-8") as opened:
        opened.write(bird.text)
    return bird


def listing(top: Path) -> list[str]:
    """The files of a checkout by their path below it, as far as they are looked at."""
    found: list[str] = []
    for at, folders, files in os.walk(top):
        folders[:] = sorted(set(folders) - NOT_OURS)
        found += (Path(at, name).relative_to(top).as_posix() for name in sorted(files))
        if len(found) > MOST_FILES:
            break
    return found[:MOST_FILES]


def _head(top: Path, path: str) -> str:
    return (read_beneath(top, path, HEAD_BYTES) or b"").decode("utf-8", "replace")
