"""The ledger of rules: what rules.toml asks, the tests that name each rule, and what is still without proof."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
TESTS = DOCS.parent / "tests"
LEVELS = {"M": "must", "S": "should", "Y": "may", "W": "warns"}
SHOWN = 3

PART = r"(?:\d{2}[a-z]?|[A-Z]\d)"
# What follows the first id of a list or a range. A bare number counts only where the list plainly goes on or ends, so
# that "PGAT-01, 10 tries" names one rule.
MORE = (
    r"(?:\.\.(?:{prefix}-)?(?:\d{{2}}[a-z]?|[a-z])\b|/\d{{2}}[a-z]?\b|,? ?(?:and )?\d{{2}}[a-z]?(?=[,.:;)]| and \d|$))"
)
FIRST = re.compile(rf"\b(?P<prefix>[A-Z]{{2,6}})-(?P<part>{PART})\b")
NAME = re.compile(r"(?:^|_)(?P<prefix>[a-z]{2,6})(?P<parts>(?:_(?:\d{2}[a-z]?|[a-z]\d)(?![a-z0-9]))+)")


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    level: str
    what: str
    decided: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    letter: str
    title: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """`unproven` are the rules that wait for a test; the list may only get shorter."""

    groups: tuple[Group, ...]
    unproven: frozenset[str] = frozenset()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(rule for group in self.groups for rule in group.rules)


@dataclass(frozen=True, slots=True, order=True)
class Proof:
    """A test, by its path from the project's root and its name."""

    path: str
    test: str

    @property
    def link(self) -> str:
        return f"[`{self.path}::{self.test}`](../{self.path})"


Proofs = Mapping[str, Sequence[Proof]]


def catalogue(text: str) -> Catalogue:
    told = tomllib.loads(text)
    groups = (Group(g["letter"], g["title"], tuple(Rule(**rule) for rule in g["rules"])) for g in told["group"])
    return Catalogue(tuple(groups), frozenset(told["unproven"]))


def ids_in(text: str) -> Iterator[str]:
    """Every id in a sentence; `PGAT-01..03`, `PGAT-01/02` and `PGAT-01, 02` name more than one."""
    at = 0
    while found := FIRST.search(text, at):
        prefix, last, at = found["prefix"], found["part"], found.end()
        yield f"{prefix}-{last}"
        more = re.compile(MORE.format(prefix=prefix))
        while tail := more.match(text, at):
            part = re.sub(rf"^[^0-9a-z]*(?:and )?(?:{prefix}-)?", "", tail[0])
            between = _range(last, part) if tail[0].startswith("..") else (part,)
            yield from (f"{prefix}-{one}" for one in between)
            last, at = part, tail.end()


def _range(first: str, last: str) -> Iterator[str]:
    """`01` to `03`, or `01a` to `01c`, also written `c`; without the first."""
    if first.isdigit() and last.isdigit():
        yield from (f"{number:02}" for number in range(int(first) + 1, int(last) + 1))
    elif first[:2].isdigit() and last[:2] in {first[:2], last}:
        yield from (f"{first[:2]}{chr(letter)}" for letter in range(ord(first[-1]) + 1, ord(last[-1]) + 1))


def ids_in_name(test: str) -> Iterator[str]:
    """`test_pvrf_01h_...` names PVRF-01h, `test_exec_c0_...` EXEC-C0."""
    for found in NAME.finditer(test.removeprefix("test")):
        for part in found["parts"].removeprefix("_").split("_"):
            yield f"{found['prefix'].upper()}-{part if part[0].isdigit() else part.upper()}"


