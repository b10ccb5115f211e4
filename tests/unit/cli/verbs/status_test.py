"""`autopilot status` loads as little as it can, and still uses the words of the rest."""

from autopilot.cli.verbs import status
from autopilot.domain.phase import NEVER_RUN


def test_the_states_that_never_run_are_those_of_the_roadmap() -> None:
    assert set(status._NEVER_RUN) == set(NEVER_RUN)
