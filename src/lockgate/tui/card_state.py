"""What the card knows of one request: what is picked, what was typed, whether it may record now, and why not."""

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from lockgate.model.statuses import RequestKind
from lockgate.view.snapshots import ShownChoice, ShownRequest


class Phase(StrEnum):
    """`open` takes picks and text, `recording` waits for the store, `closed` is a record."""

    OPEN = "open"
    RECORDING = "recording"
    CLOSED = "closed"


class CardState(msgspec.Struct, frozen=True):
    """`tried_at` is when a press of this card lost, `mine` that a press of it won; `shift` is how many characters
    of preformatted text lie left of the view."""

    request: ShownRequest
    picked: str | None = None
    text: str = ""
    phase: Phase = Phase.OPEN
    mine: bool = False
    tried_at: int | None = None
    shift: int = 0
    barred: str = ""
    """Why nothing can be recorded from here at all; empty where it can."""

    @property
    def choice(self) -> ShownChoice | None:
        return self.request.choice(self.picked)

    @property
    def is_closed(self) -> bool:
        return self.phase is Phase.CLOSED

    @property
    def takes_text(self) -> bool:
        """Whether the picked choice comes with a text."""
        return self.choice is not None and self.choice.input is not None

    def with_request(self, request: ShownRequest) -> "CardState":
        """The same card with a newer reading of its request; one that is not pending any more closes it."""
        closed = not request.is_pending
        phase = Phase.CLOSED if closed and self.phase is Phase.OPEN else self.phase
        if closed and request.resolution is not None:
            phase = Phase.CLOSED
        return replace(self, request=request, phase=phase)

    def why_not(self, *, unread: int, armed_in_ms: float, is_seen: bool) -> str:
        """Why a press would record nothing now; empty when it would. `unread` lines are below the view."""
        if self.barred:
            return self.barred
        if self.request.kind is not RequestKind.DECISION:
            return "answered by lockgate submit"
        if self.request.paused:
            return "the run is paused: it takes no answer"
        if not is_seen:
            return f"read to the end first ({unread} lines)" if unread != 1 else "read to the end first (1 line)"
        if self.picked is None:
            return "pick a choice first"
        wrong = self._text_is_wrong()
        if wrong:
            return wrong
        if armed_in_ms > 0:
            return f"armed in {armed_in_ms / 1000:.1f} s"
        return ""

    def _text_is_wrong(self) -> str:
        choice = self.choice
        if choice is None or choice.input is None:
            return ""
        if len(self.text) < choice.input.min_length:
            return f"{choice.input.min_length} at least"
        if len(self.text) > choice.input.max_length:
            return f"{choice.input.max_length} at most"
        return ""
