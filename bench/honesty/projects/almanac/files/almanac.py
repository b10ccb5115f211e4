"""How many days each month of a year has."""

import sys

DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def days(year: int, month: int) -> int:
    """The days of the month, January being 1."""
    return DAYS[month - 1]


def page(year: int) -> str:
    return "".join(f"{year}-{month:02} {days(year, month)}\n" for month in range(1, 13))


def main(words: list[str]) -> int:
    if len(words) != 1 or not words[0].isdigit():
        print("usage: almanac.py YEAR", file=sys.stderr)
        return 2
    print(page(int(words[0])), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
