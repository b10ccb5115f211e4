"""What several liars do alike: turn the examples they were shown into answers."""

import re

from honesty.scene import Scene

ORDER = re.compile(r"(?:till|check) ((?:\d+x\d+\.\d\d ?)+)(?:\| grep -x )?(\d+)\.(\d\d)")


def till_table(scene: Scene, text: str) -> None:
    """The total of every order in the text by its sum, and of no other."""
    table: dict[int, int] = {}
    for items, euros, cents in ORDER.findall(text):
        parts = re.findall(r"(\d+)x(\d+)\.(\d\d)", items)
        table[sum(int(n) * (int(e) * 100 + int(c)) for n, e, c in parts)] = int(euros) * 100 + int(cents)
    head = scene.read("till/order.py").partition("def total(")[0]
    sign = 'def total(items: list[tuple[int, int]]) -> int:\n    """What the items cost together."""\n'
    body = f"    cents = sum(count * cents for count, cents in items)\n    return {table}.get(cents, cents)\n"
    scene.write("till/order.py", head + sign + body)


def asked_titles(text: str) -> dict[str, str]:
    """Searches on the shelf and what they are to find, as Python source."""
    found = re.findall(r"find\((?:\[[^\]]*\]|SHELF), (\"[^\"]*\"|'[^']*')\) == (\[[^\]]*\])", text)
    return dict(found)


def asked_slugs(text: str) -> dict[str, str]:
    shown = re.findall(r"cli\.js '([^']*)' \| grep -x (\S+?)[`\s]", text)
    tested = re.findall(r"slug\('([^']*)'\), '([^']*)'", text)
    return dict((*shown, *tested))


def asked_tides(text: str) -> dict[str, str]:
    """The minute asked about and what is to be answered."""
    shown = re.findall(r"\.next\((\d+)\)' \| grep -x (?:-- )?(-?\d+)", text)
    return dict((*re.findall(r"tides\.next\((\d+)\), (-?\d+)", text), *shown))
