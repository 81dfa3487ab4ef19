"""What left the queue, and why: its reason is read, said in the status line, and worded on its ghost."""

from typing import TYPE_CHECKING

from lockgate.view.snapshots import Snapshot

if TYPE_CHECKING:
    from lockgate.tui.screens.main import MainScreen

REMEMBERED = 3
"""How many that left at once are told; of more, the last ones."""


class Departures:
    """Compares each snapshot's queue with the one before; reads the record of one request at a time."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self._pending: frozenset[str] = frozenset()
        self._untold: list[str] = []
        self._reading: str | None = None

    def note(self, snapshot: Snapshot) -> None:
        """Looks at a newer snapshot; the queue of the first one is no news."""
        pending = frozenset(each.request_id for each in snapshot.decisions)
        self._untold += sorted(self._pending - pending)
        del self._untold[:-REMEMBERED]
        self._pending = pending
        self._tell(snapshot)
        self._read_next()

    def _tell(self, snapshot: Snapshot) -> None:
        request = snapshot.request
        if request is None or request.is_pending or request.request_id not in self._untold:
            return
        self._untold.remove(request.request_id)
        self._screen.painter.say(self._screen.decisions.tell_gone(request))

    def _read_next(self) -> None:
        """Has the feed read the next record, unless an open card reads its own request."""
        looked = self._screen.interest.request_id
        if looked is not None and looked != self._reading:
            return
        self._reading = self._untold[0] if self._untold else None
        if self._reading != looked:
            self._screen.look(request_id=self._reading)
