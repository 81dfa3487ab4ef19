"""What reaches a person who looks elsewhere: the window title, and a bell for a new decision or a late one."""

from textual.app import App

from lockgate.model.statuses import RequestKind
from lockgate.tui import terminal
from lockgate.view.snapshots import ShownRequest, Snapshot


class Notices:
    """Rings once for each decision that arrives, and once when a tenth of its time is left."""

    def __init__(self, app: App[int], *, bell: bool = True) -> None:
        self._app = app
        self._bell = bell
        self._seen: set[str] | None = None
        self._urgent: set[str] = set()
        self.shown_title = ""
        """The window title that was written last."""

    def note(self, snapshot: Snapshot) -> None:
        """Looks at a newer snapshot; the decisions of the first one are no news."""
        waiting = {each.request_id for each in snapshot.decisions if _is_for_people(each)}
        if self._seen is not None and waiting - self._seen:
            self._ring()
        self._seen = waiting | (self._seen or set())
        self._urgent &= waiting
        self.title(snapshot.counts.need_you)

    def watch(self, snapshot: Snapshot, now_ms: int) -> None:
        """Looks at the time left, once a second."""
        late = {
            each.request_id
            for each in snapshot.decisions
            if _is_for_people(each) and each.is_urgent(now_ms) and not each.is_overdue(now_ms)
        }
        if late - self._urgent:
            self._ring()
        self._urgent |= late

    def title(self, waiting: int) -> None:
        """`2! lockgate` while two things wait."""
        title = f"{waiting}! lockgate" if waiting else "lockgate"
        if title != self.shown_title:
            self.shown_title = title
            terminal.write_title(self._app, title)

    def _ring(self) -> None:
        if self._bell:
            self._app.bell()


def _is_for_people(request: ShownRequest) -> bool:
    return request.kind is not RequestKind.AGENT and request.is_pending
