"""A run's limits and its bar: what the config says, and over it what the command line says."""

import pytest

from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes, RunCaps
from autopilot.planning.config import read_config as config
from autopilot.planning.config.run_settings import limits_of, threshold


def test_every_brake_can_be_set_in_the_config() -> None:
    read = config.read('{"limits": {"no_progress": 9, "retries": 99, "tokens_per_phase": 7}}', "config.json")
    limits = limits_of(read.limits, RunCaps())

    assert (limits.no_progress, limits.retries, limits.tokens_per_phase, limits.same_error) == (9, 99, 7, 5)


def test_a_run_s_cap_in_the_config_lets_the_phase_s_share_grow_unless_that_is_set_too() -> None:
    shared = limits_of({"usd_per_run": 500}, RunCaps())
    fixed = limits_of({"usd_per_run": 500, "usd_per_phase": 3}, RunCaps())

    assert (shared.usd_per_phase, fixed.usd_per_phase) == (50, 3)


def test_the_command_line_s_cap_counts_before_the_config_s() -> None:
    limits = limits_of({"minutes_per_run": 60}, RunCaps(hours=3, usd=1))

    assert (limits.minutes_per_run, limits.usd_per_run) == (180, 1)


@pytest.mark.parametrize(
    ("modes", "lenient", "bar"),
    [
        pytest.param(Modes(), False, 9.0, id="CENF-01a"),
        pytest.param(Modes(), True, 7.0, id="CENF-01b"),
        pytest.param(Modes(quality=""), False, 9.5, id="QUAL-00"),
        pytest.param(Modes(quality=""), True, 9.5, id="FLAG-07"),
        pytest.param(Modes(gaps="3"), True, 9.5, id="FLAG-08"),
        pytest.param(Modes(force=""), False, 9.0, id="FORC-06 as usual"),
        pytest.param(Modes(force=""), True, 7.0, id="FORC-06, FLAG-09 with lenient"),
    ],
)
def test_the_bar_a_phase_has_to_reach(modes: Modes, lenient: bool, bar: float) -> None:
    assert threshold(RunRequest(folder="/p", modes=modes, lenient=lenient)) == bar
