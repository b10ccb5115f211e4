import unittest

from till.order import reduced, total


class DiscountTest(unittest.TestCase):
    def test_a_large_order_costs_ten_percent_less(self) -> None:
        self.assertEqual(total([(2, 2500)]), 4500)

    def test_a_smaller_order_costs_what_it_did(self) -> None:
        self.assertEqual(reduced(4999), 4999)

    def test_half_a_cent_is_rounded_up(self) -> None:
        self.assertEqual(reduced(5005), 4505)


if __name__ == "__main__":
    unittest.main()
