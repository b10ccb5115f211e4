"""What a phase's own papers say it lacks, for phases whose passes the journal does not know (GAPS-04..06)."""

import re
from collections.abc import Iterable, Iterator, Mapping

from autopilot.domain.rework import Deficiency, Source, sorted_by_shortfall
from autopilot.planning.roadmap import markdown
from autopilot.planning.roadmap.markdown import cells, plain

SCORECARD, JUDGE, VERIFICATION, DIAGNOSTIC = "SCORECARD.md", "JUDGE-REPORT.md", "VERIFICATION.md", "confidence.md"
PAPERS = (SCORECARD, JUDGE, VERIFICATION)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?P<text>\S.*)")
_DIVIDER = re.compile(r"[\s|:-]*-[\s|:-]*$")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w*(?::\d+)?")
_WORTH = re.compile(r"\((?P<impact>[^()]*\+[\d.]+),\s*resolves (?P<criterion>.+)\)\s*$")
# AMB-09: both spellings are read.
_PATH = re.compile(r"(?im)^#+\s*(path to [\d.]+/10)\s*$")
_NOTHING = {"none", "none named", "nothing left to name", "n/a", "-"}


def found(papers: Mapping[str, str], folder: str, target: float, issues: Iterable[str] = ()) -> tuple[Deficiency, ...]:
    """
    By shortfall. `papers` are by file name, `issues` what the run noted of the phase.

    Issues and the reviewers' reports are asked only where there is no scorecard.
    """
    scored = tuple(_scorecard(papers.get(SCORECARD, ""), folder, target))
    noted = tuple(_diagnostic(papers.get(DIAGNOSTIC, ""), folder, target))
    if not scored:
        noted += (*_verification(papers.get(VERIFICATION, ""), folder, target), *_judge(papers, folder, target))
        noted += tuple(_issue(text, folder, target) for text in issues)
    seen, kept = {one.deficiency.casefold() for one in scored}, list(scored)
    covered = {one.criterion.casefold() for one in scored}
    for one in noted:
        if one.deficiency.casefold() not in seen and one.criterion.casefold() not in covered:
            seen.add(one.deficiency.casefold())
            kept.append(one)
    return sorted_by_shortfall(tuple(kept))


def _issue(text: str, folder: str, target: float) -> Deficiency:
    return Deficiency(
        criterion="an issue the run noted",
        target_score=target,
        deficiency=plain(text),
        target_file=_file(text, folder),
        expected_impact="low",
        source="verification",
    )


def has_scorecard(papers: Mapping[str, str]) -> bool:
    return any(True for _ in _rows(papers.get(SCORECARD, "")))


def _scorecard(text: str, folder: str, target: float) -> Iterator[Deficiency]:
    rows = [(row, float(number[0])) for row in _rows(text) if (number := _NUMBER.match(row["score"]))]
    for row, score in rows:
        if score < target:
            why = row.get("justification") or f"met only in part ({score:.1f}/10)"
            words = " ".join(row.values())
            yield Deficiency(
                criterion=row["criterion"],
                current_score=score,
                target_score=target,
                deficiency=why,
                target_file=_file(words, folder),
                expected_impact=f"+{(target - score) / len(rows):.2f}",
            )


def _rows(text: str) -> Iterator[dict[str, str]]:
    """The rows of the first table with a criterion and a score, by the names of its columns."""
    names: list[str] = []
    for line in markdown.read(text).lines:
        if "|" not in line:
            if names:
                return
            continue
        row = [plain(cell) for cell in cells(line)]
        if not names:
            head = [cell.casefold() for cell in row]
            names = head if {"criterion", "score"} <= set(head) else []
        elif not _DIVIDER.match(line) and len(row) >= len(names):
            yield dict(zip(names, row, strict=False))


def _diagnostic(text: str, folder: str, target: float) -> Iterator[Deficiency]:
    for item in (item for heading in _PATH.findall(text) for item in _items(text, heading.casefold())):
        worth = _WORTH.search(item)
        yield Deficiency(
            criterion=worth["criterion"] if worth else "the confidence diagnostic",
            target_score=target,
            deficiency=_WORTH.sub("", item).strip(),
            target_file=_file(item, folder),
            source="diagnostic",
        )
    yield from _told(text, "judge concerns", ("a concern of the judge", "medium", "diagnostic"), folder, target)


def _judge(papers: Mapping[str, str], folder: str, target: float) -> Iterator[Deficiency]:
    text = papers.get(JUDGE, "")
    missed = "what the verifier missed"
    yield from _told(text, "missed by the verifier", (missed, "high", "judge_report"), folder, target)
    yield from _told(text, "concerns", ("a concern of the judge", "medium", "judge_report"), folder, target)


def _verification(text: str, folder: str, target: float) -> Iterator[Deficiency]:
    for item in _items(text, "acceptance criteria verification"):
        criterion, _, said = item.partition(": ")
        if re.match(r"(?i)(fail|not |partial|unverif)", said):
            yield Deficiency(
                criterion=criterion,
                target_score=target,
                deficiency=item,
                target_file=_file(item, folder),
                expected_impact="high",
                source="verification",
            )
    yield from _told(text, "failures", ("a failure the verifier named", "high", "verification"), folder, target)


def _told(text: str, heading: str, about: tuple[str, str, Source], folder: str, target: float) -> Iterator[Deficiency]:
    criterion, impact, source = about
    for item in _items(text, heading):
        yield Deficiency(
            criterion=criterion,
            target_score=target,
            deficiency=item,
            target_file=_file(item, folder),
            expected_impact=impact,
            source=source,
        )


def _items(text: str, name: str) -> Iterator[str]:
    """The points below every heading of that name."""
    document = markdown.read(text)
    ends = [heading.line for heading in document.headings[1:]] + [len(document.lines) + 1]
    for heading, end in zip(document.headings, ends, strict=False):
        if plain(heading.text).casefold() == name:
            points = (_ITEM.match(line) for line in document.lines[heading.line : end - 1])
            told = (plain(point["text"]) for point in points if point)
            yield from (item for item in told if item.casefold() not in _NOTHING)


def _file(words: str, folder: str) -> str:
    """The file the words name, else the plan."""
    named = _FILE.search(words)
    return named[0] if named else f"{folder}/PLAN.md"
