"""The dashboard on a stage: the scene of the pictures, a feed that shows what it is given, a desk that notes.

Only for what is about keys, layout and painting. What is about the store is tested with a real one.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget

from lockgate.model.errors import LockgateError
from lockgate.model.records import Now, Receipt
from lockgate.tui.app import LockgateApp
from lockgate.tui.options import Options
from lockgate.view.cells import Line, Span, fitted
from lockgate.view.snapshots import Interest, ShownRequest, Snapshot
from tests.view.picture import NOW, ZONE, snapshot


class StagedFeed:
    """Shows the snapshots that a test gives it, and keeps what the screen looked at."""

    def __init__(self) -> None:
        self.looked: list[Interest] = []
        self._snapshots: asyncio.Queue[Snapshot | Exception] = asyncio.Queue()

    @property
    def interest(self) -> Interest:
        return self.looked[-1]

    def look(self, interest: Interest) -> None:
        self.looked.append(interest)

    def give(self, shown: Snapshot | Exception) -> None:
        """What comes next; an exception is raised where the feed is read."""
        self._snapshots.put_nowait(shown)

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        while True:
            shown = await self._snapshots.get()
            if isinstance(shown, Exception):
                raise shown
            yield shown


class StagedDesk:
    """Notes every intent; answers with the receipts (or errors) that a test laid out, else accepts."""

    why_no_answer = ""

    def __init__(self) -> None:
        self.answers: list[tuple[str, str, str | None, str]] = []
        self.acts: list[tuple[str, str]] = []
        self.replies: list[Receipt | LockgateError] = []
        self.hold: asyncio.Event | None = None

    async def answer(self, request: ShownRequest, choice: str, *, text: str | None, key: str) -> Receipt:
        self.answers.append((request.request_id, choice, text, key))
        if self.hold is not None:
            await self.hold.wait()
        return self._reply("answer", request.run_id, key)

    async def pause(self, run_id: str) -> Receipt:
        return self._act("pause", run_id)

    async def resume(self, run_id: str) -> Receipt:
        return self._act("resume", run_id)

    async def cancel(self, run_id: str) -> Receipt:
        return self._act("cancel", run_id)

    async def restart(self, run_id: str, *, expected_revision: int) -> Receipt:
        return self._act("restart", run_id)

    async def start_host(self) -> str:
        self.acts.append(("host", ""))
        return "a host is starting"

    def _act(self, command: str, run_id: str) -> Receipt:
        self.acts.append((command, run_id))
        return self._reply(command, run_id, "key")

    def _reply(self, command: str, run_id: str, key: str) -> Receipt:
        if self.replies:
            reply = self.replies.pop(0)
            if isinstance(reply, LockgateError):
                raise reply
            return reply
        return receipt("accepted", command=command, run_id=run_id, key=key)


def receipt(outcome: str, *, command: str = "answer", run_id: str = "run", key: str = "key", **facts: Any) -> Receipt:
    return Receipt(outcome=outcome, command=command, key=key, run_id=run_id, revision=3, at=NOW.wall_ms, **facts)


class Stage:
    """One dashboard with its pilot."""

    def __init__(self, app: LockgateApp, feed: StagedFeed, desk: StagedDesk, pilot: Pilot[int]) -> None:
        self.app, self.feed, self.desk, self.pilot = app, feed, desk, pilot

    async def give(self, shown: Snapshot) -> None:
        """Shows a snapshot and waits until it is painted."""
        self.app.main.painter.is_urgent = True
        self.feed.give(shown)
        await self.pilot.pause()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Types into the card's text as a terminal sends it, without a pause after each key."""
        for character in text:
            self.app.post_message(events.Key("space" if character == " " else character, character))
        await self.pilot.pause()

    async def resize(self, size: tuple[int, int]) -> None:
        """Gives the terminal another size and waits until it is painted."""
        await self.pilot.resize_terminal(*size)
        await self.pilot.pause()
        await self.pilot.pause()

    @property
    def text(self) -> list[str]:
        return screen_text(self.app)

    def says(self, words: str) -> bool:
        return any(words in row for row in self.text)


def screen_text(app: LockgateApp) -> list[str]:
    """The rows of the screen as text, as a terminal would show them."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return [strip.crop(0, width).text.rstrip() for strip in strips[:height]]


@asynccontextmanager
async def on_stage(
    size: tuple[int, int] = (120, 40), *, shown: Snapshot | None = None, now: Now = NOW, **options: Any
) -> AsyncIterator[Stage]:
    """The dashboard on the scene of the pictures, painted once."""
    feed, desk = StagedFeed(), StagedDesk()
    app = LockgateApp(feed, desk, lambda: now, Options(zone=ZONE, **options))  # type: ignore[arg-type]
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        stage = Stage(app, feed, desk, pilot)
        await stage.give(shown or snapshot())
        yield stage


def with_request(shown: Snapshot, request: ShownRequest) -> Snapshot:
    """The snapshot in which the open card's request is read as `request`."""
    pending = tuple(each for each in shown.decisions if each.request_id != request.request_id)
    queue = (request, *pending) if request.is_pending else pending
    return replace(shown, decisions=queue, request=request)


class Words:
    """A source of rows, each with one word; for lists alone."""

    row_height = 1

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = list(ids)

    def __len__(self) -> int:
        return len(self._ids)

    def id_at(self, index: int) -> str | None:
        return self._ids[index]

    def index_of(self, row_id: str) -> int | None:
        return self._ids.index(row_id) if row_id in self._ids else None

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        return (fitted((Span("  "), Span(self._ids[index], "strong" if selected else "text")), width),)


def widget_text(widget: Widget) -> list[str]:
    """The rows of one widget as text."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]
