"""`autopilot report`: what is asked of the program, and what is printed."""

import json
from typing import Any

import pytest

from autopilot.cli import parser as arguments
from autopilot.cli.verbs import report
from autopilot.domain.errors import UsageInvalid

RUN = "run-2026-01-01-120000"


class Teller:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, ...]] = []

    def reports(self, folder: str) -> "Teller":
        return self

    def text(self, run: str | None) -> str:
        self.asked.append(("text", run))
        return "told"

    def stranger(self) -> str:
        return ""

    def data(self, run: str | None) -> dict[str, Any]:
        self.asked.append(("data", run))
        return {"run": run}

    def page(self, run: str | None, file: str | None) -> str:
        self.asked.append(("page", run, file))
        return file or ".autopilot/report.html"


@pytest.mark.parametrize(
    ("words", "asked", "printed"),
    [
        ([], ("text", None), "told"),
        ([RUN], ("text", RUN), "told"),
        (["--html"], ("page", None, None), "Written: .autopilot/report.html"),
        (["--html", "a.html"], ("page", None, "a.html"), "Written: a.html"),
        (["--html", "a.html", RUN], ("page", RUN, "a.html"), "Written: a.html"),
        ([RUN, "--html"], ("page", RUN, None), "Written: .autopilot/report.html"),
        (["--html", RUN], ("page", RUN, None), "Written: .autopilot/report.html"),
        (["--html", "run-1.html"], ("page", None, "run-1.html"), "Written: run-1.html"),
        (["--json", RUN], ("data", RUN), json.dumps({"run": RUN}, separators=(",", ":"))),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_words_become_a_report(
    words: list[str], asked: tuple[str | None, ...], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = Teller()

    assert report.perform(arguments.parse("report", words), "/p", app) == 0
    assert (app.asked, capsys.readouterr().out) == ([asked], f"{printed}\n")


@pytest.mark.parametrize("words", [["--html", "--json"], [RUN, RUN], ["--pdf"]], ids=" ".join)
def test_what_cannot_be_meant_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageInvalid):
        arguments.parse("report", words)
