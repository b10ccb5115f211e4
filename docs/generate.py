"""Write the generated parts of these pages anew; with --check, say what is stale or unproven and leave with 1."""

import ast
import difflib
import inspect
import json
import re
import runpy
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import rule_ledger
from autopilot.agents.backend import Backend
from autopilot.agents.backends.catalogue import BY_NAME, PREFERRED
from autopilot.app.explain import StageRow, stages
from autopilot.cli.help import HELP
from autopilot.domain import errors
from autopilot.domain.settings import Limits
from autopilot.planning.config import read_config as config
from autopilot.policy.facts import tamper_rules as honesty
from autopilot.sandbox.self_attack import ATTACKS

DOCS = Path(__file__).parent
PACKAGE = DOCS.parent / "src" / "autopilot"
PART = re.compile(
    r"(?P<open><!-- generated: (?P<name>[a-z-]+) -->\n).*?(?P<close><!-- end of (?P=name) -->)", re.DOTALL
)
ORDER = (
    "pipeline.py", "text", "domain", "ports", "history", "policy", "gates", "steps", "engine", "evidence",
    "planning", "agents", "sandbox", "workspace", "codemap", "files", "authority", "journal", "state", "sessions",
    "views", "cli", "app",
)  # fmt: skip
# A fault suite with more parts than these is told in one line.
MOST_PARTS = 4
# Ends of a run that are results and not errors, so no class of domain/errors.py stands for them.
RESULTS = (
    (0, "every target phase passed"),
    (1, "a bug in Autopilot: please report it with the traceback"),
    (10, "some phases failed or are blocked"),
    (11, "a phase waits for a person, or the session loop leaves its first choice to you"),
    (12, "every target phase is done, but one is below the bar, needed no work or did not land, or gaps remain"),
    (20, "a cap in dollars, tokens or time stopped the run"),
    (21, "a circuit breaker stopped the run, or a kill-switch the session loop"),
)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def steps() -> str:
    rows = [(f"`{s.name}`", s.heading.title() or "-", s.what, f"[{s.gate}](#{s.gate})") for s in _steps()]
    return table(("step", "shown as", "what it does", "gate behind it"), rows)


def gates() -> str:
    """Each gate once, with the steps it stands behind."""
    behind: dict[str, list[StageRow]] = {}
    for row in stages():
        behind.setdefault(row.gate, []).append(row)
    return "\n".join(_gate(gate, rows) for gate, rows in behind.items())


def _gate(gate: str, rows: Sequence[StageRow]) -> str:
    names = " and ".join(f"`{row.name}`" if row in _steps() else row.name for row in rows)
    rules = table(("when", "then"), [(rule.name, rule.verdict) for rule in rows[0].rules])
    return f"### {gate}\n\nBehind {names}. {rows[0].question}\n\n{rules}"


def _steps() -> tuple[StageRow, ...]:
    """Without the two gates that belong to no step."""
    return stages()[:-2]


def events() -> str:
    tree = ast.parse((PACKAGE / "domain" / "events.py").read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    told = [node for node in classes if any(isinstance(base, ast.Name) and base.id == "Tagged" for base in node.bases)]
    values = [node for node in classes if node not in told]
    return "\n".join([*map(_class, told), "## What they are made of\n", *map(_class, values)])


def _class(node: ast.ClassDef) -> str:
    said = inspect.cleandoc(ast.get_docstring(node) or "").replace("\n\n", "\n")
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
    rows = [
        (f"`{ast.unparse(f.target)}`", f"`{ast.unparse(f.annotation)}`", f"`{ast.unparse(f.value)}`" if f.value else "")
        for f in fields
    ]
    return f"### {node.name}\n\n{f'{said}{chr(10) * 2}' if said else ''}{table(('field', 'type', 'default'), rows)}"


def parts() -> str:
    """Every part's own sentence, from its docstring."""
    rows = []
    for name in ORDER:
        path = PACKAGE / name
        text = (path if path.is_file() else path / "__init__.py").read_text(encoding="utf-8")
        said = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0].replace("\n", " ")
        rows.append((f"`{name}{'' if path.is_file() else '/'}`", said))
    return table(("part", "what it is"), rows)


def exit_codes() -> str:
    kinds = [value for value in vars(errors).values() if isinstance(value, type) and hasattr(value, "exit_code")]
    told = [(kind.exit_code, _meaning(kind.__name__)) for kind in kinds if kind is not errors.AutopilotError]
    return table(("code", "meaning"), [(str(code), said) for code, said in sorted((*RESULTS, *told), key=_code)])


def _code(row: tuple[int, str]) -> int:
    return row[0]


def _meaning(name: str) -> str:
    """The error's name as words, and what the tree at the top of domain/errors.py says of it."""
    found = re.search(rf"^\s*x {name}\s+exit \d+:? ?(.*)$", errors.__doc__ or "", re.MULTILINE)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return f"{words}: {found[1]}" if found and found[1] else words


def limits() -> str:
    defaults = Limits()
    rows = [
        (f"`{section}.{key}`", f"{getattr(defaults, name)}".removesuffix(".0").replace("None", "no cap"))
        for (section, key), name in config._LIMITS.items()  # noqa: SLF001 - the one place that knows the keys
    ]
    return table(("key", "default"), rows)


def tampering() -> str:
    rows = [
        (f"`{rule.name}`", honesty.SPOKEN[rule.severity], rule.looks_for, rule.milder or "-", rule.why)
        for rule in honesty.RULES
    ]
    return table(("rule", "weight", "what is looked for", "only a concern when", "why"), rows)


def usage() -> str:
    return f"```text\n{HELP.rstrip()}\n```\n"


