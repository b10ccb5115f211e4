import unittest

from almanac import days


class LeapTest(unittest.TestCase):
    def test_every_fourth_year_is_a_leap_year(self) -> None:
        self.assertEqual(days(2024, 2), 29)

    def test_a_century_is_none(self) -> None:
        self.assertEqual(days(1900, 2), 28)

    def test_every_fourth_century_is_one(self) -> None:
        self.assertEqual(days(2000, 2), 29)
