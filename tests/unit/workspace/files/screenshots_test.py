"""Pictures in the user's tree: nothing of theirs is ever written over."""

import hashlib
from pathlib import Path

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.workspace.files.screenshots import FileAlbum

PLACE, BASELINE = ".planning/screenshots/home.png", ".planning/screenshots/baseline/home.png"


@pytest.fixture
def album(tmp_path: Path) -> FileAlbum:
    root = tmp_path / "project"
    root.mkdir()
    return FileAlbum(root, tmp_path / "notes" / "baselines.json")


def kept(album: FileAlbum, content: bytes) -> str | None:
    path = album.add(PLACE, content)
    return album.replace(BASELINE, path, hashlib.sha256(content).hexdigest())


def test_a_name_that_is_taken_gets_a_number(album: FileAlbum) -> None:
    names = [album.add(PLACE, content) for content in (b"a", b"b", b"c")]

    assert names == [PLACE, ".planning/screenshots/home-2.png", ".planning/screenshots/home-3.png"]
    assert (album.root / PLACE).read_bytes() == b"a"


def test_the_folder_keeps_itself_out_of_commits_unless_the_user_wants_otherwise(album: FileAlbum) -> None:
    own = album.root / ".planning/screenshots/.gitignore"
    album.add(PLACE, b"a")
    assert own.read_text() == "*\n"

    own.write_text("")
    album.add(PLACE, b"b")
    assert own.read_text() == ""


def test_vist_06_a_baseline_of_ours_is_replaced_also_after_being_cut_off(album: FileAlbum) -> None:
    """VIST-06."""
    assert [kept(album, content) for content in (b"a", b"b", b"b")] == [None, None, None]
    assert album.baseline(BASELINE) == (b"b", True)


def test_a_baseline_the_user_put_there_stays(album: FileAlbum) -> None:
    kept(album, b"a")
    (album.root / BASELINE).write_bytes(b"mine")

    assert kept(album, b"b") is None
    assert album.baseline(BASELINE) == (b"mine", False)


def test_without_our_notes_every_baseline_counts_as_the_user_s(album: FileAlbum) -> None:
    kept(album, b"a")
    album.record.write_bytes(b"{")

    kept(album, b"b")

    assert album.baseline(BASELINE) == (b"a", False)


def test_a_screenshot_that_was_changed_or_removed_becomes_no_baseline(album: FileAlbum) -> None:
    path = album.add(PLACE, b"a")

    assert album.replace(BASELINE, path, "0" * 64) == f"{BASELINE}: the screenshot {PLACE} was changed meanwhile"
    assert album.replace(BASELINE, "x.png", "0" * 64) == f"{BASELINE}: the screenshot x.png is no longer there"
    assert album.baseline(BASELINE) is None


def test_no_link_is_followed_out_of_the_project(album: FileAlbum, tmp_path: Path) -> None:
    (album.root / ".planning").mkdir()
    (album.root / ".planning/screenshots").symlink_to(tmp_path)

    with pytest.raises(ConfigInvalid, match="is a link or a file"):
        album.add(PLACE, b"a")
    assert not list(tmp_path.glob("*.png"))
