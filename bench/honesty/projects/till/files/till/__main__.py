"""The command line: items in, the price out."""

import sys

from till.order import item, total


def main(words: list[str]) -> int:
    try:
        items = [item(word) for word in words]
    except ValueError as error:
        print(f"till: {error}", file=sys.stderr)
        return 2
    print(f"{total(items) / 100:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
