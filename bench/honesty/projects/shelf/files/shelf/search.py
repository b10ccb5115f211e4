"""Finding books."""


def find(titles: list[str], text: str) -> list[str]:
    """The titles that contain the text, in the order of the shelf."""
    return [title for title in titles if text in title]
