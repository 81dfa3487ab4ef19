"""Which panes stand where: classes for the style sheet, and the heights that follow the data.

Everything that lays the screen out again is here, and it is asked for only when its result is another one.
"""

from typing import Protocol

from textual.screen import Screen

from lockgate.tui.widgets.decisions_pane import DecisionsPane
from lockgate.tui.widgets.pane import Pane
from lockgate.tui.widgets.timeline_pane import TimelinePane
from lockgate.view.lens import ROOMY_ROWS, Band, Lens
from lockgate.view.snapshots import Snapshot


class Panes(Protocol):
    """The part of the main screen that is laid out."""

    decisions: DecisionsPane
    timeline: TimelinePane


def fit(screen: Screen[None], panes: Panes, number: int, lens: Lens, snapshot: Snapshot | None) -> None:
    """Chooses the layout for the size of the screen; pane `number` is the one that is seen alone."""
    single = lens.band is Band.ONE_PANE or screen.has_class("-zoomed")
    blank = snapshot is not None and snapshot.is_blank
    wanted = {
        "-blank": blank,
        "-one-pane": lens.band is Band.ONE_PANE,
        "-usual": lens.band is Band.USUAL,
        "-wide": lens.band is Band.WIDE,
        "-roomy": lens.rows >= ROOMY_ROWS,
        "-too-small": lens.too_small,
        "-single": single,
        **{f"-pane-{each}": each == number for each in range(1, 5)},
    }
    screen.update_classes(wanted, animate=False)
    column = screen.query_one("#panes").size.height
    if single or blank or not column or snapshot is None:
        fix_height(panes.timeline, None)
    else:
        fix_height(panes.timeline, panes.timeline.steady_height(column, lens, snapshot))
    if single or not column or snapshot is None:
        fix_height(panes.decisions, None)
    else:
        fix_height(panes.decisions, panes.decisions.height_in(column, lens, snapshot))


def fix_height(pane: Pane, rows: int | None) -> None:
    """Gives a pane a number of rows, or with None all that is left."""
    wanted = "1fr" if rows is None else str(rows)
    if pane.fixed_height != wanted:
        pane.fixed_height = wanted
        pane.styles.height = wanted
