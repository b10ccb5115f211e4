"""The sections of the page that are about the whole run."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from autopilot.domain.settings import carried
from autopilot.state.build_state import run_status
from autopilot.text.times import moment, short
from autopilot.views.lines import trend_lines as trends
from autopilot.views.report import charts
from autopilot.views.report.dependency_chart import graph_of
from autopilot.views.report.fact_list import Noticed, noticed
from autopilot.views.report.gantt import KEY, Timeline
from autopilot.views.report.markup import LINE, NAME, Pen, el, folded, joined, scrolled, table, words
from autopilot.views.report.phase_details import badge
from autopilot.views.report.phase_rows import STATUSES, PhaseSeen, of_run
from autopilot.views.report.size_limits import Purse, affordable, left_out
from autopilot.views.report.source import ReceiptSeen, Told
from autopilot.views.report.spending import Share, Spending, agent_name, dollars_told, tokens_told
from autopilot.views.report.verdict_rows import Braked, Ruling, brakes, rulings, used

T = TypeVar("T")
DRAWN, LEARNT, HEADLINED = 600, 40_000, 3
_SEVERITY = {"blocker": "fail", "warning": "warn", "info": "idle"}


@dataclass(frozen=True, slots=True)
class Sections:
    """Each is drawn within its room; `anchors` are where a phase's details are found."""

    told: Told
    pen: Pen
    phases: Sequence[PhaseSeen]
    anchors: Mapping[str, str]
    times: Timeline
    spending: Spending

    def summary(self) -> Markup:
        """What passed and by what evidence, what did not and why."""
        start, entries = self.told.run.start, self.told.run.entries
        targets = [seen for seen in self.phases if seen.id in start.targets]
        good = sum(seen.status == "completed" for seen in targets)
        end = self.told.run.end
        pairs = [
            ("Run", start.run),
            ("Status", run_status(self.told.run)),
            ("Reason", getattr(end, "reason", "") or "it is not over"),
            ("Started", moment(entries[0].at)),
            ("Last entry", moment(entries[-1].at)),
            ("Specification", f"{self.told.run.spec.path}, sha256 {self.told.run.spec.sha256}"),
            ("Agent", agent_name(start.settings.agent)),
            ("Your files that agents had", carried(start.settings)),
            ("Journal", f"entry {entries[-1].number}, hash {entries[-1].hash}"),
        ]
        facts = (joined((el("dt", words(name)), el("dd", self.pen.line(text)))) for name, text in pairs if text)
        headline = f"{good} of {len(targets)} phases passed{self._unshown(targets)}"
        return joined(
            (
                el("p", words(headline), class_="headline"),
                self._counts(targets),
                el("dl", *facts),
                self._grouped("What passed, and by what evidence", targets, "passed"),
                self._grouped("What a person should look at", targets, "short"),
                self._grouped("What did not pass", targets, "other"),
            )
        )

    def _unshown(self, targets: Sequence[PhaseSeen]) -> str:
        """What those that passed do not show."""
        told = [f"phase {seen.id}: {'; '.join(seen.caveats)}" for seen in targets if seen.caveats]
        more = f"; and {len(told) - HEADLINED} more phases" if len(told) > HEADLINED else ""
        return f"; {'; '.join(told[:HEADLINED])}{more}" if told else ""

    def _counts(self, targets: Sequence[PhaseSeen]) -> Markup:
        found = ((status, sum(seen.status == status for seen in targets)) for status in STATUSES)
        badges = (
            el("span", words(f"{count} {STATUSES[status]}"), class_=f"badge s-{status}")
            for status, count in found
            if count
        )
        return el("p", joined(badges, " "))

    def _grouped(self, title: str, targets: Sequence[PhaseSeen], kind: str) -> Markup:
        kinds = {"completed": "passed", "below_bar": "short", "already_satisfied": "short"}
        group = [seen for seen in targets if kinds.get(seen.status, "other") == kind]
        items, rest = affordable(group, self._item, Purse(120_000))
        if not items:
            return Markup()
        return joined((el("h3", words(title)), el("ul", *items), left_out(rest, "phases")))

    def _item(self, seen: PhaseSeen) -> Markup:
        word = "" if seen.status in {"below_bar", "already_satisfied"} else seen.word
        reasons = seen.evidence if seen.status == "completed" else (word, seen.reason, *seen.evidence)
        text = "; ".join(part for part in (*reasons, *seen.remarks) if part)
        return el("li", self._link(seen), words(": "), self.pen.line(text or "nothing was checked"))

    def _link(self, seen: PhaseSeen) -> Markup:
        return el("a", self.pen.line(f"{seen.id} {seen.name}", 60), href=f"#{self.anchors[seen.id]}")

    def phase_list(self) -> Markup:
        """The list that can be filtered and sorted; without scripts it is a plain table."""
        rows, rest = affordable(self.phases, self._phase_row, Purse(1_000_000))
        titles = (("Phase", "number"), ("Name", "text"), ("Status", "text"), ("Score", "number"), ("Took", "number"))
        head = [
            el("th", el("button", words(title), type="button", data_kind=kind), scope="col", aria_sort="none")
            for title, kind in titles
        ]
        head += [el("th", words(title), scope="col") for title in ("Waits for", "Tasks", "Evidence")]
        options = [el("option", words("every status"), value="")]
        present = {seen.status for seen in self.phases}
        options += [el("option", words(word), value=key) for key, word in STATUSES.items() if key in present]
        controls = el(
            "div",
            el("label", words("Filter "), el("input", type="search", id="filter", autocomplete="off")),
            el("label", words("Status "), el("select", *options, id="status")),
            el("span", words(f"{len(self.phases)} phases"), id="count", role="status"),
            class_="controls",
            hidden=True,
        )
        caption = el("caption", words("Every phase of the roadmap, in its order"))
        body = el("table", caption, el("thead", el("tr", *head)), el("tbody", *rows), id="phases")
        region = scrolled("Phases", body)
        return joined((controls, region, left_out(rest, "phases")))

    def _phase_row(self, seen: PhaseSeen) -> Markup:
        score = "-" if seen.score is None else f"{seen.score:.1f}"
        took = "-" if seen.seconds is None else short(seen.seconds)
        needs = ", ".join(seen.depends_on)
        return el(
            "tr",
            el("td", self.pen.line(seen.id, 20), data_value=sort_key(seen.id)),
            el("th", el("a", self.pen.line(seen.name, NAME), href=f"#{self.anchors[seen.id]}"), scope="row"),
            el("td", badge(seen)),
            el("td", words(score), data_value=-1 if seen.score is None else seen.score),
            el("td", words(took), data_value=-1 if seen.seconds is None else round(seen.seconds, 1)),
            el("td", self.pen.line(needs, 60)),
            el("td", self.pen.line(seen.tasks, 20)),
            el("td", self.pen.line("; ".join((*seen.evidence, *seen.remarks)), 160)),
            data_status=seen.status,
        )

    def roadmap(self) -> Markup:
        drawn = self.phases[:DRAWN]
        picture = charts.roadmap(graph_of(drawn), self.pen, self.anchors)
        box = scrolled("Roadmap", picture)
        return joined((box, left_out(len(self.phases) - len(drawn), "phases")))

    def timeline(self) -> Markup:
        shown = self.times
        names = {seen.id: seen.name for seen in self.phases}
        picture = charts.gantt(shown, self.pen, names)
        pauses, rest = affordable(
            shown.pauses,
            lambda p: el("li", self.pen.line(f"nobody worked for {short(p.end - p.begin)}: {p.why}")),
            Purse(20_000),
        )
        box = scrolled("Timeline", picture)
        key = joined(el("span", words(word), class_=f"key b-{word.replace(' ', '-')}") for word in KEY)
        return joined((el("p", key), box, el("ul", *pauses), left_out(rest, "pauses")))

    def findings(self) -> Markup:
        every = noticed(self.told)
        cheats = [one for one in every if one.tampering]
        others = [one for one in every if not one.tampering]
        none = el("p", words("Nothing that looks like tampering was found."))
        head = ("Rule", "Weight", "Phase", "Where", "What")
        first = self._rows("Findings of tampering", head, cheats, self._finding) if cheats else none
        return joined((first, self._rows("Other findings", head, others, self._finding) if others else Markup()))

    def _finding(self, one: Noticed) -> tuple[Markup, ...]:
        finding = one.finding
        times = f" ({one.times} times)" if one.times > 1 else ""
        return (
            self.pen.line(finding.rule, 60),
            el("span", words(finding.severity), class_=f"badge w-{_SEVERITY[finding.severity]}"),
            self.pen.line(f"{of_run(one.phase)} {one.step} {one.task}", 80),
            el("code", self.pen.line(finding.where, 160)),
            self.pen.line(f"{finding.what}{times} {finding.why}"),
        )

    def spend(self) -> Markup:
        spending = self.spending
        head = ("", "Calls", "Tokens", "Dollars", "Time of calls")
        groups = (("By role", spending.roles), ("By model", spending.models), ("By task", spending.tasks))
        wide = (*head, "Tokens estimated before")
        total = self._rows("In all", wide, (spending.whole,), self._estimated)
        phases = self._rows("By phase", wide, spending.phases, self._estimated)
        shown = ((title, rows) for title, rows in groups if rows)
        return joined((total, phases, *(self._rows(title, head, rows, self._share) for title, rows in shown)))

    def _estimated(self, share: Share) -> tuple[Markup, ...]:
        estimate = "-" if share.estimated is None else f"{share.estimated:,}"
        return (*self._share(share), words(estimate))

    def _share(self, share: Share) -> tuple[Markup, ...]:
        told = share.spent
        cells = (f"{told.calls:,}", tokens_told(told), dollars_told(told), short(share.seconds))
        return (self.pen.line(share.name, NAME), *(words(cell) for cell in cells))

    def brakes(self) -> Markup:
        rows = [
            (words(one.what), words(one.used), words(one.cap))
            for one in used(self.told.run, self.spending.whole, self.times)
        ]
        caps = table("Used of what the run may use", ("What", "Used", "Cap"), rows)
        head = ("When", "What", "Brake", "Why", "To go on")
        return joined((caps, self._rows("Stops, ends and new starts", head, brakes(self.told), self._brake)))

    def _brake(self, one: Braked) -> tuple[Markup, ...]:
        cells = (one.what, one.brake, one.because, one.do)
        return (words(moment(one.at)), *(self.pen.line(cell, LINE // 2) for cell in cells))

    def verdicts(self) -> Markup:
        head = ("When", "Phase", "By", "Verdict", "Score", "Because")
        return self._rows("Every verdict on a phase", head, rulings(self.told), self._ruling)

    def _ruling(self, one: Ruling) -> tuple[Markup, ...]:
        return (
            words(moment(one.at)),
            self.pen.line(one.phase, 20),
            self.pen.line(one.who, 40),
            self.pen.line(one.what, NAME),
            words("" if one.score is None else f"{one.score:.1f}"),
            self.pen.line(one.because),
        )

    def trend(self) -> Markup:
        runs = self.told.runs[-trends.MOST_BARS :]
        found = trends.trend(self.told.runs)
        if found is None:
            return el("p", words(trends.FIRST if runs else "No run has come to its end yet."))
        tokens = charts.of_runs(runs, "total_tokens_used", 0.001)
        top = max((value or 0.0 for _, value in tokens), default=0.0)
        pictures = (
            ("Success rate in %", charts.of_runs(runs, "success_rate", 100), 100.0),
            ("Average score", charts.of_runs(runs, "avg_alignment_score"), 10.0),
            ("Tokens in thousands", tokens, top),
        )
        drawn = (
            el("figure", charts.columns(title, self.pen, values, best), el("figcaption", words(title)))
            for title, values, best in pictures
        )
        rows = (self._run_row(run) for run in runs)
        numbers = table("Runs, oldest first", ("Run", "Success", "Score", "Tokens", "Minutes"), rows)
        recurring = ", ".join(found["recurring_failures"]) or "none"
        told = el("p", self.pen.line(f"{trends.warning(self.told.runs)} Recurring failures: {recurring}."))
        return joined((told, el("div", *drawn, class_="figures"), numbers))

    def _run_row(self, run: trends.Run) -> tuple[Markup, ...]:
        keys = ("success_rate", "avg_alignment_score", "total_tokens_used", "total_duration_minutes")
        cells = (run.get(key) for key in keys)
        shown = (words(f"{cell:,g}" if isinstance(cell, int | float) else "unknown") for cell in cells)
        return (self.pen.line(str(run.get("run_id", "")), 60), *shown)

    def learnings(self) -> Markup:
        if not self.told.learnings.strip():
            return el("p", words("This run has no learnings."))
        return folded(words("What this run learnt"), el("pre", self.pen.block(self.told.learnings, LEARNT), tabindex=0))

    def receipts(self) -> Markup:
        how = el(
            "p",
            words("A receipt names every command that decided a phase. "),
            el("code", words("autopilot receipt check N")),
            words(
                " runs them again from a clean checkout, also in a fresh clone and without this page or the journal."
            ),
        )
        head = ("Phase", "Result", "Checks", "Commit", "Signed", "File")
        if not self.told.receipts:
            return joined((how, el("p", words("There are no receipts yet: each phase gets one when it ends."))))
        return joined((how, self._rows("Receipts", head, self.told.receipts, self._receipt)))

    def _receipt(self, seen: ReceiptSeen) -> tuple[Markup, ...]:
        other = "" if seen.run in {"", self.told.run.start.run} else f" (of {seen.run})"
        return (
            self.pen.line(seen.phase, 20),
            self.pen.line(seen.trouble or f"{seen.result}{other}", NAME),
            words(f"{seen.passed}/{seen.total}"),
            self.pen.short(seen.commit),
            words("yes" if seen.signed else "no"),
            el("code", self.pen.line(seen.path, 160)),
        )

    def _rows(
        self, title: str, head: Iterable[str], things: Iterable[T], cells: Callable[[T], tuple[Markup, ...]]
    ) -> Markup:
        """A table of as many of the things as there is room for."""
        every = tuple(things)
        rows: list[tuple[Markup, ...]] = []
        purse = Purse(150_000)
        for thing in every:
            row = cells(thing)
            if not purse.pays(joined(row)):
                break
            rows.append(row)
        return joined((table(title, head, rows), left_out(len(every) - len(rows), "rows")))


def sort_key(phase: str) -> str:
    """What a phase is sorted by: 2.10 behind 2.9."""
    found = re.fullmatch(r"(\d{1,9})(?:\.(\d{1,6}))?", phase)
    return f"{int(found[1])}.{int(found[2] or 0):06}" if found else "0"
