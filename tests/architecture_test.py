"""Checks the shape of the package: who may import whom, and what stays pure."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "autopilot"

EVERYTHING = {
    "pipeline", "steps", "gates", "engine", "evidence", "planning", "agents", "sandbox", "workspace", "journal",
    "sessions", "views", "authority", "home_files", "domain",
}  # fmt: skip
MAY_IMPORT = {
    "cli":       {"adoption", "app", "looping", "serving", "tracing", "views", "engine", "sessions", "domain"},
    "app":       {"adoption", "hiring", "attesting", "command_trial", "consent", "consulting", "verdicts", "driving", "notifying", "ownership",
                  "permission", "projecting", "provision", "redoing", "relanding", "reporting", "roadmap_edits", "session_log", "stopping", *EVERYTHING},
    "looping":   {"hiring", "driving", "sessioning", "sessions", "sandbox", "journal", "domain"},
    "sessioning": {"hiring", "app", "driving", "session_log", *EVERYTHING},
    "session_log": {"journal", "sessions", "domain"},
    "attesting": {"borrowing", "derivation", "hiring", "driving", *EVERYTHING},
    "derivation": {"planning", "steps", "workspace", "domain"},
    "command_trial": {"borrowing", "hiring", "provision", *EVERYTHING},
    "borrowing": {"hiring", "provision", *EVERYTHING},
    "consent":   {"hiring", *EVERYTHING},
    "consulting": {"hiring", "driving", "ownership", *EVERYTHING},
    "verdicts":  {"hiring", "driving", "permission", "projecting", *EVERYTHING},
    "driving":   {"accounts", "hiring", "permission", "projecting", "provision", "roadmap_edits", *EVERYTHING},
    "projecting": {"accounts", "engine", "journal", "domain"},
    "hiring":    {"provision", *EVERYTHING},
    "accounts":  {*EVERYTHING},
    "notifying": {"tracing", "planning", "sandbox", "views", "domain"},
    "serving":   {"app", "consulting", *EVERYTHING},
    "redoing":   EVERYTHING,
    "relanding": {"hiring", "driving", *EVERYTHING},
    "roadmap_edits": {"engine", "planning", "domain"},
    "stopping":  {"hiring", "ownership", "journal", "sandbox", "domain"},
    "reporting": {"accounts", "attesting", "hiring", "ownership", *EVERYTHING},
    "tracing":   {"journal", "views", "workspace", "domain"},
    "adoption":  {"ownership", "authority", "journal", "domain"},
    "ownership": {"hiring", "authority", "journal", "workspace", "domain"},
    "permission": {"hiring", "authority", "agents", "planning", "domain"},
    "provision": {"sandbox", "workspace", "domain"},
    "engine":    {"pipeline", "domain"},
    "pipeline":  {"steps", "gates", "domain"},
    # What lies below `.autopilot` is opened one way, by whichever part it belongs to.
    "home_files": {"domain"},
    "views":     {"journal", "domain"},
    "steps":     {"domain"},
    "gates":     {"domain"},
    "evidence":  {"domain"},
    "planning":  {"domain"},
    "agents":    {"home_files", "domain"},
    "sandbox":   {"home_files", "domain"},
    "workspace": {"home_files", "domain"},
    "journal":   {"authority", "home_files", "domain"},  # no journal can be opened without its user's key
    "sessions":  {"home_files", "domain"},
    "authority": {"domain"},
    "domain":    set(),
    "__main__":  {"cli"},
}  # fmt: skip
PURE = {"domain", "gates", "pipeline"}
IMPURE = {
    "os", "subprocess", "sqlite3", "socket", "time", "random", "pathlib", "shutil", "threading", "asyncio", "tempfile",
    "datetime", "secrets", "uuid", "signal", "io", "sys", "glob", "urllib", "http",
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


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_each_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))


def test_pipe_05_no_step_of_a_phase_reaches_the_state_file() -> None:
    of_a_phase = {"pipeline", "steps", "gates", "engine", "evidence"}
    reach = {part_of(m) for m in MODULES if "autopilot.journal.state_file" in imports(m)}
    name = {part_of(m) for m in MODULES if any("state.json" in text for text in strings(m))}

    assert (reach & of_a_phase, name & of_a_phase) == (set(), set())
    assert "driving" in reach


def test_rbk_02_no_command_of_ours_resets_a_repository() -> None:
    said = [text for module in MODULES for text in strings(module)]

    assert "reset" not in said
    assert not any("--hard" in text for text in said)


def test_every_part_has_a_place_in_the_table() -> None:
    assert {part_of(m) for m in MODULES} - {"__init__"} <= MAY_IMPORT.keys()
    assert {p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"} <= MAY_IMPORT.keys()
