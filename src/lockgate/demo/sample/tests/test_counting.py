import unittest

from tally.counting import Tally, tally


class Counting(unittest.TestCase):
    def test_words_are_split_at_any_white_space(self) -> None:
        self.assertEqual(tally("one two\n\tthree").words, 3)

    def test_lines_count_without_a_last_line_end(self) -> None:
        self.assertEqual(tally("a\nb").lines, 2)

    def test_digits_are_no_letters(self) -> None:
        self.assertEqual(tally("a1b2").letters, 2)

    def test_tallies_add_up(self) -> None:
        self.assertEqual(Tally(1, 2, 3) + Tally(1, 1, 1), Tally(2, 3, 4))
