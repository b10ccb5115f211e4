"""trust.json in the user's folder: what is kept for which checkout, and what is never guessed."""

import stat
import threading
from pathlib import Path

import pytest

from autopilot.authority.seal import Place
from autopilot.authority.surface import Part, Surface, agreed
from autopilot.authority.trust import Trust
from autopilot.authority.user_folder import UserFolder
from autopilot.domain.errors import StorageFailed

AT = "2026-01-01T00:00:00.000Z"
SURFACE = Surface(parts=(Part(name="setup", kind="setup", text="npm ci", where="config.json:4"),))


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(UserFolder(tmp_path / "state"))


def checkout(folder: Path, name: str, inode: int = 1) -> Place:
    (folder / name).mkdir(exist_ok=True)
    return Place(root=str(folder / name), user=1, inode=inode)


def test_an_answer_is_kept_with_its_date_and_for_its_owner_alone(trust: Trust, tmp_path: Path) -> None:
    one = checkout(tmp_path, "one")
    assert trust.find(one) is None
    trust.keep(one, SURFACE, AT)

    found = Trust(UserFolder(tmp_path / "state")).find(one)
    assert found is not None
    assert (found.at, found.parts) == (AT, agreed(SURFACE))
    assert stat.S_IMODE((tmp_path / "state" / "trust.json").stat().st_mode) == 0o600


def test_another_repository_at_the_same_path_is_not_trusted(trust: Trust, tmp_path: Path) -> None:
    trust.keep(checkout(tmp_path, "one"), SURFACE, AT)

    assert trust.find(checkout(tmp_path, "one", inode=2)) is None
    assert trust.find(checkout(tmp_path, "two")) is None


def test_trust_is_taken_back_for_one_repository_only(trust: Trust, tmp_path: Path) -> None:
    one, two = checkout(tmp_path, "one"), checkout(tmp_path, "two")
    for each in (one, two):
        trust.keep(each, SURFACE, AT)

    assert (trust.revoke(one), trust.revoke(one)) == (True, False)
    assert trust.find(one) is None
    assert trust.find(two) is not None


def test_folders_that_are_gone_are_forgotten(trust: Trust, tmp_path: Path) -> None:
    one, two = checkout(tmp_path, "one"), checkout(tmp_path, "two")
    trust.keep(one, SURFACE, AT)
    (tmp_path / "one").rmdir()
    trust.keep(two, SURFACE, AT)

    assert (trust.find(one), trust.find(two) is not None) == (None, True)


def test_answers_given_at_once_are_all_kept(trust: Trust, tmp_path: Path) -> None:
    places = [checkout(tmp_path, f"p{n}") for n in range(8)]
    threads = [threading.Thread(target=trust.keep, args=(place, SURFACE, AT)) for place in places]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(trust.find(place) for place in places)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"schema": 2}', b'{"repositories": [{"at": 1}]}'])
def test_a_file_that_cannot_be_read_trusts_nobody_and_is_not_overwritten(
    trust: Trust, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "state" / "trust.json").write_bytes(content)

    with pytest.raises(StorageFailed, match=r"trust\.json cannot be read"):
        trust.find(checkout(tmp_path, "one"))
    with pytest.raises(StorageFailed):
        trust.keep(checkout(tmp_path, "one"), SURFACE, AT)
    assert (tmp_path / "state" / "trust.json").read_bytes() == content
