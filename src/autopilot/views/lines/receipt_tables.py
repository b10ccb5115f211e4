"""Receipts as tables to read: one line a phase, one phase in full, and what came of checking one."""

from collections.abc import Iterable, Sequence

from autopilot.domain.receipt import Recheck, Statement
from autopilot.policy.outcomes import SHORT
from autopilot.text.clean import clean


def listing(held: Sequence[tuple[Statement, bool]]) -> str:
    """Each statement with whether a signature lies beside it."""
    rows = [("Phase", "Result", "Commit", "Checks", "Score", "Anchor", "Signed", "Outcome")]
    for statement, signed in held:
        proof, counts = statement.proof, statement.proof.checks
        score = "-" if proof.score is None else f"{proof.score}"
        checks = f"{counts.passed}/{counts.total}"
        rows.append(
            (
                proof.phase, statement.predicate.result, proof.commit[:12], checks, score, proof.anchor, _yes(signed),
                SHORT[proof.outcome] if proof.outcome else "",
            )
        )  # fmt: skip
    return "\n".join(columns(rows)) if held else "No receipts yet: each phase gets one when it ends."


def page(statement: Statement, where: str, *, signed: bool) -> str:
    proof, told = statement.proof, statement.predicate
    head = [
        f"Phase {proof.phase}: {clean(proof.name)}",
        f"Result    {told.result} ({proof.verdict}, {proof.anchor}): {clean(proof.reason)}",
        f"Commit    {proof.commit}",
        f"Tree      {proof.tree or 'unknown'}",
        f"Run       {proof.run}, journal entry {proof.journal.entry} of {proof.journal.stream}: {proof.journal.sha256}",
        f"Spec      {proof.spec.path} {proof.spec.sha256}",
        f"Plan      {proof.plan_sha256 or 'none'}, {len(proof.frozen_tests)} frozen test files",
        *((f"Outcome   {clean(proof.reason)}",) if proof.outcome else ()),
        f"Score     {'none' if proof.score is None else proof.score} (threshold {proof.threshold}), as reviewers said",
        f"Checks    {proof.checks.passed} passed, {proof.checks.warned} warned, {proof.checks.failed} failed",
        f"Tools     {', '.join(f'{name} {version}' for name, version in proof.tools.items()) or 'unknown'}",
        f"Signed    {_yes(signed)}",
        *(f"Warning   {clean(warning)}" for warning in proof.warnings),
    ]
    rows = [("Step", "When", "Check", "Exit", "Result", "Tree", "Sandbox", "Command")]
    rows += [
        (
            run.step, run.when, run.name, "-" if run.exit_code is None else f"{run.exit_code}",
            "pass" if run.passed else "fail", run.tree[:8], run.sandbox.partition(" ")[0], clean(run.command, 60),
        )
        for run in proof.runs
    ]  # fmt: skip
    return "\n".join((*head, "", *columns(rows), "", f"From {where}"))


def comparison(done: Recheck) -> str:
    rows = [("Check", "When", "Then", "Now", "")]
    rows += [(r.name, r.when, r.then, r.now, "same" if r.same else "DIFFERS") for r in done.repeated]
    verdict = (
        f"Phase {done.phase}: {clean(done.finding)}. Its {len(done.repeated)} commands are those that roadmap, config "
        f"and plan ask for; they were run again here and agree ({done.result})."
        if done.same
        else f"Phase {done.phase}: the receipt is not reproduced."
    )
    return "\n".join(
        (
            *columns(rows),
            "",
            *(f"note: {clean(note)}" for note in done.notes),
            *(f"differs: {clean(what)}" for what in done.differences),
            f"signature: {clean(done.signature)}",
            verdict,
        )
    )


def columns(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    """The last column is as long as it is."""
    widths = [max(len(clean(row[n])) for row in rows) for n in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [f"{clean(cell):<{width}}" for cell, width in zip(row, widths, strict=False)]
        yield "  ".join((*cells, clean(row[-1]))).rstrip()


def _yes(holds: bool) -> str:  # noqa: FBT001 - a word for a condition
    return "yes" if holds else "no"
