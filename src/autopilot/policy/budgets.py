"""How much of what an agent says is let in: lines a response may have, and lines of it that are read (BUD-01). Pure."""

from autopilot.domain.value import Value


class Budget(Value, frozen=True, kw_only=True):
    """`response`: lines an answer may have before it is cut; `summary`: lines that are read where there is no JSON."""

    response: int
    summary: int


BUDGETS: dict[str, Budget] = {
    "preflight":        Budget(response=15,  summary=5),
    "triage":           Budget(response=30,  summary=5),
    "research":         Budget(response=200, summary=10),
    "plan":             Budget(response=300, summary=10),
    "plan_check":       Budget(response=50,  summary=5),
    "execute":          Budget(response=500, summary=15),
    "mini_verify":      Budget(response=30,  summary=5),
    "verify":           Budget(response=200, summary=10),
    "judge":            Budget(response=100, summary=5),
    "judge_divergence": Budget(response=100, summary=5),
    "rate":             Budget(response=150, summary=5),
    "debug":            Budget(response=200, summary=10),
}  # fmt: skip
# Roles that no rule names answer briefly: as much as a debugger is enough for each.
OTHERS = BUDGETS["debug"]


def budget_of(role: str) -> Budget:
    return BUDGETS.get(role, OTHERS)


class Ingested(Value, frozen=True, kw_only=True):
    """What of an answer's text is read, and what is to be told about it."""

    text: str
    issues: tuple[str, ...] = ()


def ingest(role: str, step: str, text: str, printed: int, *, answered: bool) -> Ingested:
    """
    BUD-02: the text as it is, or what is left of one over its budget: nothing beside its JSON, or its last lines.

    `printed` counts the lines of the whole response, of which `text` may be only the end.
    """
    budget, lines = budget_of(role), max(printed, len(text.splitlines()))
    if lines <= budget.response:
        return Ingested(text=text)
    warning = f"Agent {step} exceeded budget ({lines} > {budget.response} lines). Truncating to JSON/SUMMARY only."
    return Ingested(text="" if answered else summary(role, text), issues=(warning,))


def summary(role: str, text: str) -> str:
    """The last lines of a text, as many as the role's budget lets in."""
    return "\n".join(text.splitlines()[-budget_of(role).summary :])