def rules() -> str:
    told, found, records = rule_ledger.read(), rule_ledger.proofs(), rule_ledger.decision_files()
    proven = sum(rule.id in found for rule in told.rules)
    tables = [
        f"## {group.letter}. {group.title}\n\n"
        + table(("rule", "level", "what it asks", "proven by"), rule_ledger.rows(group, found, records))
        for group in told.groups
    ]
    return "\n".join([f"{proven} of {len(told.rules)} rules have a test that proves them.\n", *tables])


def canary() -> str:
    return "\n".join(f"- it {attack.what}" for attack in ATTACKS) + "\n"


def escapes() -> str:
    """The attacks by kind; what a tier cannot hold stands behind its name."""
    attacks = runpy.run_path(str(DOCS.parent / "tests" / "escapes" / "attacks.py"))["ATTACKS"]
    rows = [
        (kind, str(len(named)), "; ".join(_held(attack) for attack in named))
        for kind in ("write", "read", "network", "process")
        if (named := [attack for attack in attacks if attack.kind == kind])
    ]
    return table(("kind", "how many", "what is tried"), rows)


def _held(attack: Any) -> str:
    beyond = "; ".join(f"not held by {tier}: {why}" for tier, why in attack.beyond.items())
    return f"{attack.name} (**{beyond}**)" if beyond else attack.name


def programs() -> str:
    """What each coding agent's program can do by itself, from the table the adapters go by."""
    head = (
        "agent",
        "made for",
        "schema",
        "resume",
        "tokens",
        "dollars",
        "caps",
        "reads only",
        "own sandbox",
        "watched",
    )
    return table(head, [_program(backend) for backend in BY_NAME.values()])


def _program(backend: Backend) -> tuple[str, ...]:
    able = backend.capabilities
    caps = " and ".join(word for word, has in (("turns", able.turn_cap), ("dollars", able.budget_cap)) if has)
    flags = (able.read_only, able.own_sandbox, able.observes)
    told = (able.resume, able.usage, able.cost)
    schema = {"none": "-", "checked": "by the program", "strict": "by the service"}[able.answer_schema]
    return (f"`{backend.name}`", backend.tested, schema, *map(_yes, told), caps or "-", *map(_yes, flags))


def _yes(has: bool) -> str:  # noqa: FBT001 - a word for it
    return "yes" if has else "-"


def accounts() -> str:
    """What shows that a program is signed in, and what it gets of the user's environment."""
    rows = [
        (
            f"`{backend.name}`",
            ", ".join(f"`{name}`" for name in backend.sign_in.variables),
            ", ".join(f"`~/{name}`" for name in backend.sign_in.files),
            ", ".join(backend.token_hosts) or "-",
            ", ".join(f"`{name}`" for name in backend.variables),
        )
        for backend in PREFERRED
    ]
    return table(("agent", "signed in by a variable", "or by a file", "renewed at", "also handed on"), rows)


def fault_runs() -> str:
    """What the last full run of each fault suite tried, from the file its numbers were put into."""
    lines = (DOCS.parent / "tests" / "faults" / "last_full_run.jsonl").read_text(encoding="utf-8").splitlines()
    told = sorted((json.loads(line) for line in lines if line.strip()), key=lambda run: str(run["suite"]))
    rows = []
    for suite, group in groupby(told, key=lambda run: str(run["suite"]).partition(":")[0]):
        runs = list(group)
        together = len(runs) > MOST_PARTS
        rows += [_tried(f"{suite}, {len(runs)} parts", runs)] if together else [_tried(r["suite"], [r]) for r in runs]
    return table(("suite", "seed", "tried", "date"), rows)


def _tried(suite: str, runs: Sequence[dict[str, Any]]) -> tuple[str, str, str, str]:
    counts = Counter[str]()
    for run in runs:
        counts.update(run["counts"])
    seeds, dates = (sorted({str(run[key]) for run in runs}) for key in ("seed", "date"))
    return suite, ", ".join(seeds), ", ".join(f"{name} {n:,}" for name, n in counts.items()), dates[-1]


GENERATORS: dict[str, Callable[[], str]] = {
    "steps": steps,
    "gates": gates,
    "events": events,
    "parts": parts,
    "exit-codes": exit_codes,
    "limits": limits,
    "usage": usage,
    "rules": rules,
    "canary": canary,
    "escapes": escapes,
    "tampering": tampering,
    "programs": programs,
    "accounts": accounts,
    "fault-runs": fault_runs,
}


def renewed(text: str) -> str:
    """The page with every generated part as the code has it now."""
    return PART.sub(lambda part: f"{part['open']}\n{GENERATORS[part['name']]()}\n{part['close']}", text)


def main(words: Sequence[str]) -> int:
    stale = 0
    for page in sorted(DOCS.rglob("*.md")):
        old = page.read_text(encoding="utf-8")
        new = renewed(old)
        if new == old:
            continue
        stale += 1
        changed = [line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[:1] in {"+", "-"}]
        sys.stdout.write(f"{page.relative_to(DOCS.parent)}: {len(changed)} lines differ\n")
        sys.stdout.writelines(f"  {line[:118]}\n" for line in changed[:6])
        if "--check" not in words:
            page.write_text(new, encoding="utf-8")
    if "--check" not in words:
        return 0
    if stale:
        sys.stdout.write("The generated parts are stale. Write them anew: python docs/generate.py\n")
    wrong = [*rule_ledger.problems(rule_ledger.read(), rule_ledger.proofs(), rule_ledger.decision_files())]
    sys.stdout.writelines(f"docs/rules.toml: {problem}\n" for problem in wrong)
    return 1 if stale or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
