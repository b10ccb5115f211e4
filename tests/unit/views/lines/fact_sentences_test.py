"""Sentences about commands say when nothing confined them."""

import pytest

from autopilot.views.lines.fact_sentences import counted
from support.records import ran


@pytest.mark.parametrize(
    ("sandboxes", "told"),
    [
        (("bubblewrap (kernel 6.1; withstood 8 attacks)", "landlock"), "2/2 checks passed"),
        (("bubblewrap", "none (unsandboxed)"), "2/2 checks passed (unsandboxed)"),
        (("none",), "1/1 checks passed (unsandboxed)"),
        ((), "nothing was checked"),
    ],
    ids=["all confined", "one was not", "from an old journal", "none"],
)
def test_one_unconfined_command_marks_them_all(sandboxes: tuple[str, ...], told: str) -> None:
    assert counted([ran("c", passed=True, sandbox=sandbox) for sandbox in sandboxes]) == told
