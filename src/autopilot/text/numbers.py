"""Numbers in text that somebody else wrote: of any length, and never an error. Pure."""

MOST_DIGITS = 18
MOST: int = 10**MOST_DIGITS


def read_number(digits: str) -> int:
    """The number that digits, with or without a minus, stand for; one longer than any count is `MOST`."""
    bare = digits.removeprefix("-").lstrip("0")
    value = MOST if len(bare) > MOST_DIGITS else int(bare or "0")
    return -value if digits.startswith("-") else value
