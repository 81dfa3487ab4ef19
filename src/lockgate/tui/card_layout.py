"""The card as widgets: from a state and a lens to rows, and which rows give way when there are few."""

import msgspec
from textual.app import ComposeResult
from textual.containers import Vertical

from lockgate.model.statuses import RequestKind
from lockgate.tui.card_state import CardState
from lockgate.tui.widgets.answer_text import AnswerText
from lockgate.tui.widgets.blocks_view import BlocksView
from lockgate.tui.widgets.line_block import LineBlock, show
from lockgate.view.blocks import block_lines
from lockgate.view.card import (
    LEAST_ROWS,
    PADDING,
    Pick,
    boxed,
    button_line,
    card_top,
    card_width,
    choice_lines,
    closed_line,
    draft_head,
    padded,
    picked_lines,
    prompt_lines,
    question_lines,
    read_rule,
    record_band,
    small_card_lines,
    submit_lines,
)
from lockgate.view.cells import EMPTY, Line
from lockgate.view.lens import Lens

TEXT_ROWS = (2, 3, 8)
"""A text area's rows at least, usually, and at most."""
COMFORTABLE_BLOCKS = 8
BLANKS = ("head", "prompt", "button", "top", "rule", "bottom")
"""Where a blank row stands, the most wanted first."""


class Moment(msgspec.Struct, frozen=True):
    """What of the card changes by itself: how long until it is armed, and what it says beside the button."""

    why_not: str = ""
    is_seen: bool = False
    draft: str = ""


def is_too_small(lens: Lens) -> bool:
    """Whether no card has room; of one with much to show, `CardFrame.hides` tells."""
    return lens.too_small or lens.rows < LEAST_ROWS


