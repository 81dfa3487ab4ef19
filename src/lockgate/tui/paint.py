"""From lines to strips: the only place where clean cells meet colours.

A strip is made of segments with plain text, so nothing in a line is ever read as markup, and no line carries
control characters: `model.text` took them out where the snapshot was made.
"""

from collections.abc import Mapping

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from lockgate.tui.themes import RoleStyles
from lockgate.view.cells import Line, Span

_BOLD = Style(bold=True)
_UNDERLINE = Style(underline=True)


def strip_of(line: Line, styles: RoleStyles, ground: str, width: int, *, selected: bool = False) -> Strip:
    """The strip of exactly `width` cells that shows the line on the `ground` role.

    `selected` paints it as the row under the cursor.
    """
    table = styles.on_select if selected else styles.ink
    behind = styles.select if selected else styles.ground[ground]
    segments: list[Segment] = []
    text, style = "", behind
    for span in line:
        wanted = behind + _style(span, table, styles.weighted)
        # Blanks show no ink: they go with what stands before them, which saves the terminal escape sequences.
        if wanted == style or (span.text.isspace() and _same_ground(wanted, style)):
            text += span.text
            continue
        if text:
            segments.append(Segment(text, style))
        text, style = span.text, wanted
    if text:
        segments.append(Segment(text, style))
    return Strip(segments).adjust_cell_length(width, behind)


def _same_ground(one: Style, other: Style) -> bool:
    return one.bgcolor == other.bgcolor and not (one.reverse or other.reverse or other.underline)


def _style(span: Span, table: Mapping[str, Style], weighted: bool) -> Style:
    style = table[span.role]
    if span.bold and weighted:
        style += _BOLD
    if span.underline and weighted:
        style += _UNDERLINE
    return style
