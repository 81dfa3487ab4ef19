"""Pane 4: the selected run in tabs; the tabs stand in the pane's rule."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from lockgate.tui.widgets.line_source import EmptySource
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.pane import Keys, Pane
from lockgate.tui.widgets.steps_tab import StepsTab
from lockgate.tui.widgets.text_source import TextSource, lines_source
from lockgate.tui.widgets.trace_tab import TraceTab
from lockgate.view.cells import EMPTY, Line, Span, blank, joined
from lockgate.view.info import info_lines
from lockgate.view.lens import Lens
from lockgate.view.output import NO_OUTPUT, output_line, output_rule
from lockgate.view.rules import tabs
from lockgate.view.snapshots import ShownDetail, Snapshot
from lockgate.view.steps import steps_rule
from lockgate.view.trace import payload_lines, trace_rule

TABS = ("Trace", "Steps", "Output", "Info")


class DetailPane(Pane):
    """Shows one tab at a time; only the open one asks the feed for data."""

    NUMBER, NAME = 4, "Detail"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "tab(1)", "next tab", id="tab.next"),
        Binding("left", "tab(-1)", "previous tab", id="tab.previous"),
        Binding("m", "more", "more of a large value", id="more"),
    ]

    class TabOpened(Message):
        """Another tab is open: the feed has to read what it shows."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    class MoreWanted(Message):
        """The person asks for more of a value or an output than its first part."""

    class Read(Message):
        """The person opened a text that needs the whole screen."""

        def __init__(self, title: str, lines: list[Line]) -> None:
            super().__init__()
            self.title, self.lines = title, lines

    def __init__(self) -> None:
        self.trace = TraceTab()
        super().__init__("detail", self.trace)
        self.steps = StepsTab()
        self.output = LinesView(id="output")
        self.info = LinesView(id="info")
        self._tab = "Trace"
        self._output_of: str | None = None
        self._detail: ShownDetail | None = None
        self._lens: Lens | None = None

    def compose(self) -> ComposeResult:
        yield self.rule
        yield from self._bodies.values()

    @property
    def _bodies(self) -> dict[str, Widget]:
        return {"Trace": self.trace, "Steps": self.steps, "Output": self.output, "Info": self.info}

    @property
    def tab(self) -> str:
        """The open tab, as an interest names it."""
        return self._tab.lower()

    @property
    def focus_target(self) -> LinesView:
        body = self._bodies[self._tab]
        return self.steps.list if body is self.steps else body  # type: ignore[return-value]

    def on_mount(self) -> None:
        self._show_body()

    def show(self, snapshot: Snapshot, lens: Lens) -> None:
        self._detail, self._lens = snapshot.detail, lens
        if self._detail is None:
            for each in (self.trace, self.steps.list, self.steps.text, self.output, self.info):
                each.show(EmptySource())
        else:
            self._show_tab(self._detail, lens)
        self.paint(snapshot, lens)

    def _show_tab(self, detail: ShownDetail, lens: Lens) -> None:
        if self._tab == "Trace":
            self.trace.show_page(detail.run.run_id, detail.trace, lens)
        elif self._tab == "Steps":
            self.steps.show_detail(detail, lens)
        elif self._tab == "Output":
            self._show_output(detail, lens)
        else:
            width = max(self.size.width, 1)
            lines = info_lines(detail.info, width, lens) if detail.info is not None else []
            self.info.show(lines_source(lines))

    def _show_output(self, detail: ShownDetail, lens: Lens) -> None:
        output = detail.output
        if output is None or not output.lines:
            self.output.show(EmptySource([EMPTY, joined(blank(2), Span(NO_OUTPUT))]))
            return
        if output.attempt_id != self._output_of:
            self._output_of = output.attempt_id
            self.output.forget()
            self.output.following = detail.timeline.ended_at is None
        build = lambda line, width: output_line(line, width, lens)  # noqa: E731
        self.output.show(TextSource(output.lines, build))

    def paint(self, snapshot: Snapshot, lens: Lens) -> None:
        start = tabs(self._tab, focused=self.has_pane_focus, names=TABS)
        self.paint_rule(start, self._rule_end(lens), snapshot, lens)

    def _rule_end(self, lens: Lens) -> Line:
        detail = self._detail
        if detail is None:
            return EMPTY
        if self._tab == "Trace":
            return trace_rule(detail.trace.total, lens)
        if self._tab == "Steps":
            return steps_rule(detail.steps, detail.run.run.steps, lens)
        if self._tab == "Output":
            return output_rule(detail.output, lens)
        return EMPTY

    def tick(self, lens: Lens, *, slow: bool) -> None:
        detail = self._detail
        if detail is not None and self._tab == "Steps" and (slow or detail.timeline.ticking == "worked"):
            self.steps.show_detail(detail, lens)

    # Tabs

    def next_tab(self, step: int = 1) -> None:
        """Opens the tab beside the open one."""
        self.open_tab(TABS[(TABS.index(self._tab) + step) % len(TABS)])

    def open_tab(self, name: str) -> None:
        """Opens a tab by its name."""
        had_focus = self.has_pane_focus
        self._tab = name
        self._show_body()
        if had_focus:
            self.screen.set_focus(self.focus_target, scroll_visible=False)
        self.post_message(self.TabOpened(self.tab))

    def _show_body(self) -> None:
        for name, body in self._bodies.items():
            body.display = name == self._tab

    def action_tab(self, step: int) -> None:
        self.next_tab(step)

    def action_more(self) -> None:
        self.post_message(self.MoreWanted())

    # What follows the newest, what opens

    def follow(self, following: bool) -> None:
        """Keeps the newest event and output line on screen, or stops doing so."""
        self.trace.following = following
        self.output.following = following

    @property
    def following(self) -> bool:
        return self.trace.following

    def open_row(self, row_id: str) -> None:
        """Opens the event or the step under the cursor as a text of its own."""
        detail, lens = self._detail, self._lens
        if detail is None or lens is None:
            return
        cells = max(lens.columns - 6, 1)
        if self._tab == "Trace":
            event = self.trace.event(row_id)
            if event is not None:
                self.post_message(self.Read("Event", payload_lines(event, cells, lens)))
        elif self._tab == "Steps":
            text = self.steps.step_text(detail, cells, lens, rows=10_000)
            self.post_message(self.Read("Step", text))

    def keys(self) -> Keys:
        tab = ("← →", "tabs")
        if self._tab in ("Trace", "Steps"):
            return (("Enter", "open"), tab, ("f", "follow"), ("m", "more"), ("z", "zoom"), ("y", "copy id"))
        return (tab, ("m", "more"), ("f", "follow"), ("z", "zoom"))

    def position(self) -> Line:
        detail = self._detail
        if detail is None:
            return EMPTY
        if self._tab == "Trace":
            total = detail.trace.total
            return self.trace.position() or (Span(f"{self.trace.cursor_index + 1} of {total} events", "muted"),)
        shown = self.focus_target
        total = len(shown.source)
        if self._tab == "Steps" or isinstance(shown.source, EmptySource):
            return EMPTY
        last = min(shown.first_visible + shown.visible_count, total)
        return (Span(f"{last} of {total} lines", "muted"),)
