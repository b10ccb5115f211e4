"""HEAD: whole after any cut-off write, and never a wrong answer."""

from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.journal.chain import GENESIS, Chain, Tip
from autopilot.journal.head import SLOT_BYTES, Head, HeadFile, newest, read_head, read_slots

CHAIN = Chain(b"k" * 32, "5" * 64)


def test_the_newest_tip_is_read(tmp_path: Path) -> None:
    with HeadFile(tmp_path / "journal.head", CHAIN) as head:
        head.lay(Tip())
        assert read_head(tmp_path / "journal.head") == Tip(seq=0, hash=GENESIS)
        for seq in range(1, 6):
            head.write(Tip(seq=seq, hash=f"{seq:064x}"))
            assert read_head(tmp_path / "journal.head") == Tip(seq=seq, hash=f"{seq:064x}")


def test_it_never_grows(tmp_path: Path) -> None:
    with HeadFile(tmp_path / "journal.head", CHAIN) as head:
        head.lay(Tip())
        head.write(Tip(seq=10**15, hash="f" * 64))
    assert (tmp_path / "journal.head").stat().st_size == 8192


def test_a_write_cut_off_anywhere_leaves_the_tip_before_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "journal.head"
    tips = [Tip(seq=seq, hash=f"{seq:x}" * 64) for seq in (6, 7)]
    with HeadFile(path, CHAIN) as head:
        head.lay(Tip(seq=5, hash="5" * 64), Tip(seq=4, hash="4" * 64))
        head.write(tips[0])
        before = path.read_bytes()
        head.write(tips[1])
    after = path.read_bytes()

    for cut in range(4096, 4096 + 217):
        path.write_bytes(after[:cut] + before[cut:])
        assert read_head(path) in tips


@pytest.mark.parametrize("at", range(0, 216, 5))
def test_a_flipped_byte_never_gives_another_tip(tmp_path: Path, at: int) -> None:
    path = tmp_path / "journal.head"
    with HeadFile(path, CHAIN) as head:
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
        HeadFile(tmp_path / "nowhere" / "journal.head", CHAIN)
    with pytest.raises(StorageFailed, match="is not a plain file"):
        read_head(tmp_path)


def three_tips(path: Path, chain: Chain = CHAIN) -> list[Tip]:
    tips = [Tip(seq=seq, hash=f"{seq:x}" * 64) for seq in (1, 2, 3)]
    with HeadFile(path, chain) as head:
        head.lay()
        for tip in tips:
            head.write(tip)
    return tips


def test_a_head_counts_for_the_chain_of_its_writer_alone(tmp_path: Path) -> None:
    tips = three_tips(tmp_path / "journal.head")
    slots = read_slots(tmp_path / "journal.head")

    assert newest(slots, CHAIN) == Head(tip=tips[-1])
    assert newest(slots, Chain(b"K" * 32, "5" * 64)) is None
    assert newest(slots, Chain(b"k" * 32, "6" * 64)) is None
    assert newest(slots, None) == Head(tip=tips[-1])


@pytest.mark.parametrize("harm", ["spoilt", "copied"])
def test_a_slot_that_is_gone_is_told(tmp_path: Path, harm: str) -> None:
    """Also when the older one was copied over it, which its writer never does."""
    path = tmp_path / "journal.head"
    tips = three_tips(path)
    content = path.read_bytes()
    path.write_bytes(content[:SLOT_BYTES] + (bytes(SLOT_BYTES) if harm == "spoilt" else content[:SLOT_BYTES]))

    assert newest(read_slots(path), CHAIN) == Head(tip=tips[1], alone=True)
