"""HEAD: whole after any cut-off write, and never a wrong answer."""

from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.journal.chain import GENESIS, Tip
from autopilot.journal.head import HeadFile, read_head


def test_the_newest_tip_is_read(tmp_path: Path) -> None:
    with HeadFile(tmp_path / "journal.head") as head:
        head.lay(Tip())
        assert read_head(tmp_path / "journal.head") == Tip(seq=0, hash=GENESIS)
        for seq in range(1, 6):
            head.write(Tip(seq=seq, hash=f"{seq:064x}"))
            assert read_head(tmp_path / "journal.head") == Tip(seq=seq, hash=f"{seq:064x}")


def test_it_never_grows(tmp_path: Path) -> None:
    with HeadFile(tmp_path / "journal.head") as head:
        head.lay(Tip())
        head.write(Tip(seq=10**15, hash="f" * 64))
    assert (tmp_path / "journal.head").stat().st_size == 8192


def test_a_write_cut_off_anywhere_leaves_the_tip_before_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "journal.head"
    tips = [Tip(seq=seq, hash=f"{seq:x}" * 64) for seq in (6, 7)]
    with HeadFile(path) as head:
        head.lay(Tip(seq=5, hash="5" * 64))
        head.write(tips[0])
        before = path.read_bytes()
        head.write(tips[1])
    after = path.read_bytes()

    for cut in range(4096, 4096 + 152):
        path.write_bytes(after[:cut] + before[cut:])
        assert read_head(path) in tips


@pytest.mark.parametrize("at", range(0, 151, 5))
def test_a_flipped_byte_never_gives_another_tip(tmp_path: Path, at: int) -> None:
    path = tmp_path / "journal.head"
    with HeadFile(path) as head:
        head.lay(Tip(seq=5, hash="5" * 64))
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    content[4096 + at] ^= 1
    path.write_bytes(content)

    assert read_head(path) is None


def test_none_without_a_file(tmp_path: Path) -> None:
    assert read_head(tmp_path / "journal.head") is None


def test_trouble_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="nowhere"):
        HeadFile(tmp_path / "nowhere" / "journal.head")
    with pytest.raises(StorageFailed, match="is not a plain file"):
        read_head(tmp_path)