def proofs_in(source: str, path: str) -> Iterator[tuple[str, Proof]]:
    """Each id with a test function that names it: in its name, its docstring or the ids of its parameters."""
    tree = ast.parse(source)
    known = dict(_assigned(tree.body))
    for test in _tests(tree.body):
        said = [ast.get_docstring(test) or "", *(label for d in test.decorator_list for label in _labels(d, known))]
        named = dict.fromkeys((*ids_in_name(test.name), *(one for text in said for one in ids_in(text))))
        yield from ((one, Proof(path, test.name)) for one in named)


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """The module's own names, with or without a type."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def _tests(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _tests(node.body)


def _labels(decorator: ast.expr, known: Mapping[str, ast.expr]) -> Iterator[str]:
    """The readable ids of a parametrize, also where they stand in a name of the module."""
    call = _resolved(decorator, known)
    if not (isinstance(call, ast.Call) and ast.unparse(call.func).endswith("parametrize")):
        return
    for keyword in call.keywords:
        if keyword.arg == "ids":
            yield from _strings(_resolved(keyword.value, known))
    for values in call.args[1:]:
        for node in ast.walk(_resolved(values, known)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("param"):
                yield from (s for k in node.keywords if k.arg == "id" for s in _strings(k.value))


def _resolved(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    return known.get(node.id, node) if isinstance(node, ast.Name) else node


def _strings(node: ast.expr) -> Iterator[str]:
    """A string, those of a list, the keys of a mapping."""
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.List(elts=several) | ast.Tuple(elts=several):
            yield from (text for one in several for text in _strings(one))
        case ast.Dict(keys=keys):
            yield from (text for key in keys if key is not None for text in _strings(key))
        case _:
            return


def proofs(tests: Path = TESTS) -> dict[str, list[Proof]]:
    found: dict[str, list[Proof]] = {}
    for file in sorted(tests.rglob("*_test.py")):
        path = f"tests/{file.relative_to(tests).as_posix()}"
        for one, proof in proofs_in(file.read_text(encoding="utf-8"), path):
            found.setdefault(one, []).append(proof)
    return found


def problems(told: Catalogue, found: Proofs, decisions: Iterable[str]) -> Iterator[str]:
    """What keeps the ledger from being whole, a sentence each; `decisions` are the numbers of the records there are."""
    times = Counter(rule.id for rule in told.rules)
    yield from (f"{one} stands {count} times in rules.toml." for one, count in times.items() if count > 1)
    yield from (f"{one} is listed as unproven and is no rule." for one in sorted(told.unproven - times.keys()))
    records = set(decisions)
    for rule in told.rules:
        if rule.level not in LEVELS:
            yield f"{rule.id} has the level {rule.level!r}, which is none of {', '.join(LEVELS)}."
        if rule.decided and rule.decided not in records:
            yield f"{rule.id} names decision {rule.decided}, and there is no such record."
        if rule.id in told.unproven and rule.id in found:
            yield f"{rule.id} has a proof: take it off the list `unproven`."
        if not _settled(rule, told, found):
            yield f"{rule.id} has no test that proves it ({LEVELS.get(rule.level, rule.level)}): {rule.what}."


def _settled(rule: Rule, told: Catalogue, found: Proofs) -> bool:
    """Proven, or on the list that only shrinks. A decision excuses what need not hold; what may hold needs neither."""
    excused = rule.level == "Y" or (rule.level != "M" and bool(rule.decided))
    return rule.id in found or rule.id in told.unproven or excused


def rows(group: Group, found: Proofs, files: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """A group's table; `files` are the decision records by their number."""
    for rule in group.rules:
        yield f'<a id="{rule.id.lower()}"></a>{rule.id}', LEVELS[rule.level], rule.what, _shown(rule, found, files)


def _shown(rule: Rule, found: Proofs, files: Mapping[str, str]) -> str:
    known = found.get(rule.id, ())
    links = [proof.link for proof in known[:SHOWN]]
    more = [f"+{len(known) - SHOWN}"] if len(known) > SHOWN else []
    why = [f"[decision {rule.decided}](decisions/{files[rule.decided]})"] if rule.decided else []
    missing = [] if known else ["not built" if rule.decided else "**missing**"]
    return "<br>".join((*links, *more, *missing, *why))


def read() -> Catalogue:
    return catalogue((DOCS / "rules.toml").read_text(encoding="utf-8"))


def decision_files() -> dict[str, str]:
    return {file.name[:4]: file.name for file in sorted((DOCS / "decisions").glob("[0-9][0-9][0-9][0-9]-*.md"))}
