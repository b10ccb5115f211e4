"""The nine headings a phase is shown under, and which internal step belongs to which."""

HEADINGS: tuple[str, ...] = (
    "PREFLIGHT", "TRIAGE", "RESEARCH", "PLAN", "PLAN-CHECK", "EXECUTE", "VERIFY", "JUDGE", "RATE",
)  # fmt: skip
EXECUTE = "EXECUTE"
_SHARED = {"mini_verify": EXECUTE, "fix": EXECUTE, "judge_divergence": "JUDGE"}


def heading_of(step: str) -> str | None:
    """The heading a step is shown under; None for debugging, which stands between VERIFY and the next VERIFY."""
    own = step.upper().replace("_", "-")
    return _SHARED.get(step) or (own if own in HEADINGS else None)


def number_of(heading: str) -> int:
    return HEADINGS.index(heading) + 1


def skipped_between(done: str | None, target: str) -> tuple[str, ...]:
    """The headings passed over on the way forward; None as `done` means from the very start."""
    first = number_of(done) if done else 0
    return HEADINGS[first : number_of(target) - 1]
