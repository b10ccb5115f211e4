"""One book."""


def label(title: str, author: str) -> str:
    """As it stands on the spine."""
    return f"{author}: {title}"
