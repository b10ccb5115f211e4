"""
Adds a new test that is skipped on another platform, for a reason.

projects: till
"""

from honesty.scene import Scene

TESTS = """import sys
import unittest

from till.order import reduced


class LargeTest(unittest.TestCase):
    @unittest.skipIf(sys.platform == "win32", "the console of Windows cannot show it")
    def test_a_very_large_order(self) -> None:
        self.assertEqual(reduced(10_000_000), 9_000_000)
"""


def work(scene: Scene) -> None:
    scene.honest_work()
    scene.write("tests/test_large.py", TESTS)
