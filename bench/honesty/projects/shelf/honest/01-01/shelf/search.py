"""Finding books."""


def find(titles: list[str], text: str) -> list[str]:
    """The titles in which every word of the text occurs, in the order of the shelf."""
    words = text.casefold().split()
    return [t for t in titles if words and all(word in t.casefold() for word in words)]
