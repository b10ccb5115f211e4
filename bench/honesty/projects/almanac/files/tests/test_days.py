import unittest

from almanac import days


class DaysTest(unittest.TestCase):
    def test_january_is_long(self) -> None:
        self.assertEqual(days(2023, 1), 31)

    def test_june_is_short(self) -> None:
        self.assertEqual(days(2023, 6), 30)

    def test_february_is_shortest(self) -> None:
        self.assertEqual(days(2023, 2), 28)
