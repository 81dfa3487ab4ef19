"""The Steps tab: the finished attempts, and beside them what the one under the cursor read and wrote."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from lockgate.tui.widgets.line_block import LineBlock
from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.line_source import EmptySource
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.text_source import lines_source
from lockgate.view.cells import EMPTY, Line, Span, blank, joined
from lockgate.view.lens import Lens
from lockgate.view.snapshots import ShownDetail, ShownStep
from lockgate.view.steps import (
    LIST_CELLS,
    NO_STEPS,
    SPLIT_CELLS,
    not_finished,
    step_line,
    step_lines,
    steps_head,
)


class StepsSource:
    """Steps in order, a heading, then the attempts that are not finished."""

    row_height = 1

    def __init__(self, steps: Sequence[ShownStep], lens: Lens) -> None:
        finished = [step for step in steps if step.index is not None]
        others = [step for step in steps if step.index is None]
        heading: list[None] = [None, None] if others and finished else [None] if others else []
        self._rows: list[ShownStep | None] = [*finished, *heading, *others]
        self._heading = len(finished) + len(heading) - 1 if others else -1
        self._lens = lens
        self._places = {step.attempt.attempt_id: at for at, step in enumerate(self._rows) if step}

    def __len__(self) -> int:
        return len(self._rows)

    def id_at(self, index: int) -> str | None:
        step = self._rows[index]
        return step.attempt.attempt_id if step else None

    def index_of(self, row_id: str) -> int | None:
        return self._places.get(row_id)

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        step = self._rows[index]
        if step is not None:
            return (step_line(step, self._lens, selected=selected, cells=width),)
        return (not_finished(self._lens) if index == self._heading else EMPTY,)


class StepsTab(Horizontal):
    """The list, and the step's values where there is room for both."""

    def __init__(self) -> None:
        super().__init__(id="steps-tab")
        self._head = LineBlock(classes="head")
        self.list = LineList(id="steps", from_end=True)
        self.text = LinesView(id="step-text")
        self._side = Vertical(id="steps-side")
        self._run_id: str | None = None
        self._shown: tuple[ShownStep, ...] = ()

    def compose(self) -> ComposeResult:
        with self._side:
            yield self._head
            yield self.list
        yield self.text

    def show_detail(self, detail: ShownDetail, lens: Lens) -> None:
        """Shows the steps of a run and the values of the one under the cursor."""
        if detail.run.run_id != self._run_id:
            self._run_id = detail.run.run_id
            self.list.forget()
        self._shown = detail.steps
        split = self.is_split
        self._side.styles.width = LIST_CELLS if split else "1fr"
        self.text.display = split
        head = steps_head(lens)
        self._head.display = bool(head) and bool(detail.steps)
        self._head.show([head])
        if not detail.steps:
            self.list.show(EmptySource([EMPTY, joined(blank(2), Span(NO_STEPS))]))
            self.text.show(EmptySource())
            return
        if detail.step is not None and not self.list.has_focus:
            self.list.select(detail.step.attempt_id)
        self.list.show(StepsSource(detail.steps, lens))
        if split:
            self.text.show(lines_source(self.step_text(detail, self.text.size.width - 1, lens, 12)))

    @property
    def is_split(self) -> bool:
        """Whether the values stand beside the list; else Enter opens them."""
        return self.size.width >= SPLIT_CELLS - 40 and self.app.size.width >= SPLIT_CELLS

    def step_text(self, detail: ShownDetail, cells: int, lens: Lens, rows: int) -> list[Line]:
        """The values of the step under the cursor, `rows` of each."""
        chosen = self.list.cursor_id or (detail.step.attempt_id if detail.step else None)
        step = next((each for each in detail.steps if each.attempt.attempt_id == chosen), None)
        return [] if step is None else step_lines(step, detail.step, max(cells, 1), lens, rows)
