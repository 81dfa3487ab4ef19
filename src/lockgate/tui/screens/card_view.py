"""The card as it is seen: paints a state, follows the newer readings of its request, and counts down.

What may be done on it, and when, is the `CardScreen`'s, which is built on this.
"""

import time
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.timer import Timer

from lockgate.tui.card_layout import CardFrame, Moment
from lockgate.tui.card_state import CardState, Phase
from lockgate.tui.commit import Commit
from lockgate.tui.guard import Guard
from lockgate.tui.hush import Hush
from lockgate.tui.widgets.blocks_view import BlocksView
from lockgate.tui.widgets.line_block import LineBlock
from lockgate.view.blocks import widest
from lockgate.view.cells import Line, Span
from lockgate.view.header import status_line
from lockgate.view.lens import Lens

if TYPE_CHECKING:
    from lockgate.tui.app import LockgateApp


RECORD_KEYS = frozenset(("escape", "y", "up", "down", "left", "right", "pageup", "pagedown", "home", "end", "ctrl+c"))
"""What acts on a record from its first moment; everything else may still be meant for the text."""


class CardView(ModalScreen[None]):
    """The frame of the card and its own status line."""

    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.frame = CardFrame()
        self._status = LineBlock(ground="surface", id="card-status")
        self._guard = Guard(lambda: time.monotonic() * 1000)
        self._hush = Hush()
        self._state: CardState | None = None
        self._commit: Commit | None = None
        self._arming: Timer | None = None
        self._said = ""

    def compose(self) -> ComposeResult:
        yield self.frame
        yield self._status

    @property
    def lockgate(self) -> "LockgateApp":
        return cast("LockgateApp", self.app)

    @property
    def state(self) -> CardState | None:
        """What the card shows now; None before the first request."""
        return self._state

    def on_mount(self) -> None:
        self._arming = self.set_interval(0.1, self._draw_button)
        self.set_interval(1.0, self._tick)

    def lens(self) -> Lens:
        return self.lockgate.main.lens()

    def say(self, text: str) -> None:
        """Says something at the right end of the status line, until something else happens."""
        self._said = text
        self._draw()

    def on_resize(self) -> None:
        self._draw()
        self.call_after_refresh(self._draw)

    def arrived(self, at: float) -> None:
        """Notes when a key, a paste or a click came in, before it acts; in seconds of the monotonic clock."""
        self._guard.arrived(at * 1000)

    def swallows(self, event: events.Key) -> bool:
        """Whether the key is typing that goes on though the card has become a record."""
        if self._state is None or not self._state.is_closed or event.key in RECORD_KEYS:
            return False
        if not self._hush.covers(event.time):
            return False
        self._hush.prolong(event.time)
        self._say_once("a record now: esc closes it")
        return True

    def _say_once(self, text: str) -> None:
        if self._said != text:
            self.say(text)

    async def on_event(self, event: events.Event) -> None:
        """Acts on keys one after the other: what follows a pick in a burst is text of the pick."""
        if isinstance(event, events.Key) and self.app.screen_stack:  # empty while the app ends
            if self.swallows(event):
                event.stop()
                return
            if self.focused is None:
                if await self.app._check_bindings(event.key):
                    return
            elif self.focused.check_consume_key(event.key, event.character):
                self.focused.post_message(event)
                return
        await super().on_event(event)

    @on(BlocksView.Read)
    def _blocks_read(self) -> None:
        if self._state is not None and self.is_current:
            lens, moment = self.lens(), self._moment(self._state)
            self.frame.draw_rule(self._state, lens, moment)
            self.frame.draw_button(self._state, lens, moment)

    def _arm(self) -> None:
        """Nothing can be recorded for a while; the button counts down."""
        self._guard.arm()
        if self._arming is not None:
            self._arming.resume()

    def _moment(self, state: CardState) -> Moment:
        return Moment(self._why_not(state), self.frame.blocks.is_seen, draft=self._draft_text(state))

    def _why_not(self, state: CardState) -> str:
        if state.phase is Phase.RECORDING:
            locked = self._commit.locked_s if self._commit is not None else None
            return "recording" if locked is None else f"recording, store is locked {locked} s"
        blocks = self.frame.blocks
        unread = len(blocks.source) - blocks.last_visible
        return state.why_not(unread=unread, armed_in_ms=self._guard.left_ms, is_seen=blocks.is_seen)

    def _draft_text(self, state: CardState) -> str:
        """What was typed and can no longer be recorded."""
        if not state.is_closed or state.mine:
            return ""
        return self.lockgate.drafts.of(state.request.request_id).newest

    def _draw(self) -> None:
        state = self._state
        if state is None or not self.is_attached or not self.is_current:
            return
        lens = self.lens()
        with self.app.batch_update():
            self.frame.draw(state, lens, self._moment(state))
            self._draw_status(state, lens)

    def _draw_button(self) -> None:
        """While it is not armed the button counts down; otherwise nothing moves."""
        state = self._state
        if state is None or not self.is_current:
            return
        if self._guard.left_ms == 0 and self._arming is not None:
            self._arming.pause()
        lens = self.lens()
        self.frame.draw_button(state, lens, self._moment(state))

    def _tick(self) -> None:
        """Once a second: the time left, and how long the store has been locked."""
        if self._state is not None and self.is_current and not self._state.is_closed:
            self._draw()

    def _draw_status(self, state: CardState, lens: Lens) -> None:
        if state.is_closed:
            keys = [("Enter", "open the run"), ("esc", "close")]
            if self._draft_text(state):
                keys.insert(0, ("y", "copy the draft"))
        elif not state.request.choices:
            keys = [("PgDn", "read on"), ("y", "copy the command"), ("esc", "close")]
        else:
            count = len(state.request.choices)
            pick = f"1-{count}" if count > 1 else "1"
            keys = [(pick, "pick"), ("ctrl+s", "record"), ("PgDn", "read on"), ("Tab", "text"), ("esc", "close")]
            if self._hidden(state):
                keys.insert(3, ("← →", "sideways"))
        self._status.show([status_line(keys, self._notice(state), lens)])

    def _hidden(self, state: CardState) -> int:
        """How many characters of the widest preformatted line do not fit beside the others."""
        return max(0, widest(state.request.blocks) - self.frame.text_cells)

    def _notice(self, state: CardState) -> Line:
        """The right end of the status line: what was just said, else whether there is a draft."""
        if self._said:
            return (Span(self._said),)
        kept = bool(self.lockgate.drafts.of(state.request.request_id).texts)
        return (Span("draft kept", "muted"),) if kept else ()