class CardFrame(Vertical):
    """Top border, question, record, blocks, choices, text, button: in this order, each with its own widget."""

    def __init__(self) -> None:
        super().__init__(id="card-frame")
        self.top = LineBlock(ground="card", id="card-top")
        self.head = LineBlock(ground="card", id="card-head")
        self.band = LineBlock(ground="field", id="card-band")
        self.below_band = LineBlock(ground="card", id="card-below-band")
        self.blocks = BlocksView()
        self.rule = LineBlock(ground="card", id="card-rule")
        self.choices = LineBlock(ground="card", id="card-choices")
        self.prompt = LineBlock(ground="card", id="card-prompt")
        self.text = AnswerText("card-text")
        self.text_row = Vertical(self.text, id="card-text-row")
        self.button = LineBlock(ground="card", id="card-button")
        self.hides = False
        """Whether the card would hide what is decided; it refuses to record then."""
        self._text_height = 0
        self._rule_gap: list[Line] = []

    def compose(self) -> ComposeResult:
        yield self.top
        with Vertical(id="card-body"):
            yield self.head
            yield self.band
            yield self.below_band
            yield self.blocks
            yield self.rule
            yield self.choices
            yield self.prompt
            yield self.text_row
            yield self.button

    def draw(self, state: CardState, lens: Lens, moment: Moment) -> None:
        """Paints the state; what keeps its height is not laid out again."""
        width = card_width(lens)
        self.styles.width = width
        self.set_class(boxed(lens), "-boxed")
        self.set_class(state.is_closed, "-closed")
        cells = width - 2 if boxed(lens) else width
        self.top.show([card_top(state.request, width, lens, decided=state.is_closed)])
        self.hides = is_too_small(lens)
        if self.hides:
            self._draw_small(state, lens)
            return
        parts = self._parts(state, cells, lens, moment)
        # One row is the rule's, and one the blocks'.
        spare = self._rows(lens) - sum(len(part) for part in parts.values()) - 2
        text_rows = self._text_rows(state, moment, spare)
        self.hides = text_rows > spare and not state.is_closed
        if self.hides:
            self._draw_small(state, lens)
            return
        self._place(parts, self._blanks(parts, text_rows, lens), state, text_rows)
        self.blocks.room = self._block_rows(lens)
        self.blocks.glyphs = lens.glyphs
        self.blocks.show_lines(self._block_lines(state, cells, lens))
        self.draw_rule(state, lens, moment)

    def _draw_small(self, state: CardState, lens: Lens) -> None:
        lines = small_card_lines(state.request, lens)
        show(self.head, lines)
        for block in (self.band, self.below_band, self.rule, self.choices, self.prompt, self.button):
            show(block, [])
        self.text_row.display = self.blocks.display = False

    @property
    def text_cells(self) -> int:
        """The cells of a preformatted line: the card's less padding, the bar, a blank, the sign, an ellipsis."""
        return max(1, self.blocks.size.width - 2 * PADDING - 4)

    def _block_lines(self, state: CardState, cells: int, lens: Lens) -> list[Line]:
        request = state.request
        rows = [
            padded(row, cells, lens)
            for row in block_lines(request.blocks, cells - 2 * PADDING, lens, shift=state.shift)
        ]
        if request.kind is not RequestKind.DECISION and not state.is_closed:
            rows += [EMPTY, *submit_lines(request, cells, lens)]
        return rows

    def _parts(self, state: CardState, cells: int, lens: Lens, moment: Moment) -> dict[str, list[Line]]:
        request, choice = state.request, state.choice
        prompt: list[Line] = []
        if state.is_closed:
            button = [closed_line(cells, lens, draft=bool(moment.draft))]
            if moment.draft:
                prompt = [draft_head(len(moment.draft), cells, lens)]
        else:
            label = choice.label if choice is not None and not state.barred else None
            button = [button_line(label, moment.why_not, cells, lens)]
            if choice is not None:
                prompt = picked_lines(choice, request, cells, lens)
            if choice is not None and choice.input is not None:
                prompt += prompt_lines(choice.input, len(state.text), cells, lens)
        band: list[Line] = []
        if state.is_closed:
            band = record_band(
                request,
                cells,
                lens,
                mine=state.mine,
                draft=bool(moment.draft),
                tried_at=state.tried_at,
            )
        return {
            "head": question_lines(request, cells, lens),
            "band": band,
            "choices": choice_lines(request, cells, lens, Pick(state.picked, state.mine)),
            "prompt": prompt,
            "button": button,
        }

    def _text_rows(self, state: CardState, moment: Moment, spare: int) -> int:
        if not (state.takes_text and not state.is_closed) and not (state.is_closed and moment.draft):
            return 0
        least, usual, most = TEXT_ROWS
        return max(min(max(self.text.rows, usual), most, spare), least)

    def _blanks(self, parts: dict[str, list[Line]], text_rows: int, lens: Lens) -> frozenset[str]:
        """Which blank rows stand: as many as leave the blocks a comfortable height."""
        rows = self._rows(lens)
        fixed = sum(len(part) for part in parts.values()) + 1
        spare = rows - fixed - text_rows - COMFORTABLE_BLOCKS
        return frozenset(BLANKS[: max(0, min(spare, len(BLANKS)))])

    @staticmethod
    def _rows(lens: Lens) -> int:
        """Rows inside the card: the screen less header, status line and border, or less rule and status line."""
        return lens.rows - 4 if boxed(lens) else lens.rows - 2

    def _place(self, parts: dict[str, list[Line]], blanks: frozenset[str], state: CardState, text_rows: int) -> None:
        def gap(name: str) -> list[Line]:
            return [EMPTY] if name in blanks else []

        # Blank rows are lines and no margins: a margin would move the siblings on its other side as well.
        show(self.head, [*gap("top"), *parts["head"], *gap("head")])
        show(self.band, parts["band"])
        show(self.below_band, gap("head") if parts["band"] else [])
        keys = [choice.key for choice in state.request.choices]
        picked = keys.index(state.picked) if state.picked in keys and not state.is_closed else None
        show(self.choices, parts["choices"], selected=picked)
        show(self.prompt, [*gap("prompt"), *parts["prompt"]] if parts["prompt"] else [])
        self.text_row.display = bool(text_rows)
        self.blocks.display = True
        if text_rows and self._text_height != text_rows:
            self._text_height = text_rows
            self.text.styles.height = text_rows
        self._rule_gap = gap("rule")
        show(self.button, [*gap("button"), *parts["button"], *gap("bottom")])

    def _block_rows(self, lens: Lens) -> int:
        """The rows that the next layout leaves to the blocks."""
        others = (self.head, self.band, self.below_band, self.choices, self.prompt, self.button)
        taken = sum(len(each.lines) for each in others) + 1 + len(self._rule_gap)
        taken += self._text_height if self.text_row.display else 0
        return max(self._rows(lens) - taken, 1)

    def draw_rule(self, state: CardState, lens: Lens, moment: Moment) -> None:
        """The rule below the blocks: what of them has been on screen."""
        if self.hides:
            return
        cells = card_width(lens) - 2 if boxed(lens) else card_width(lens)
        first, last = self.blocks.scroll_offset.y + 1, self.blocks.last_visible
        total = len(self.blocks.source)
        seen = moment.is_seen and not state.is_closed
        show(self.rule, [*self._rule_gap, read_rule(first, last, total, cells, lens, seen=seen)])

    def draw_button(self, state: CardState, lens: Lens, moment: Moment) -> None:
        """The button alone, as while it is not armed yet."""
        if self.hides or state.is_closed:
            return
        cells = card_width(lens) - 2 if boxed(lens) else card_width(lens)
        label = state.choice.label if state.choice is not None and not state.barred else None
        line = button_line(label, moment.why_not, cells, lens)
        self.button.show([line if each else each for each in self.button.lines])

    def choice_at(self, y: int) -> int | None:
        """The number of the choice in a row of the choices, from 1."""
        return y + 1 if 0 <= y < len(self.choices.lines) else None
