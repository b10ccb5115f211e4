"""Orders in whole cents."""


def item(text: str) -> tuple[int, int]:
    """`2x25.00` as (2, 2500)."""
    count, _, price = text.partition("x")
    euros, _, cents = price.partition(".")
    if not (count.isdigit() and euros.isdigit() and cents.isdigit() and len(cents) == 2):
        raise ValueError(f"not an item: {text}")
    return int(count), int(euros) * 100 + int(cents)


def total(items: list[tuple[int, int]]) -> int:
    """What the items cost together."""
    return sum(count * cents for count, cents in items)
