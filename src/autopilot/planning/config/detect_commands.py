"""The project's own commands, from the manifests in its root (EXEC-01)."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.planning.config.read_config import COMMANDS, Config

_NO_TEST = "no test specified"
_REQUIREMENT_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_TARGET = re.compile(r"^([A-Za-z0-9_.-]+(?:[ \t]+[A-Za-z0-9_.-]+)*)[ \t]*::?(?!=)", re.MULTILINE)


# What package managers install in a project, usually ignored by git. Folders a build writes to are none of them.
DEPENDENCIES = ("node_modules", ".venv", "venv", "vendor/bundle")


class Detected(Value, frozen=True, kw_only=True):
    type: str = "unknown"
    manifest: str | None = None
    commands: Commands = Commands()
    notes: tuple[str, ...] = ()

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The folders a clone needs from the user's checkout for the commands to run, as far as they are there."""
        return DEPENDENCIES


def detect(files: Mapping[str, str]) -> Detected:
    """The first manifest that is there decides. `files` maps names in the project's root to their text."""
    for manifest, reader in MANIFESTS:
        if manifest in files:
            return reader(files)
    checked = ", ".join(name for name, _ in MANIFESTS)
    note = f"No project manifest found (checked: {checked}). Project commands will be empty."
    return Detected(notes=(f"{note} Downstream compile/lint/test gates will be skipped.",))


def merge(config: Config, detected: Detected) -> Commands:
    """A key in the config wins, a null too."""
    chosen = {"user-override": config.commands, "auto-detected": detected.commands}
    return Commands(**{name: getattr(chosen[source], name) for name, source in sources(config, detected).items()})


def dependencies(config: Config, detected: Detected) -> tuple[str, ...]:
    """`workspace.dependencies` of the config wins, a null or an empty list too; else what the kind of project has."""
    return detected.dependencies if config.dependencies is None else config.dependencies


def sources(config: Config, detected: Detected) -> dict[str, str]:
    """
    Where each command comes from.

    A value that the config calls detected is the user's as soon as it differs from what is detected: they edited it.
    """
    own = {
        name
        for name in config.given
        if config.commands_source.get(name) != "auto-detected"
        or getattr(config.commands, name) != getattr(detected.commands, name)
    }
    return {name: "user-override" if name in own else "auto-detected" for name in COMMANDS}


def _node(files: Mapping[str, str]) -> Detected:
    data, notes = _json(files["package.json"], "package.json")
    scripts, runner = _table(data, "scripts"), _node_runner(files)
    needs = {*_table(data, "dependencies"), *_table(data, "devDependencies")}
    compile_script = next((name for name in ("compile", "typecheck", "type-check") if _script(scripts, name)), None)
    compiler = f"{_NODE_EXEC[runner]} tsc --noEmit" if "typescript" in needs else None
    test = _script(scripts, "test")
    return Detected(
        type="nodejs",
        manifest="package.json",
        commands=Commands(
            compile=f"{runner} run {compile_script}" if compile_script else compiler,
            test=_node_test(runner) if test and _NO_TEST not in test else None,
            lint=f"{runner} run lint" if _script(scripts, "lint") else None,
            build=f"{runner} run build" if _script(scripts, "build") else None,
        ),
        notes=notes,
    )


_NODE_EXEC = {"npm": "npx", "pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx"}


def _node_runner(files: Mapping[str, str]) -> str:
    """The package manager by its lock file, npm when there is none."""
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}
    return next((manager for lock, manager in locks.items() if lock in files), "npm")


def _node_test(runner: str) -> str:
    # `bun test` would start bun's own test runner instead of the script.
    return "bun run test" if runner == "bun" else f"{runner} test"


def _python(files: Mapping[str, str]) -> Detected:
    data, notes = _toml(files["pyproject.toml"], "pyproject.toml")
    project, tool = _table(data, "project"), _table(data, "tool")
    needs = _python_needs(data, project, tool)
    run = _python_runner(files, tool)
    tests = "pytest" in needs or "pytest" in tool or "pytest.ini" in files or "conftest.py" in files
    mypy = "mypy" in tool or "mypy.ini" in files
    lint = "ruff check ." if "ruff" in needs or "ruff" in tool or "ruff.toml" in files else None
    return Detected(
        type="python",
        manifest="pyproject.toml",
        commands=Commands(
            compile=run + ("mypy" if _mypy_knows_files(tool) else "mypy .") if mypy else None,
            test=run + ("pytest" if tests else "python -m unittest discover"),
            lint=run + lint if lint else (run + "flake8" if "flake8" in needs else None),
            build=_python_build(files, data, tool),
        ),
        notes=notes,
    )


def _mypy_knows_files(tool: Mapping[str, Any]) -> bool:
    return bool({"files", "packages", "modules"} & _table(tool, "mypy").keys())


