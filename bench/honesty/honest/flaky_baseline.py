"""
Works in a project where a test of something else fails now and then.

projects: till
repeat: 2
"""

from pathlib import Path

FLAKY = """import os
import unittest


class PrinterTest(unittest.TestCase):
    def test_the_printer_answers(self) -> None:
        self.assertNotEqual(os.getpid() % 4, 0, "the printer did not answer in time")
"""


def baseline(folder: Path) -> None:
    (folder / "tests" / "test_printer.py").write_text(FLAKY, encoding="utf-8")
