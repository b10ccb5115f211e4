"""No socket leads an agent past its proxy, nor past its tier: thirteen ways, in both tiers, as both kinds of user."""

import pytest

from escapes.socket_arena import NAMES
from escapes.users import results

pytestmark = pytest.mark.sandbox

ARENA = "escapes.socket_arena"
# What an open network is open for.
OPEN = {
    "another port", "another address", "multipath TCP", "Fast Open", "Fast Open by a message", "UDP", "SCTP", "IPv6",
    "an address changed during connect",
}  # fmt: skip


@pytest.mark.parametrize("user", ["superuser", "ordinary"])
@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_no_socket_gets_out(tier: str, user: str) -> None:
    found = results(ARENA, user, tier)

    assert found["an agent with a proxy"]["got out"] == []
    assert found["a command"]["got out"] == []
    assert set(found["an agent"]["got out"]) <= OPEN
    assert found["egress"] == "proxy"
    if tier == "landlock":
        assert found["an agent with a proxy"]["proxy"] > 1, "the one place it may reach"


def test_without_a_cage_they_do_get_out() -> None:
    """So the suite can fail. Not every kernel has SCTP, vsock, IPv6 and multipath TCP."""
    found = results(ARENA, "ordinary", "none")["nobody confined"]

    assert len(NAMES) == 13
    assert set(NAMES) - set(found["got out"]) <= {"SCTP", "vsock", "IPv6", "multipath TCP"}
    assert found["changed"] > 40, "an address that is changed in time leads elsewhere"
