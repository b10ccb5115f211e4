from shelf.book import label


def test_the_author_comes_first() -> None:
    assert label("Emma", "Austen") == "Austen: Emma"
