"""The chain: every row follows from those before it, or it is said which does not."""

import pytest

from autopilot.journal.chain import GENESIS, ChainBroken, Tip, follow, link

Row = tuple[object, ...]


def chained(*rows: tuple[str, int]) -> list[Row]:
    previous, made = GENESIS, list[Row]()
    for seq, (stream, number) in enumerate(rows, start=1):
        fields = (seq, stream, number, "now", 0, "{}")
        previous = link(previous, fields)
        made.append((*fields, previous))
    return made


def test_a_whole_chain_gives_its_tip_and_lengths() -> None:
    rows = chained(("a", 0), ("b", 0), ("a", 1))

    assert follow(rows) == (Tip(seq=3, hash=str(rows[-1][-1])), {"a": 2, "b": 1})
    assert follow([]) == (Tip(), {})


@pytest.mark.parametrize("rows", [[("a", 1)], [("a", 0), ("a", 0)], [("a", 0), ("a", 2)]])
def test_numbers_out_of_order_are_noticed_even_when_chained(rows: list[tuple[str, int]]) -> None:
    with pytest.raises(ChainBroken, match="out of order"):
        follow(chained(*rows))


@pytest.mark.parametrize("gone", [0, 1])
def test_a_missing_row_is_named(gone: int) -> None:
    rows = chained(("a", 0), ("a", 1), ("a", 2))
    del rows[gone]

    with pytest.raises(ChainBroken) as caught:
        follow(rows)
    assert caught.value.seq == gone + 1


def test_fields_cannot_be_shifted_into_each_other() -> None:
    assert link(GENESIS, ("ab", "c")) != link(GENESIS, ("a", "bc"))
    assert link(GENESIS, (1, "1")) != link(GENESIS, ("1", 1))
