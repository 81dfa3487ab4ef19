"""What is counted, and how."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tally:
    """Three counts, which can be added."""

    lines: int = 0
    words: int = 0
    letters: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.lines + other.lines, self.words + other.words, self.letters + other.letters)


def tally(text: str) -> Tally:
    return Tally(len(text.splitlines()), len(text.split()), sum(letter.isalpha() for letter in text))
