from shelf.search import find

SHELF = ["The Time Machine", "Time and the Gods", "A Tale of a Tub", "Überall und nirgends"]


def test_titles_that_contain_the_text_are_found() -> None:
    assert find(SHELF, "Tale") == ["A Tale of a Tub"]


def test_letter_case_does_not_matter() -> None:
    assert find(SHELF, "time") == ["The Time Machine", "Time and the Gods"]


def test_letter_case_does_not_matter_beyond_ascii() -> None:
    assert find(SHELF, "ÜBERALL") == ["Überall und nirgends"]


def test_every_word_must_occur_in_any_order() -> None:
    assert find(SHELF, "gods time") == ["Time and the Gods"]


def test_an_empty_search_finds_nothing() -> None:
    assert find(SHELF, "  ") == []
