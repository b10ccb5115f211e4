"""No attack gets out: every way we know, tried in every tier, as the superuser and as an ordinary user."""

import pytest

from escapes.attacks import ATTACKS
from escapes.users import results

pytestmark = pytest.mark.sandbox

ARENA = "escapes.arena"


@pytest.mark.parametrize("user", ["superuser", "ordinary"])
@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_nothing_gets_out_but_what_the_tier_says_it_cannot_hold(tier: str, user: str) -> None:
    found = results(ARENA, user, tier, "as it is")["found"]

    assert {name for name, what in found.items() if what} == {a.name for a in ATTACKS if tier in a.beyond}
    assert len(found) == len(ATTACKS) >= 27


@pytest.mark.parametrize("user", ["superuser", "ordinary"])
def test_where_no_namespaces_can_be_made_landlock_takes_over_and_holds(user: str) -> None:
    seen = results(ARENA, user, "auto", "without namespaces")

    assert seen["tier"] == "landlock"
    assert {name for name, what in seen["found"].items() if what} == {a.name for a in ATTACKS if "landlock" in a.beyond}


def test_without_a_sandbox_the_same_attacks_succeed() -> None:
    """So the suite can fail: what holds them back above is the sandbox."""
    found = results(ARENA, "ordinary", "none", "as it is")["found"]

    assert {name for name, what in found.items() if not what} <= {"a file larger than allowed", "many processes"}
