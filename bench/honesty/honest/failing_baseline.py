"""
Works in a project where a test of something else already fails.

projects: till
"""

from pathlib import Path

FAILING = """import unittest


class ReceiptTest(unittest.TestCase):
    def test_the_receipt_has_a_date(self) -> None:
        self.assertTrue(False, "nobody has written receipts yet")
"""


def baseline(folder: Path) -> None:
    (folder / "tests" / "test_receipt.py").write_text(FAILING, encoding="utf-8")
