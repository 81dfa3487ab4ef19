"""What the four panes have in common: one rule on top, a list that takes the focus, and keys of their own."""

from collections.abc import Sequence
from typing import ClassVar

from textual.containers import Vertical
from textual.message import Message

from lockgate.tui.widgets.line_block import LineBlock
from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.view.cells import EMPTY, Line
from lockgate.view.lens import Lens
from lockgate.view.rules import Mood, pane_rule
from lockgate.view.snapshots import Snapshot
from lockgate.view.times import second

Keys = Sequence[tuple[str, str]]
"""What the status line offers: the keys as they are written, and what they do."""


class Pane(Vertical):
    """A pane shows its part of a snapshot; it is told the snapshot and the lens, and asks nobody for data."""

    NUMBER: ClassVar[int]
    NAME: ClassVar[str]

    class Fitted(Message):
        """The pane has another size: what it drew does not fit any more."""

        def __init__(self, pane: "Pane") -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, id: str, list: LineList) -> None:
        super().__init__(id=id)
        self.rule = LineBlock(classes="rule")
        self.list = list
        self.fixed_height = ""

    def on_resize(self) -> None:
        self.post_message(self.Fitted(self))

    @property
    def focus_target(self) -> LinesView:
        """The list that the keys go to while this pane has the focus."""
        return self.list

    def show(self, snapshot: Snapshot, lens: Lens) -> None:
        """Shows a newer snapshot, or the same one at another moment or size."""
        raise NotImplementedError

    def paint(self, snapshot: Snapshot, lens: Lens) -> None:
        """Draws the rule: all that changes when only the focus moved."""
        raise NotImplementedError

    def tick(self, lens: Lens, *, slow: bool) -> None:
        """Paints again what moves with time alone: once a second what runs, and when `slow` what waits too."""

    def keys(self) -> Keys:
        """The pane's own keys, the most wanted first."""
        raise NotImplementedError

    def position(self) -> Line:
        """Where the person is in the list: the right end of the status line."""
        return EMPTY

    def paint_rule(self, start: Line, end: Line, snapshot: Snapshot, lens: Lens, mood: Mood = "calm") -> None:
        """Draws the rule; stale data takes its right end."""
        self.focus_target.bar = lens.glyphs.cursor
        as_of = ""
        if not snapshot.store.state.is_live:
            mood, as_of = "stale", second(snapshot.store.as_of, lens.zone)
        width = self.size.width
        rule = pane_rule(start, end, width, lens, mood=mood, focused=self.has_pane_focus, as_of=as_of)
        self.rule.show([rule])

    @property
    def has_pane_focus(self) -> bool:
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors
