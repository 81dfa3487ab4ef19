"""The decision card: shows a request whole, and records one choice by one deliberate press.

The protocol: a digit or an arrow picks; ctrl+s or the button records. Recording is armed some time after the
card opened and after each pick, needs the last line to have been on screen, and takes one press; Enter, a held
key and pasted text record nothing. Escape decides nothing, and what was typed is kept. The card itself runs the
commit, and shows what the store says: its own record, somebody else's, or why it was refused.
"""

import time
from typing import ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from lockgate.model.errors import LockgateError
from lockgate.model.records import Receipt
from lockgate.model.text import clean
from lockgate.tui.card_layout import is_too_small
from lockgate.tui.card_state import CardState, Phase
from lockgate.tui.commit import Commit
from lockgate.tui.guard import Press
from lockgate.tui.hush import RECORD_S
from lockgate.tui.screens.card_view import CardView
from lockgate.tui.widgets.answer_text import AnswerText
from lockgate.view.snapshots import ShownRequest

SIDEWAYS = 16
"""Characters by which preformatted text moves at a key."""

PRESSES = {
    Press.EARLY: "",
    Press.REPEATED: "that was a held key or a paste; press ctrl+s once",
    Press.LATCHED: "",
}


class CardScreen(CardView):
    """One screen for all requests: `begin` gives it the next one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(each), f"pick({each})", f"pick choice {each}", id=f"card.{each}") for each in range(1, 10)),
        Binding("down", "pick_by(1)", "pick the next choice", id="card.down"),
        Binding("up", "pick_by(-1)", "pick the choice before", id="card.up"),
        Binding("ctrl+s", "record", "record", id="card.record", priority=True),
        Binding("pagedown,space", "read(1)", "read on", id="card.page_down"),
        Binding("pageup", "read(-1)", "read back", id="card.page_up"),
        Binding("right", "sideways(1)", "preformatted text further right", id="card.right"),
        Binding("left", "sideways(-1)", "preformatted text back left", id="card.left"),
        Binding("tab", "field", "to the text and back", id="card.field", priority=True),
        Binding("enter", "open_run", "open the run of a record", id="card.open"),
        Binding("y", "copy_draft", "copy the draft of a record", id="card.copy"),
        Binding("escape", "close", "close, decide nothing", id="card.close", priority=True),
    ]

    # Opening and newer readings

    def begin(self, request: ShownRequest) -> None:
        """Takes a request; to be called before the screen is shown."""
        phase = Phase.OPEN if request.is_pending else Phase.CLOSED
        self._state = CardState(request, phase=phase, barred=self.lockgate.why_no_answer)
        self._commit, self._said = None, ""
        self._hush.end()

    def on_screen_resume(self) -> None:
        state = self._state
        if state is None:
            return
        self.set_focus(None)
        self.frame.blocks.begin()
        self.frame.text.read_only = state.is_closed
        self._load_text()
        self._arm()
        self._draw()
        self.call_after_refresh(self._draw)

    def take(self, request: ShownRequest) -> None:
        """Takes a newer reading of the request from the feed."""
        state = self._state
        if state is None or request.request_id != state.request.request_id:
            return
        newer = state.with_request(request)
        if newer == state:
            return
        if newer.is_closed and not state.is_closed:
            self._close_to_record(newer)
        else:
            self._state = newer
            self._draw()

    def _close_to_record(self, state: CardState) -> None:
        """The request was decided: the card becomes its record, and what was typed can only be copied.

        Whoever typed has not seen it yet: the text keeps the focus, and what follows of it does nothing.
        """
        self._keep_typed()
        self._state = state
        text = self.frame.text
        text.read_only = True
        if not text.has_focus:
            self.set_focus(None)
        if not state.mine:
            self._hush.begin(time.monotonic(), RECORD_S)
        self._said = ""
        if state.mine:
            self.lockgate.drafts.drop(state.request.request_id)
        self._load_text()
        self._draw()
        self.call_after_refresh(self._draw)

    # Picking

    def action_pick(self, number: int) -> None:
        state = self._state
        if state is None or state.phase is not Phase.OPEN or number > len(state.request.choices):
            return
        self._pick(state, number, focus_text=True)

    def action_pick_by(self, step: int) -> None:
        state = self._state
        if state is None or state.phase is not Phase.OPEN or not state.request.choices:
            return
        keys = [choice.key for choice in state.request.choices]
        if state.picked is None:
            number = 1 if step > 0 else len(keys)
        else:
            number = min(max(keys.index(state.picked) + 1 + step, 1), len(keys))
        self._pick(state, number, focus_text=False)

    def _pick(self, state: CardState, number: int, *, focus_text: bool) -> None:
        if is_too_small(self.lens()):
            return
        self._state = replace(state, picked=state.request.choices[number - 1].key)
        self._said = ""
        self._load_text()
        self._arm()
        self._draw()
        if focus_text and self._state.takes_text and not self._state.barred:
            self.set_focus(self.frame.text, scroll_visible=False)  # at once: the next key is text already
        else:
            self.set_focus(None)

    def action_field(self) -> None:
        state = self._state
        text = self.frame.text
        if state is not None and state.takes_text and not text.has_focus and not state.is_closed:
            self.set_focus(text, scroll_visible=False)
        else:
            self.set_focus(None)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """A click is judged by when the button came up: the click itself is made only as that is handled."""
        self.arrived(event.time)

    def on_click(self, event: events.Click) -> None:
        frame = self.frame
        if event.widget is frame.choices:
            number = frame.choice_at(event.y)
            if number is not None:
                self.action_pick(number)
        elif event.widget is frame.button and self._is_on_button(event):
            self.action_record()

    def _is_on_button(self, event: events.Click) -> bool:
        """Whether the click is on the words of the button, not on the row around them."""
        lines = self.frame.button.lines
        if not 0 <= event.y < len(lines):
            return False
        cells = 0
        for span in lines[event.y]:
            cells += len(span.text)
            if event.x < cells:
                return span.role in ("button", "field")
        return False

    # The text

    def _load_text(self) -> None:
        state, text = self._state, self.frame.text
        assert state is not None
        if state.is_closed:
            wanted = self._draft_text(state)
        elif state.picked is not None:
            wanted = self.lockgate.drafts.of(state.request.request_id).text(state.picked)
        else:
            wanted = ""
        choice = state.choice
        text.limit = choice.input.max_length if choice is not None and choice.input is not None else 0
        self._state = replace(state, text=wanted)
        if text.text != wanted:
            text.load_text(wanted)
            text.move_cursor(text.document.end)

    @on(TextArea.Changed)
    def _typed(self) -> None:
        if self._keep_typed():
            self._said = ""
            self._draw()

    def _keep_typed(self) -> bool:
        """Keeps what the text holds as the draft of the picked choice; False where it is kept already."""
        state, typed = self._state, self.frame.text.text
        if state is None or state.phase is not Phase.OPEN or not state.takes_text or state.picked is None:
            return False
        if typed == state.text:
            return False
        drafts, request_id = self.lockgate.drafts, state.request.request_id
        drafts.keep(request_id, drafts.of(request_id).with_text(state.picked, typed))
        self._state = replace(state, text=typed)
        return True

    @on(AnswerText.Pasted)
    def _pasted(self, message: AnswerText.Pasted) -> None:
        self.arrived(message.time)

    @on(AnswerText.Cut)
    def _cut(self, message: AnswerText.Cut) -> None:
        characters = "1 character" if message.lost == 1 else f"{message.lost} characters"
        self.say(f"the paste was cut by {characters}: this is all that may be recorded")

    # Recording

    def action_record(self) -> None:
        state = self._state
        if state is None or state.phase is not Phase.OPEN:
            return
        blocks = self.frame.blocks
        why = state.why_not(unread=0, armed_in_ms=0, is_seen=blocks.is_seen)
        if why or state.picked is None or self.frame.hides:
            self._draw_button()
            return
        press = self._guard.press()
        if press is Press.COUNTS:
            self._record(state, state.picked)
        else:
            self.say(PRESSES[press])

    def _record(self, state: CardState, choice: str) -> None:
        text = state.text if state.takes_text else None
        self._said = ""
        self._commit = Commit(state.request, choice, text)
        self._state = replace(state, phase=Phase.RECORDING)
        self.frame.text.read_only = True
        self._draw()
        self.run_worker(self._carry_out(self._commit, state.request), group="commit", exit_on_error=False)

    async def _carry_out(self, commit: Commit, request: ShownRequest) -> None:
        try:
            receipt = await commit.run(self.lockgate.desk, self._draw)
        except LockgateError as error:
            self._reopen(clean(error.message))
            return
        except BaseException:
            self._reopen("it is not known whether this was recorded; look at the record")
            raise
        if receipt is None:
            self._reopen("")
            self.action_close()
        elif self._state is not None and self._state.request.request_id == request.request_id:
            self._take_receipt(self._state, receipt)

    def _take_receipt(self, state: CardState, receipt: Receipt) -> None:
        """What the store said; the record itself comes with the feed's next reading."""
        if receipt.outcome in ("accepted", "adopted"):
            self._state = replace(state, mine=True)
            self.lockgate.drafts.drop(state.request.request_id)
            self._said = "recorded"
        elif receipt.reason in ("already_resolved", "expired", "run_closed"):
            self._state = replace(state, tried_at=receipt.at)
            self._said = f"not recorded: {receipt.reason.replace('_', ' ')}"
        else:
            self._reopen(f"not recorded: {clean(receipt.reason or receipt.outcome).replace('_', ' ')}")
            return
        self.lockgate.refresh_request()
        self._state = self._state.with_request(self._state.request)
        if self._state.is_closed:
            self._close_to_record(self._state)
        self._draw()

    def _reopen(self, why: str) -> None:
        """Nothing was recorded: the card takes picks again, and says why."""
        if self._state is None or self._state.is_closed:
            return
        self._state = replace(self._state, phase=Phase.OPEN)
        self.frame.text.read_only = False
        self._arm()
        self.say(why)

    # Leaving

    def action_read(self, step: int) -> None:
        self.frame.blocks.page(step)

    def action_sideways(self, step: int) -> None:
        """Preformatted text is never wrapped: what is wider than the card is read by moving it."""
        state = self._state
        if state is not None:
            shift = min(max(0, state.shift + step * SIDEWAYS), self._hidden(state))
            self._state = replace(state, shift=shift)
            self._draw()

    def action_open_run(self) -> None:
        state = self._state
        if state is not None and state.is_closed:
            self.dismiss()
            self.lockgate.rest_letters()
            self.lockgate.main.select_run(state.request.run_id)

    def action_copy_draft(self) -> None:
        state = self._state
        if state is not None and (draft := self._draft_text(state)):
            self.lockgate.copy(draft)
        elif state is not None and not state.request.choices and not state.is_closed:
            self.lockgate.copy(f"lockgate submit {state.request.request_id} --output @answer.json")

    def action_close(self) -> None:
        if self._state is not None and self._state.phase is Phase.RECORDING:
            if self._commit is not None:
                self._commit.stop()
            self.say("stops after this try")
        elif self.is_current:
            self.dismiss()
