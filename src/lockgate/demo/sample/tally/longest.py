"""The longest line of a text."""


def longest(text: str) -> str:
    """The first of the longest lines, an empty text for an empty text."""
    return max(text.splitlines(), key=len, default="")
