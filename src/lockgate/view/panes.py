"""The titles of panes 3 and 4, and the words that stand at the right of their rules."""

from lockgate.model.statuses import Word
from lockgate.model.text import clip
from lockgate.view.cells import EMPTY, Line, Role, Span, joined, line_width
from lockgate.view.lens import Band, Lens
from lockgate.view.rules import title
from lockgate.view.situations import phrase, state
from lockgate.view.snapshots import ShownDetail


def timeline_title(detail: ShownDetail | None, lens: Lens, *, focused: bool, cells: int = 0, end: Line = EMPTY) -> Line:
    """`3 Timeline release 1.4.0 3f9a1c2b`, shorter below 120 columns.

    With the width of the rule and its right end, the name is cut where they would not fit; the id never is.
    """
    if detail is None:
        return title(3, "Timeline", lens, focused=focused)
    run, short = detail.run.run, detail.run.short_id
    usual = lens.band >= Band.USUAL
    ident = Span(f" {short if usual else short[:4]}", "muted")
    name = f"{run.workflow} {run.title}" if run.title and usual else run.workflow
    bare = title(3, "Timeline", lens, focused=focused, rest=(ident,))
    if cells:
        room = cells - 7 - line_width(end) - line_width(bare)
        name = clip(name, max(room, 4), lens.glyphs.ellipsis)
    return title(3, "Timeline", lens, focused=focused, rest=joined(Span(name), ident))


def timeline_state(detail: ShownDetail | None, lens: Lens, *, following: bool) -> Line:
    """`◆ waiting for you  ● follow`: the run's situation in words, and whether the pane follows now."""
    follow = joined(Span(f"{lens.glyphs.live} follow", "accent")) if following else joined(Span("f follows", "muted"))
    if detail is None:
        return EMPTY
    if lens.band is Band.NARROW:
        return follow
    current = state(detail.run.run, lens)
    role: Role = "you" if current.chip else current.role
    words = Span(f"{current.glyph} {phrase(detail.run.run, lens)}", role, bold=current.chip or current.bold)
    return joined(words, Span("  "), follow)


def lost_at(detail: ShownDetail, lens: Lens) -> int | None:
    """The last sign of life of a run that is lost now; None for every other."""
    run = detail.run.run
    if run.claim is None or state(run, lens).word is not Word.LOST:
        return None
    return run.claim.heartbeat_at
