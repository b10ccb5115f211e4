"""One phase in full: its scorecard, steps, what reviewers said, every fact and every diff, folded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from autopilot.domain.results import Compared, Debugged, Executed, Fixed, Judged, MiniVerified, Verified
from autopilot.history.record import PhaseRecord
from autopilot.text.times import short
from autopilot.views.lines import fact_sentences as facts
from autopilot.views.report.charts import meter
from autopilot.views.report.diffs import Made, changes_of, diff_markup
from autopilot.views.report.fact_list import Fact, facts_of
from autopilot.views.report.gantt import INTERRUPTED, Bar
from autopilot.views.report.markup import BLOCK, LINE, NAME, NOTHING, Pen, el, folded, framed, joined, row, words
from autopilot.views.report.phase_rows import PhaseSeen
from autopilot.views.report.scorecards import Row, scorecard
from autopilot.views.report.size_limits import Purse, affordable, chosen, left_out
from autopilot.views.report.source import Told

LEAST_OUTPUT = 400
_AROUND_FACT = 700
_COMMAND = 160


@dataclass(frozen=True, slots=True)
class Details:
    """Draws phases one after the other; `bars` are their steps, `merges` what was run where their work met other."""

    told: Told
    pen: Pen
    bars: Mapping[str, tuple[Bar, ...]]
    merges: Mapping[str, tuple[Fact, ...]]

    def phase(self, seen: PhaseSeen, anchor: str, purse: Purse) -> Markup:
        """As much of the phase as there is room for; its heading is always there."""
        records = self.told.passes.get(seen.id, ())
        parts = self._parts(seen, records, purse)
        head = joined(
            (
                el("h3", self.pen.line(f"Phase {seen.id}: {seen.name}", NAME)),
                badge(seen),
                words("" if seen.score is None else f"{seen.score:.1f} of 10"),
            ),
            " ",
        )
        return folded(head, *parts, id=anchor, class_="phase")

    def ending(self, record: PhaseRecord, purse: Purse) -> Markup:
        """The steps behind the last phase."""
        body = (self._steps((record,), purse), self._facts(facts_of(record), purse), self._diffs((record,), purse))
        return folded(
            el("h3", words("End of the run: integration, audit, version")), *body, id="ending", class_="phase"
        )

    def _parts(self, seen: PhaseSeen, records: tuple[PhaseRecord, ...], purse: Purse) -> Iterator[Markup]:
        intro = self._intro(seen)
        yield intro if purse.pays(intro) else NOTHING
        if not records:
            return
        for draw in (self._scores, self._steps, self._words):
            share = purse.share(5)
            yield draw(records, share)
            purse.back(share)
        share = Purse(purse.left * 3 // 5)
        purse.left -= share.left
        runs = (*(fact for record in records for fact in facts_of(record)), *self.merges.get(seen.id, ()))
        yield self._facts(iter(runs), share)
        purse.back(share)
        yield self._diffs(records, purse)

    def _intro(self, seen: PhaseSeen) -> Markup:
        pairs = (
            ("Goal", seen.goal),
            ("Ended", f"{seen.word}: {seen.reason}" if seen.reason else seen.word),
            ("Evidence", "; ".join(seen.evidence)),
            ("Commit", seen.commit),
            ("Landing", seen.landed),
            *(("Note", remark) for remark in seen.remarks),
        )
        rows = (joined((el("dt", words(name)), el("dd", self.pen.line(text)))) for name, text in pairs if text)
        return el("dl", *rows)

    def _scores(self, records: tuple[PhaseRecord, ...], purse: Purse) -> Markup:
        card = scorecard(self.told, records[0].phase.id)
        if card is None:
            return NOTHING
        rows, rest = affordable(card.rows, lambda one: self._score(one, card.threshold), purse)
        history = ", ".join(f"{score:.1f}" for score in card.passes)
        caption = words(
            f"Scores per criterion: {card.score:.1f} in all, {card.threshold:.1f} needed. Passes: {history}"
        )
        return joined((framed(caption, ("Criterion", "Score", "", "Why"), rows), left_out(rest, "criteria")))

    def _score(self, one: Row, threshold: float) -> Markup:
        said = "" if one.said is None else f" (the rater said {one.said:.1f})"
        why = "; ".join(part for part in (one.why, one.evidence, one.command) if part)
        score = words(f"{one.score:.1f}{said}")
        return row(self.pen.line(one.criterion, NAME), score, meter(one.score, one.most, threshold), self.pen.line(why))

    def _steps(self, records: tuple[PhaseRecord, ...], purse: Purse) -> Markup:
        bars = self.bars.get(records[0].phase.id, ())
        claims = iter([claim for record in records for claim in _claims(record)])
        rows, rest = affordable(bars, lambda bar: self._step(bar, claims), purse)
        if not rows:
            return left_out(rest, "steps")
        head = ("Step", "Pass", "Task", "Took", "The agent claimed", "Then", "Because")
        shown = framed(f"{len(bars):,} steps", head, rows)
        return folded(words(f"Steps ({len(bars):,})"), shown, left_out(rest, "steps"))

    def _step(self, bar: Bar, claims: Iterator[tuple[str, str]]) -> Markup:
        task, claim = ("", "") if bar.how == INTERRUPTED else next(claims, ("", ""))
        cells = (
            words(f"{bar.number + 1}"),
            self.pen.line(bar.task or task, 40),
            words(short(bar.end - bar.begin)),
            self.pen.line(claim, 60),
            words(bar.how),
            self.pen.line(bar.because),
        )
        return row(self.pen.line(bar.step, 40), *cells)

    def _words(self, records: tuple[PhaseRecord, ...], purse: Purse) -> Markup:
        said = [line for record in records for line in reviewers(record)]
        items, rest = affordable(said, lambda line: el("li", self.pen.line(line)), purse)
        if not items:
            return left_out(rest, "remarks of reviewers")
        shown = el("ul", *items)
        return folded(words(f"What reviewers said ({len(said):,})"), shown, left_out(rest, "remarks of reviewers"))

    def _facts(self, runs: Iterator[Fact], purse: Purse) -> Markup:
        """Where not all fit: first what does not hold though it should, then what the phase was verified by."""
        every = tuple(runs)
        if not every:
            return el("p", words("No command was run."))
        output = min(max(purse.left // 8, LEAST_OUTPUT), BLOCK)
        costs = [_AROUND_FACT + 2 * len(fact.run.command[:LINE]) + min(len(fact.run.output), output) for fact in every]
        ranks = [0 if fact.telling else 1 if fact.step == "verify" else 2 for fact in every]
        picked = chosen(costs, ranks, purse.left)
        drawn = [self._fact(every[place], output) for place in sorted(picked)]
        kept = [markup for markup in drawn if purse.pays(markup)]
        good = sum(fact.run.passed for fact in every)
        title = words(f"Facts: {len(every):,} commands, {good:,} of them hold")
        return folded(title, *kept, left_out(len(every) - len(kept), "commands"))

    def _fact(self, fact: Fact, most: int) -> Markup:
        run = fact.run
        where = " ".join(part for part in (fact.step, fact.task, fact.when) if part)
        head = joined(
            (
                el("b", words("holds" if run.passed else "does not hold yet" if fact.early else "does not hold")),
                self.pen.line(f"{run.code}, {run.seconds:.1f} s, pass {fact.number + 1} {where}", NAME),
                el("code", self.pen.line(run.command, _COMMAND)),
            ),
            " ",
        )
        tests = f"{run.tests}" if run.tests else ""
        about = "; ".join(part for part in (run.what, f"sandbox {run.sandbox}", tests) if part)
        body = [el("p", self.pen.line(about), words("; tree "), self.pen.short(run.tree))]
        if len(run.command) > _COMMAND:
            body.append(el("pre", self.pen.block(run.command, LINE)))
        printed = self.pen.block(run.output, most)
        body.append(el("pre", printed, tabindex=0) if printed else el("p", words("It printed nothing.")))
        return folded(head, *body, class_=f"fact {'good' if run.passed else 'bad' if fact.telling else 'open'}")

    def _diffs(self, records: tuple[PhaseRecord, ...], purse: Purse) -> Markup:
        made = [one for record in records for one in changes_of(record)]
        if not made:
            return NOTHING
        most = min(max(purse.left // max(len(made), 1) // 2, LEAST_OUTPUT), 4 * BLOCK)
        drawn, rest = affordable(made, lambda one: self._diff(one, most), purse)
        return folded(words(f"Changes ({len(made):,})"), *drawn, left_out(rest, "changes"))

    def _diff(self, one: Made, most: int) -> Markup:
        change, text = one.change, self.told.diffs.get(one.key)
        counts = words(f"{len(change.files)} files, +{change.added} -{change.removed},")
        head = joined((self.pen.line(f"{one.step} {one.task}", NAME), counts, self.pen.short(change.commit)), " ")
        names = ", ".join(f"{file.status} {file.path}" for file in change.files[:40])
        more = f" and {len(change.files) - 40} more" if len(change.files) > 40 else ""  # noqa: PLR2004 - as above
        shown = (
            diff_markup(text, self.pen, most) if text else el("p", words("Not shown: too large, or no longer kept."))
        )
        return folded(head, el("p", self.pen.line(f"{names}{more}", 4 * LINE)), shown)


def badge(seen: PhaseSeen) -> Markup:
    return el("span", words(seen.word), class_=f"badge s-{seen.status}")


def _claims(record: PhaseRecord) -> Iterator[tuple[str, str]]:
    """For each finished step its task and what the agent said of its own work."""
    for done in record.own_finished:
        match done.result:
            case Executed(work=work, claim=claim):
                yield work.task, facts.said(claim)
            case Fixed(work=work, claim=fix) | Debugged(work=work, claim=fix):
                yield work.task, facts.said(fix)
            case MiniVerified(task=task):
                yield task, ""
            case _:
                yield "", ""


def reviewers(record: PhaseRecord) -> Iterator[str]:
    """What verifier and judge had to say, in their order."""
    for done in record.own_finished:
        match done.result:
            case MiniVerified(task=task, opinion=opinion) if opinion.concerns or not opinion.passed:
                word = "accepts" if opinion.passed else "does not accept"
                yield f"reviewer {word} task {task}: {'; '.join(opinion.concerns) or 'no reason given'}"
            case Verified(opinion=seen) if seen is not None:
                word = "agrees" if seen.passed else "disagrees"
                yield f"verifier {word}: {'; '.join(seen.failures) or 'nothing to add'}"
            case Judged(opinion=judge):
                yield f"judge says {judge.recommendation}: {'; '.join(judge.concerns) or 'no concerns'}"
            case Compared() as compared:
                said = compared.opinion.word or "nothing"
                concerns = "; ".join(compared.concerns) or "no concerns"
                yield f"judge, shown the verifier's report, says {said}: {concerns}"
