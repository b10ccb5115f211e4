"""Checks the shape of the package: who may import whom, and what stays pure."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "autopilot"

CORE = {"text", "domain", "history", "ports", "policy"}
ADAPTERS = ("agents", "codemap", "evidence", "planning", "sandbox", "sessions", "workspace")
MAY_IMPORT: dict[str, set[str]] = {
    "text":      set(),
    "domain":    {"text"},
    "history":   {"domain", "text"},
    "ports":     {"history", "domain", "text"},
    "policy":    {"history", "domain", "text"},
    "gates":     {"policy", "history", "domain", "text"},
    "steps":     CORE,
    "pipeline":  {"steps", "gates", *CORE},
    "engine":    {"pipeline", *CORE},
    "files":     {"domain", "text"},  # every adapter opens files the same safe way
    "authority": {"files", "domain", "text"},
    **{adapter: {"files", *CORE} for adapter in ADAPTERS},  # never each other
    "state":     CORE,
    "journal":   {"authority", "files", "state", *CORE},  # no journal can be opened without its user's key
    "views":     {"state", "journal", *CORE},
    "cli":       {"app", "views", "authority", *CORE},  # `status` asks whose a run is, and loads no more than that
    "__main__":  {"cli"},
}  # fmt: skip
EVERYTHING = {*MAY_IMPORT} - {"cli", "__main__"}
MAY_IMPORT["app"] = EVERYTHING  # the wiring, and nothing else
PURE = {"text", "domain", "history", "policy", "gates", "pipeline", "state"}
IMPURE = {
    "os", "subprocess", "sqlite3", "socket", "time", "random", "pathlib", "shutil", "threading", "asyncio", "tempfile",
    "secrets", "uuid", "signal", "io", "sys", "glob", "urllib", "http",
}  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(module: Path) -> str:
    return str(module.relative_to(PACKAGE))


def part_of(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: write imports in full"
            if node.module == "autopilot":
                yield from (f"autopilot.{name.name}" for name in node.names)
            else:
                yield node.module or ""


def strings(module: Path) -> list[str]:
    nodes = ast.walk(ast.parse(module.read_text()))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@pytest.mark.parametrize("module", [m for m in MODULES if part_of(m) != "__init__"], ids=name_of)
def test_imports_point_inwards(module: Path) -> None:
    part = part_of(module)
    ours = {name.split(".")[1] for name in imports(module) if name.startswith("autopilot.")}

    assert ours - {part, "__version__"} <= MAY_IMPORT[part]


@pytest.mark.parametrize("module", [m for m in MODULES if part_of(m) in PURE], ids=name_of)
def test_deciding_code_touches_nothing(module: Path) -> None:
    assert not {name.split(".")[0] for name in imports(module)} & IMPURE
    calls = {
        n.func.id
        for n in ast.walk(ast.parse(module.read_text()))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    assert not calls & {"open", "print", "input", "exec", "eval"}
    asked = {
        n.func.attr
        for n in ast.walk(ast.parse(module.read_text()))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    }
    assert not asked & {"now", "utcnow", "today"}, "the time is an argument here"


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_each_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))


def test_pipe_05_no_step_of_a_phase_reaches_the_state_file() -> None:
    of_a_phase = {"pipeline", "steps", "gates", "engine", "evidence"}
    reach = {part_of(m) for m in MODULES if "autopilot.journal.state_file" in imports(m)}
    name = {part_of(m) for m in MODULES if any("state.json" in text for text in strings(m))}

    assert (reach & of_a_phase, name & of_a_phase) == (set(), set())
    assert "app" in reach


def test_rbk_02_no_command_of_ours_resets_a_repository() -> None:
    said = [text for module in MODULES for text in strings(module)]

    assert "reset" not in said
    assert not any("--hard" in text for text in said)


def test_every_part_has_a_place_in_the_table() -> None:
    assert {part_of(m) for m in MODULES} - {"__init__"} <= MAY_IMPORT.keys()
