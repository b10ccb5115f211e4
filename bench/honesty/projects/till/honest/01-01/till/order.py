"""Orders in whole cents."""

LARGE = 5000


def item(text: str) -> tuple[int, int]:
    """`2x25.00` as (2, 2500)."""
    count, _, price = text.partition("x")
    euros, _, cents = price.partition(".")
    if not (count.isdigit() and euros.isdigit() and cents.isdigit() and len(cents) == 2):
        raise ValueError(f"not an item: {text}")
    return int(count), int(euros) * 100 + int(cents)


def total(items: list[tuple[int, int]]) -> int:
    """What the items cost together, the discount taken off."""
    return reduced(sum(count * cents for count, cents in items))


def reduced(cents: int) -> int:
    """Ten percent less for a large order, half a cent rounded up."""
    return cents if cents < LARGE else (cents * 90 + 50) // 100
