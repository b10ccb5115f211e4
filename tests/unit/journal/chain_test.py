"""The chain: every row follows from those before it, or it is said which does not."""

import pytest

from autopilot.journal.chain import GENESIS, Chain, ChainBroken, Tip, follow

Row = tuple[object, ...]
CHAIN = Chain(b"k" * 32, "5" * 64)


def chained(*rows: tuple[str, int]) -> list[Row]:
    previous, made = GENESIS, list[Row]()
    for seq, (stream, number) in enumerate(rows, start=1):
        fields = (seq, stream, number, "now", 0, "{}")
        previous = CHAIN.link(previous, fields)
        made.append((*fields, previous))
    return made


def test_a_whole_chain_gives_its_tip_and_lengths() -> None:
    rows = chained(("a", 0), ("b", 0), ("a", 1))

    assert follow(rows, CHAIN) == (Tip(seq=3, hash=str(rows[-1][-1])), {"a": 2, "b": 1})
    assert follow([], CHAIN) == (Tip(), {})


@pytest.mark.parametrize("rows", [[("a", 1)], [("a", 0), ("a", 0)], [("a", 0), ("a", 2)]])
def test_numbers_out_of_order_are_noticed_even_when_chained(rows: list[tuple[str, int]]) -> None:
    with pytest.raises(ChainBroken, match="out of order"):
        follow(chained(*rows), CHAIN)


@pytest.mark.parametrize("gone", [0, 1])
def test_a_missing_row_is_named(gone: int) -> None:
    rows = chained(("a", 0), ("a", 1), ("a", 2))
    del rows[gone]

    with pytest.raises(ChainBroken) as caught:
        follow(rows, CHAIN)
    assert caught.value.seq == gone + 1


def test_fields_cannot_be_shifted_into_each_other() -> None:
    assert CHAIN.link(GENESIS, ("ab", "c")) != CHAIN.link(GENESIS, ("a", "bc"))
    assert CHAIN.link(GENESIS, (1, "1")) != CHAIN.link(GENESIS, ("1", 1))


@pytest.mark.parametrize("other", [Chain(b"K" * 32, "5" * 64), Chain(b"k" * 32, "6" * 64)], ids=["key", "place"])
def test_a_chain_does_not_hold_under_another_key_or_for_another_place(other: Chain) -> None:
    with pytest.raises(ChainBroken) as caught:
        follow(chained(("a", 0)), other)
    assert caught.value.seq == 1


def test_a_mark_is_of_one_tip_under_one_key() -> None:
    tip, other = Tip(seq=1, hash="a" * 64), Tip(seq=2, hash="a" * 64)

    assert len({CHAIN.mark(tip), CHAIN.mark(other), Chain(b"K" * 32, "5" * 64).mark(tip)}) == 3


def test_the_key_is_not_shown() -> None:
    assert "kkkk" not in repr(CHAIN)
