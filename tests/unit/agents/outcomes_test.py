"""What a program's last words mean where it told no result."""

import pytest

from autopilot.agents.call_log import Account
from autopilot.agents.outcomes import Ending, Meanings, outcome_of

SERVICES = {
    "API Error: 500 written error": "overloaded",
    "unexpected status 503 Service Unavailable": "overloaded",
    'error {"code":502}': "overloaded",
    "HTTP 504": "overloaded",
    "Request rejected (429)": "rate_limited",
    "status:429": "rate_limited",
    "401 Incorrect API key": "auth",
    "failed with 403.": "auth",
}
PLACES = [
    "sh: 2: exec: /tmp/run-570/program: not found",
    "at resolve (node:internal/modules/esm/resolve:503:12)",
    'File "agent.py", line 512, in main',
    "killed process 15012",
    "wrote 1,500 of 2.503 kB",
    "assertion failed at #429",
]


def told(stderr: str) -> str:
    return outcome_of(Account(), Ending(exit_code=1, stderr=stderr), Meanings(), answered=False)


@pytest.mark.parametrize("words", SERVICES)
def test_a_services_answer_is_known_by_its_number(words: str) -> None:
    assert told(words) == SERVICES[words]


@pytest.mark.parametrize("words", PLACES)
def test_a_number_in_a_crash_is_no_answer_of_a_service(words: str) -> None:
    assert told(words) == "crashed"
