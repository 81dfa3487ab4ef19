"""The main screen: the four panes, what the person looks at, and what they ask for.

It owns the interest (what the feed reads). Painting is the `Painter`'s; what the keys ask of a run goes to
`Acts`, and the result of an act is never assumed: it is seen in a later snapshot.
"""

import time
from typing import TYPE_CHECKING, Any, ClassVar, cast

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer

from lockgate.tui.acts import Acts
from lockgate.tui.departures import Departures
from lockgate.tui.layout import fit
from lockgate.tui.painter import Painter
from lockgate.tui.widgets.decisions_pane import DecisionsPane
from lockgate.tui.widgets.detail_pane import DetailPane
from lockgate.tui.widgets.filter_row import FilterRow
from lockgate.tui.widgets.line_block import LineBlock
from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.pane import Pane
from lockgate.tui.widgets.runs_pane import RunsPane
from lockgate.tui.widgets.timeline_pane import TimelinePane
from lockgate.view.lens import Band, Lens
from lockgate.view.snapshots import Interest

if TYPE_CHECKING:
    from lockgate.tui.app import LockgateApp

HURRY_S = 0.25
"""Moves closer together than this are one movement."""
REST_S = 0.2
SORTS = ("created", "state", "workflow", "title", "time")
LEAST_ROWS_READ = 80


