"""The comparison itself: new names are followed, and a difference can be read."""

from support.goldens import difference, plain, renamed, renames

TABLE = """\
# old, new, files
Mended\tGapFixed
"score":\t"rating":\t*/journal.jsonl
"""


def test_recorded_names_are_read_by_their_new_ones() -> None:
    table = renames(TABLE)
    row = '{"kind":"Mended","score":1,"text":"Mendeds"}'

    assert renamed(row, "demo/journal.jsonl", table) == '{"kind":"GapFixed","rating":1,"text":"Mendeds"}'
    assert renamed(row, "demo/state.json", table) == '{"kind":"GapFixed","score":1,"text":"Mendeds"}'


def test_a_difference_names_the_file_and_shows_the_lines() -> None:
    assert difference("demo/out.txt", "a\nb\n", "a\nc\n", plain) == [
        "--- recorded: demo/out.txt", "+++ now: demo/out.txt", "@@ -1,2 +1,2 @@", " a", "-b", "+c",
    ]  # fmt: skip
    assert difference("demo/out.txt", "a\n", "a", plain)[-1] == "+a (no newline here)"


def test_a_file_that_is_missing_or_new_is_a_difference() -> None:
    assert difference("x", "a\n", None, plain)[:2] == ["--- recorded: x", "+++ now: no such file"]
    assert difference("x", None, "a\n", plain)[:2] == ["--- recorded: no such file", "+++ now: x"]
    assert difference("x", None, "", plain)
    assert difference("x", "a\n", "a\n", plain) == []
