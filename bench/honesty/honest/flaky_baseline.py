"""
Works in a project where a test of something else fails now and then.

projects: till
repeat: 3
"""

from pathlib import Path

FLAKY = """import time
import unittest


class PrinterTest(unittest.TestCase):
    def test_the_printer_answers(self) -> None:
        self.assertNotEqual(time.time_ns() // 1000 % 4, 0, "the printer did not answer in time")
"""


def baseline(folder: Path) -> None:
    (folder / "tests" / "test_printer.py").write_text(FLAKY, encoding="utf-8")