class MainScreen(Screen[None]):
    """Header, banners, panes, status line."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(each), f"pane({each})", f"go to pane {each}", id=f"pane.{each}") for each in range(1, 5)),
        Binding("tab", "next_pane(1)", "next pane", id="pane.next"),
        Binding("shift+tab", "next_pane(-1)", "previous pane", id="pane.previous"),
        Binding("z", "zoom", "zoom the pane", id="pane.zoom"),
        Binding("d", "decide", "decide", id="decide"),
        Binding("D", "decided", "what was decided", id="decided"),
        Binding("slash", "filter", "filter", id="filter"),
        Binding("n", "match(1)", "next match", id="match.next"),
        Binding("N", "match(-1)", "previous match", id="match.previous"),
        Binding("s", "sort", "sort by another column", id="sort"),
        Binding("f", "follow", "follow the newest", id="follow"),
        Binding("escape", "back", "back", id="back"),
        Binding("p", "act('pause')", "pause", id="run.pause"),
        Binding("r", "act('resume')", "resume", id="run.resume"),
        Binding("x", "act('cancel')", "cancel, asks first", id="run.cancel"),
        Binding("R", "act('restart')", "restart, asks first", id="run.restart"),
        Binding("y", "copy_id", "copy the id", id="copy.id"),
        Binding("Y", "copy_json", "copy as JSON", id="copy.json"),
        Binding("o", "output", "output in $PAGER", id="output"),
        Binding("H", "host", "start a host", id="host"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.header = LineBlock(ground="surface", id="header")
        self.banners = LineBlock(ground="surface", id="banners")
        self.strip = LineBlock(id="strip")
        self.runs, self.decisions = RunsPane(), DecisionsPane()
        self.timeline, self.detail = TimelinePane(), DetailPane()
        self.filter_row = FilterRow()
        self.status = LineBlock(ground="surface", id="status")
        self.too_small = LineBlock(id="too-small")
        self.interest = Interest()
        self.number = 1
        self.selected: str | None = None
        """The run that the person chose; the interest follows when the cursor rests."""
        self._selected_at = float("-inf")
        self._rest: Timer | None = None
        self.painter = Painter(self)
        self.acts = Acts(self)
        self.departures = Departures(self)

    @property
    def lockgate(self) -> "LockgateApp":
        return cast("LockgateApp", self.app)

    @property
    def panes(self) -> tuple[Pane, ...]:
        return (self.runs, self.decisions, self.timeline, self.detail)

    @property
    def pane(self) -> Pane:
        """The pane that has the focus, or had it last."""
        return self.panes[self.number - 1]

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.banners
        yield self.strip
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield self.runs
                yield self.decisions
            with Vertical(id="right"):
                yield self.timeline
                yield self.detail
        yield self.too_small
        yield self.filter_row
        yield self.status

    def on_mount(self) -> None:
        wanted = self.lockgate.options.run_id
        if wanted is not None:
            self.selected = wanted
            self.runs.list.aim(wanted)
            self.look(run_id=wanted)
        self.action_pane(1)

    def lens(self) -> Lens:
        """The screen as it is now."""
        options = self.lockgate.options
        width, height = self.app.size
        return Lens(self.lockgate.now(), width, height, options.glyphs, options.zone)

    def look(self, **changes: Any) -> None:
        """Looks at something else; the next snapshot answers it and is painted at once."""
        interest = replace(self.interest, **changes)
        if interest != self.interest:
            self.interest, self.painter.is_urgent = interest, True
            self.lockgate.feed.look(interest)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """On a terminal that is too small to say anything true, nothing is done either."""
        return not self.lens().too_small

    # Sizes and panes

    def on_resize(self) -> None:
        self.call_after_refresh(self.painter.paint)

    def on_screen_suspend(self) -> None:
        self._quieten(True)

    def on_screen_resume(self) -> None:
        self._quieten(False)
        self.call_after_refresh(self.painter.paint)

    def _quieten(self, covered: bool) -> None:
        """Behind another screen everything is quiet: one colour, no fills."""
        self.set_class(covered, "-covered")
        for widget in self.query("LineBlock, LinesView"):
            widget.refresh()

    @on(Pane.Fitted)
    def _pane_fitted(self, message: Pane.Fitted) -> None:
        self.painter.paint_pane(message.pane)

    def _fit(self) -> None:
        fit(self, self, self.number, self.lens(), self.painter.snapshot)

    def action_pane(self, number: int) -> None:
        if number == self.number == self.detail.NUMBER:
            self.detail.next_tab()
        self.number = number
        self._fit()
        # At once: the next key of a burst belongs to this pane already.
        self.set_focus(self.pane.focus_target, scroll_visible=False)
        self.painter.paint_focus()

    def action_next_pane(self, step: int) -> None:
        self.action_pane((self.number - 1 + step) % len(self.panes) + 1)

    def action_zoom(self) -> None:
        self.toggle_class("-zoomed")
        self._fit()
        self.call_after_refresh(self.painter.paint)

    def action_back(self) -> None:
        if self.has_class("-zoomed"):
            self.action_zoom()
        elif self.decisions.decided and self.number == 2:
            self.action_decided()
        elif self.interest.filter and self.number == 1:
            self.look(filter="", first=0)
        else:
            self.action_pane(1)

    def on_descendant_focus(self) -> None:
        focused = next((pane for pane in self.panes if pane.has_pane_focus), None)
        if focused is not None and self.number != focused.NUMBER:
            self.number = focused.NUMBER
            self._fit()
        self.painter.paint_focus()

    # The cursor

    @on(LineList.Moved)
    def _moved(self, message: LineList.Moved) -> None:
        if message.list is self.runs.list:
            # The list's own first row is taken where nothing was chosen yet, by a key or by --run.
            if message.by_person or self.selected is None:
                self.select_run(message.row_id)
        elif message.list is self.decisions.list and message.by_person:
            request = self.decisions.request(message.row_id)
            self.select_run(request.run_id if request else None)
        elif message.list is self.timeline.list and message.by_person:
            self.look(attempt_id=message.row_id)
            self.timeline.cursor_moved()
        elif message.list is self.detail.steps.list and message.by_person:
            self.look(attempt_id=message.row_id)
        self.painter.paint_status(self.lens())

    def select_run(self, run_id: str | None) -> None:
        """Shows another run in panes 3 and 4; None, a ghost, leaves what is there.

        While the cursor runs on, its run is not read: the keys are painted, the panes follow when it rests.
        """
        if run_id is None or run_id == self.selected:
            return
        now = time.monotonic()
        hurried, self._selected_at = now - self._selected_at < HURRY_S, now
        self.selected = run_id
        self.runs.list.select(run_id)
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST_S, self._read_selected) if hurried else None
        if not hurried:
            self._read_selected()

    def _read_selected(self) -> None:
        self.look(run_id=self.selected, attempt_id=None, trace_first=None, more=0)

    @on(LinesView.Scrolled)
    def _scrolled(self, message: LinesView.Scrolled) -> None:
        if message.list is self.runs.list:
            self._read_around(message.first, message.count)
        elif message.list is self.detail.trace:
            self.look(trace_first=self.detail.trace.window())
        self.painter.paint_status(self.lens())

    def _read_around(self, first: int, count: int) -> None:
        """Has the feed read the page on screen and one beyond it at either side."""
        have, until = self.interest.first, self.interest.first + self.interest.count
        if first < have or first + count > until or (have and first - have < count // 4):
            self.look(first=max(0, first - count), count=max(LEAST_ROWS_READ, 3 * count))

    @on(LineList.Opened)
    def _opened(self, message: LineList.Opened) -> None:
        if message.list is self.runs.list:
            self.action_pane(3 if self.lens().band is Band.ONE_PANE else 4)
        elif message.list is self.decisions.list:
            self.action_decide()
        elif message.list is self.timeline.list:
            self.detail.open_tab("Steps")
            self.action_pane(4)
        else:
            self.detail.open_row(message.row_id)

    @on(DetailPane.TabOpened)
    def _tab_opened(self, message: DetailPane.TabOpened) -> None:
        self.look(tab=message.tab)
        self.painter.paint()

    @on(DetailPane.MoreWanted)
    def _more_wanted(self) -> None:
        self.look(more=self.interest.more + 1)

    @on(DetailPane.Read)
    def _read(self, message: DetailPane.Read) -> None:
        self.lockgate.read(message.title, message.lines)

    # Filter, sort, follow

    def action_filter(self) -> None:
        self.filter_row.open(self.interest.filter)

    @on(FilterRow.Changed)
    def _filter(self, message: FilterRow.Changed) -> None:
        self.look(filter=message.text, first=0)
        if message.kept:
            self.filter_row.close()
            self.action_pane(1)

    def action_match(self, step: int) -> None:
        self.runs.list.action_move(step)

    def action_sort(self) -> None:
        current = self.interest
        if current.descending:
            self.look(descending=False, first=0)
        else:
            following = SORTS[(SORTS.index(current.sort) + 1) % len(SORTS)]
            self.look(sort=following, descending=True, first=0)

    def action_follow(self) -> None:
        following = not (self.detail.following and self.timeline.following)
        self.detail.follow(following)
        self.timeline.follow(following)
        self.look(trace_first=self.detail.trace.window())
        self.painter.paint()

    def action_decided(self) -> None:
        self.decisions.decided = not self.decisions.decided
        self.decisions.list.forget()
        self.look(decided=self.decisions.decided)
        self.action_pane(2)
        self.painter.paint()

    # What is asked of a run

    def action_decide(self) -> None:
        self.acts.decide()

    def action_act(self, what: str) -> None:
        self.acts.ask(what)

    def action_output(self) -> None:
        self.acts.open_output()

    def action_host(self) -> None:
        self.acts.start_host()

    def action_copy_id(self) -> None:
        self.acts.copy_id()

    def action_copy_json(self) -> None:
        self.acts.copy_json()
