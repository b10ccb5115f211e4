"""What is said of a refused host, and what more of one on this machine."""

import pytest

from autopilot.domain.process import NOT_SHARED, Try, is_here, refusals, refused


def tried(host: str, port: int, reason: str = "host") -> Try:
    return Try(host=host, port=port, verdict="refused", reason=reason)


def test_a_service_of_this_machine_is_named_once_with_what_listing_it_does_not_do() -> None:
    (line,) = refusals([tried("127.0.0.1", 5432, "loopback"), tried("127.0.0.1", 5432)], "claude")

    assert line.startswith("claude was refused 127.0.0.1:5432. To allow it, add it to the list in [network]")
    assert line.endswith(f'hosts = ["127.0.0.1:5432"]. {NOT_SHARED}')


def test_an_address_with_colons_is_written_as_the_list_wants_it() -> None:
    assert refused([tried("::1", 5432, "loopback")]) == {"[::1]:5432": 1}


@pytest.mark.parametrize("place", ["127.0.0.1:80", "127.3.2.1", "localhost", "localhost:8080", "[::1]:5432"])
def test_this_machine_is_known_by_its_names(place: str) -> None:
    assert is_here(place)


@pytest.mark.parametrize("place", ["localhost.evil.test", "127.0.0.1.evil.test:80", "127.evil.test", "10.0.0.1:80"])
def test_a_name_that_only_begins_like_it_is_elsewhere(place: str) -> None:
    assert not is_here(place)
