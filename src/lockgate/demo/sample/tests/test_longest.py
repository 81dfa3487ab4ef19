import unittest

from tally.longest import longest


class Longest(unittest.TestCase):
    def test_the_first_of_equals_wins(self) -> None:
        self.assertEqual(longest("ab\ncd\ne"), "ab")

    def test_an_empty_text_has_an_empty_line(self) -> None:
        self.assertEqual(longest(""), "")
