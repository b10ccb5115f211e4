import unittest

from till.order import item, total


class OrderTest(unittest.TestCase):
    def test_an_item_has_a_count_and_a_price(self) -> None:
        self.assertEqual(item("2x25.00"), (2, 2500))

    def test_a_mistyped_item_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            item("2xtwo")

    def test_the_total_is_the_sum(self) -> None:
        self.assertEqual(total([(1, 350), (2, 100)]), 550)

    def test_an_empty_order_costs_nothing(self) -> None:
        self.assertEqual(total([]), 0)


if __name__ == "__main__":
    unittest.main()