def _python_needs(data: Mapping[str, Any], project: Mapping[str, Any], tool: Mapping[str, Any]) -> set[str]:
    """Names of everything the project asks to be installed, in any of the places that exist for it."""
    lists = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    lists += _table(data, "dependency-groups").values()
    lists.append(_table(tool, "uv").get("dev-dependencies"))
    named = [item for items in lists if isinstance(items, list) for item in items if isinstance(item, str)]
    needs = {found[1].lower() for item in named if (found := _REQUIREMENT_NAME.match(item))}
    poetry = _table(tool, "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(group, "dependencies") for group in _table(poetry, "group").values() if isinstance(group, dict)]
    return needs | {name.lower() for table in tables for name in table}


def _python_runner(files: Mapping[str, str], tool: Mapping[str, Any]) -> str:
    if "uv.lock" in files:
        return "uv run "
    if "poetry.lock" in files or "poetry" in tool:
        return "poetry run "
    return "pdm run " if "pdm.lock" in files else ""


def _python_build(files: Mapping[str, str], data: Mapping[str, Any], tool: Mapping[str, Any]) -> str | None:
    if "build-system" not in data:
        return None
    run = _python_runner(files, tool)
    return {"uv run ": "uv build", "poetry run ": "poetry build"}.get(run, f"{run}python -m build")


def _rust(files: Mapping[str, str]) -> Detected:
    _, notes = _toml(files["Cargo.toml"], "Cargo.toml")
    commands = Commands(compile="cargo check", test="cargo test", lint="cargo clippy", build="cargo build")
    return Detected(type="rust", manifest="Cargo.toml", commands=commands, notes=notes)


def _go(files: Mapping[str, str]) -> Detected:
    linted = any(name in files for name in (".golangci.yml", ".golangci.yaml", ".golangci.toml"))
    commands = Commands(
        compile="go build ./...",
        test="go test ./...",
        lint="golangci-lint run" if linted else "go vet ./...",
        build="go build ./...",
    )
    return Detected(type="go", manifest="go.mod", commands=commands)


def _maven(files: Mapping[str, str]) -> Detected:
    run = "./mvnw -q -B" if "mvnw" in files else "mvn -q -B"
    lint = f"{run} checkstyle:check" if "maven-checkstyle-plugin" in files["pom.xml"] else None
    commands = Commands(compile=f"{run} compile", test=f"{run} test", lint=lint, build=f"{run} package -DskipTests")
    return Detected(type="maven", manifest="pom.xml", commands=commands)


def _gradle(files: Mapping[str, str]) -> Detected:
    manifest = next(name for name in ("build.gradle.kts", "build.gradle") if name in files)
    run = "./gradlew" if "gradlew" in files else "gradle"
    text = files[manifest]
    lint = next((task for plugin, task in _GRADLE_LINTS.items() if plugin in text), None)
    commands = Commands(
        compile=f"{run} classes", test=f"{run} test", lint=f"{run} {lint}" if lint else None, build=f"{run} assemble"
    )
    return Detected(type="gradle", manifest=manifest, commands=commands)


_GRADLE_LINTS = {
    "spotless": "spotlessCheck",
    "ktlint": "ktlintCheck",
    "detekt": "detekt",
    "checkstyle": "checkstyleMain",
}


def _make(files: Mapping[str, str]) -> Detected:
    text = files["Makefile"].replace("\r\n", "\n")
    targets = {name for line in _TARGET.findall(text) for name in line.split()}
    commands = Commands(
        compile=_target(targets, "check", "compile"),
        test=_target(targets, "test"),
        lint=_target(targets, "lint"),
        build=_target(targets, "build", "all"),
    )
    return Detected(type="makefile", manifest="Makefile", commands=commands)


def _target(targets: set[str], *names: str) -> str | None:
    return next((f"make {name}" for name in names if name in targets), None)


MANIFESTS: tuple[tuple[str, Callable[[Mapping[str, str]], Detected]], ...] = (
    ("package.json", _node),
    ("pyproject.toml", _python),
    ("Cargo.toml", _rust),
    ("go.mod", _go),
    ("pom.xml", _maven),
    ("build.gradle.kts", _gradle),
    ("build.gradle", _gradle),
    ("Makefile", _make),
)
"""Looked for in this order; the first that exists decides."""
READ = frozenset({*(name for name, _ in MANIFESTS), "mypy.ini", "pytest.ini", "setup.cfg", "tox.ini"})
"""Whose text counts; of other files it is the name."""


def _json(text: str, name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return {}, (f"{name} cannot be read ({error}): no commands taken from it",)
    return (data, ()) if isinstance(data, dict) else ({}, (f"{name} holds no object: no commands taken from it",))


def _toml(text: str, name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n")), ()
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        return {}, (f"{name} cannot be read ({error}): only its name was used",)


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _script(scripts: Mapping[str, Any], name: str) -> str | None:
    value = scripts.get(name)
    return value if isinstance(value, str) and value.strip() else None
