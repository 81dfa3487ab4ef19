"""Pane 1: one row per run, in columns that depend on the width of the screen."""

from lockgate.view.cells import (
    EMPTY,
    Line,
    Role,
    Span,
    blank,
    clipped,
    fitted,
    joined,
    left,
    line_width,
    right,
)
from lockgate.view.lens import Band, Lens
from lockgate.view.situations import QUIET, State, note, state, time_cell
from lockgate.view.snapshots import RunsPage, ShownRun

STATE_CELLS = 11
WORKFLOW_CELLS = {Band.WIDE: 14, Band.NARROW: 10}
TITLE_CELLS = 26
_FRAME = 30  # what the shared column of workflow and title leaves to all others

_SORTS = {
    "created": ("newest first", "oldest first"),
    "state": ("by state", "by state, backwards"),
    "workflow": ("by workflow", "by workflow, backwards"),
    "title": ("by title", "by title, backwards"),
    "time": ("longest first", "shortest first"),
}


def sort_words(page: RunsPage, lens: Lens) -> Line:
    """`newest first ▾`: the right end of the pane's rule; from 120 columns only."""
    if lens.band is Band.NARROW:
        return EMPTY
    first, second = _SORTS.get(page.sort, (f"by {page.sort}", f"by {page.sort}, backwards"))
    arrow = lens.glyphs.below if page.descending else lens.glyphs.up
    return (Span(f"{first if page.descending else second} {arrow}", "muted"),)


def runs_head(cells: int, lens: Lens) -> Line:
    """The heads of the columns; an empty line where rows are short or narrow."""
    if lens.short or lens.band in (Band.NARROW, Band.ONE_PANE):
        return EMPTY
    lead = blank(4)
    if lens.band is Band.WIDE:
        middle = left("workflow", 14) + " " + left("title", cells - 46)
        return fitted(joined(lead, Span(f"{left('state', STATE_CELLS)} {middle}  id      time ", "muted")), cells)
    middle = left("workflow", cells - _FRAME)
    return fitted(joined(lead, Span(f"{left('state', STATE_CELLS)} {middle} id      time ", "muted")), cells)


def run_line(shown: ShownRun, cells: int, lens: Lens, *, selected: bool = False, replayed: bool = False) -> Line:
    """The row of a run, exactly `cells` wide; cell 0 is blank, for the cursor's bar.

    `replayed` marks the run whose past is on the screen: its word and time are of that moment.
    """
    if shown.gone:
        return _ghost(shown, cells, lens)
    current = state(shown.run, lens)
    if replayed:
        current = State(current.word, lens.glyphs.replayed, "replay", bold=True)
    time = time_cell(shown.run, current.word, lens.now_ms)
    timed = Span(right(time.text, 6), time.role, time.bold)
    quiet = current.word in QUIET and not replayed
    head = joined(Span(" "), _state_cells(current))
    ident = Span(left(shown.short_id[:4], 4), "muted")
    band = lens.band
    if band is Band.NARROW:
        workflow = Span(
            left(shown.run.workflow, cells - 24, lens.glyphs.ellipsis), _name_role(quiet, selected), selected
        )
        return fitted(joined(head, workflow, Span(" "), timed, Span(" ")), cells)
    if band is Band.WIDE:
        names = _two_columns(shown, cells - 31, lens, quiet=quiet, selected=selected)
        return fitted(joined(head, names, Span("  "), ident, Span("  "), timed, Span(" ")), cells)
    names = _shared_column(shown, cells - _FRAME, lens, quiet=quiet, selected=selected)
    return fitted(joined(head, names, Span(" "), ident, Span("  "), timed, Span(" ")), cells)


def _state_cells(current: State) -> Line:
    """Cells 1 to 15: the glyph and the word, in a chip where a person is needed."""
    text = f" {current.glyph} {current.text} " if current.chip else f" {current.glyph} {current.text}"
    return joined(
        Span(text, current.role, bold=current.bold or current.chip),
        blank(STATE_CELLS + 4 - line_width((Span(text),))),
    )


def _name_role(quiet: bool, selected: bool) -> Role:
    return "strong" if selected else "muted" if quiet else "text"


def _two_columns(shown: ShownRun, cells: int, lens: Lens, *, quiet: bool, selected: bool) -> Line:
    width = WORKFLOW_CELLS[Band.WIDE]
    room = cells - width - 1
    ellipsis = lens.glyphs.ellipsis
    said = note(shown, lens, room) or Span(shown.run.title or "", "muted")
    return joined(
        Span(left(shown.run.workflow, width, ellipsis), _name_role(quiet, selected), selected),
        Span(" "),
        Span(left(said.text, room, ellipsis), said.role),
    )


def _shared_column(shown: ShownRun, cells: int, lens: Lens, *, quiet: bool, selected: bool) -> Line:
    """Workflow and title in one column: the workflow is kept before a title, a wrong note before the workflow."""
    ellipsis = lens.glyphs.ellipsis
    name = Span(shown.run.workflow, _name_role(quiet, selected), selected)
    said = note(shown, lens, cells - line_width((name,)) - 1)
    if said is not None and said.role == "bad":
        said = Span("".join(span.text for span in clipped((said,), max(cells - 6, 1), ellipsis)), "bad")
        room = cells - line_width((said,)) - 1
        return fitted(joined(clipped((name,), max(room, 0), ellipsis), Span(" "), said), cells, ellipsis)
    said = said or Span(shown.run.title or "", "muted")
    head = clipped((name,), cells, ellipsis)
    room = cells - line_width(head) - 1
    if room < 1 or not said.text:
        return fitted(head, cells, ellipsis)
    return fitted(joined(head, Span(" "), clipped((said,), room, ellipsis)), cells, ellipsis)


def _ghost(shown: ShownRun, cells: int, lens: Lens) -> Line:
    """The row whose run left the list while the cursor was on it."""
    text = f"    gone: {shown.gone}  {shown.run.workflow} {shown.run.title or ''}"
    return fitted((Span(text, "muted"),), cells, lens.glyphs.ellipsis)


def no_runs(page: RunsPage) -> tuple[str, str]:
    """What an empty list says, and the muted line below it."""
    if page.everything:
        return "No run matches.", "Esc clears the filter."
    return "No runs yet.", "They appear here the moment one is started."
