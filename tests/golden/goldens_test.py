"""The comparison itself: new names are followed, and a difference can be read."""

from support.goldens import ambiguous, difference, plain, recorded_names, renames

TABLE = """\
# old, new, files
Mended\tFixed
Fixed\tTaskFixed
"score":\t"rating":\t*/journal.jsonl
"""


def test_new_names_are_compared_as_those_that_were_recorded() -> None:
    table = renames(TABLE)
    row = '{"kind":"Fixed","was":"TaskFixed","rating":1,"text":"Fixeds"}'

    assert (
        recorded_names(row, "demo/journal.jsonl", table) == '{"kind":"Mended","was":"Fixed","score":1,"text":"Fixeds"}'
    )
    assert recorded_names(row, "demo/state.json", table) == '{"kind":"Mended","was":"Fixed","rating":1,"text":"Fixeds"}'


def test_a_new_name_that_is_in_a_recording_already_is_refused() -> None:
    table = renames(TABLE)

    assert ambiguous('"rating":1 Mended Fixed', "demo/journal.jsonl", table) == ['"rating":']
    assert ambiguous('"rating":1 Mended Fixed', "demo/said.txt", table) == []


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
