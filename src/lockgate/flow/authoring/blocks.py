"""The blocks of a decision's presentation, as authors write them."""

from collections.abc import Iterable, Mapping

from lockgate.flow import presentation as shown


def paragraph(text: str) -> shown.Paragraph:
    """Running text; line feeds and tabs are kept."""
    return shown.Paragraph(text)


def section(title: str) -> shown.Section:
    """A heading over the blocks that follow."""
    return shown.Section(title)


def bullets(items: Iterable[str]) -> shown.Bullets:
    """1 to 256 single lines."""
    return shown.Bullets(tuple(items))


def fields(items: Mapping[str, object] | Iterable[tuple[str, object]]) -> shown.Fields:
    """1 to 256 labels with their values, as a table; values are shown by their text."""
    pairs = items.items() if isinstance(items, Mapping) else items
    return shown.Fields(tuple(shown.Field(str(label), str(value)) for label, value in pairs))


def preformatted(text: str) -> shown.Preformatted:
    """Text whose lines and spaces are kept as they are: a table, a diff, a log."""
    return shown.Preformatted(text)
