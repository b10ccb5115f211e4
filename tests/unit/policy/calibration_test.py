"""How verdicts move the threshold, over all histories: STAT-06a, AMB-12."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.people import HumanWord
from autopilot.journal.calibration_file import CalibrationFile
from autopilot.policy.deferral import Calibration, Row, adjusted, adjustment

WORDS: list[HumanWord] = ["pass", "fail", "issues_found"]


def rows(*words: HumanWord) -> tuple[Row, ...]:
    return tuple(Row(run="r", phase_id=str(n), human_verdict=word, timestamp=str(n)) for n, word in enumerate(words))


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (("pass", "pass"), 6.0, None),
        (("pass",) * 5, 6.0, 5.5),
        (("pass", "pass", "pass", "pass", "fail"), 6.0, 6.0),
        (("pass", "pass", "fail"), 6.0, 6.5),
        (("pass",) * 3, 3.0, 3.0),
        (("fail",) * 3, 8.0, 8.0),
    ],
    ids=["too few", "all pass", "exactly 80 %", "two of three", "never below 3", "never above 8"],
)
def test_stat_06a_the_bounds_of_each_rule(words: tuple[HumanWord, ...], old: float, new: float | None) -> None:
    found = adjustment(words, old)

    assert (found.new if found else None) == new


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.floats(0, 20))
def test_stat_06a_the_threshold_stays_between_three_and_eight_and_each_word_counts_once(
    words: list[HumanWord], threshold: float
) -> None:
    held, note = adjusted(Calibration(deferral_threshold=threshold, history=rows(*words)))

    assert 3 <= held.threshold <= 8
    assert adjusted(held) == (held, None)
    assert (note is not None) <= (len(words) >= 3)


def test_amb_12_a_damaged_file_is_kept_aside_and_teaches_nothing(tmp_path: Path) -> None:
    home = tmp_path
    (home / "calibration.json").write_text("{not json", encoding="utf-8")
    file = CalibrationFile(home)
    assert file.read() == Calibration()

    file.write(Calibration(deferral_threshold=5.5))

    assert file.read().threshold == 5.5
    assert (home / "calibration.json.damaged").read_text(encoding="utf-8") == "{not json"
