"""A run followed from outside: its events as they come, until it is over. Needs no host, and says so."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lockgate.cli.call import Call
from lockgate.cli.exits import NOT_COMPLETED, OK
from lockgate.flow.words import waiting_for, word
from lockgate.model.ids import short_id
from lockgate.model.records import EventView, Run
from lockgate.model.statuses import RunStatus, Word
from lockgate.model.text import clean
from lockgate.view.times import milli

if TYPE_CHECKING:
    from lockgate.store.shell import Store

PAGE = 500
ENDINGS = frozenset({"run_completed", "run_failed", "run_timed_out", "run_cancelled", "run_pruned"})
_PATIENCE_SECONDS = 1.0
"""How long a run may wait for a host before that is worth a word: a host that is there takes it within moments."""

OnEvent = Callable[[EventView], None]


def read_events(call: Call, run_id: str, after: int) -> Sequence[EventView]:
    """All events of a run after a sequence number."""
    from lockgate.store import reads

    def read(connection: Any) -> list[EventView]:
        found: list[EventView] = []
        seq = after
        while page := reads.events(connection, run_id, after=seq, limit=PAGE):
            found += page
            seq = page[-1].seq
        return found

    return call.read(read)


def print_event(call: Call, event: EventView) -> None:
    """One JSON document on a line, or one row of text."""
    if call.as_json:
        from lockgate.view.documents import event_document

        call.document(event_document(event))
        return
    from lockgate.view.events import shown_event

    shown = shown_event(event)
    stamp = milli(shown.at, call.zone)
    call.say(clean(f"{stamp} {shown.seq:>4}  {shown.type:<20} {shown.subject:<12} {shown.detail}").rstrip())


def follow_events(call: Call, run_id: str, after: int) -> Run | None:
    """Prints events until the one that ends the run, and gives the run as it then is; None once it is pruned."""
    return asyncio.run(_Follower(call, run_id, after, lambda event: print_event(call, event)).go())


def wait_for(call: Call, run_id: str, timeout: float | None) -> int:
    """Waits in silence (but for what the run waits for), then prints the run; the exit code says if it completed."""
    follower = _Follower(call, run_id, 0, lambda event: None)
    try:
        run = asyncio.run(asyncio.wait_for(follower.go(), timeout))
    except TimeoutError:
        call.tell(f"{short_id(run_id)} is not over after {timeout:g} s")
        return NOT_COMPLETED
    if run is not None:
        _print_result(call, run)
    return exit_code(run)


def exit_code(run: Run | None) -> int:
    """Whether the run completed; of a pruned one nobody knows."""
    return OK if run is not None and run.status is RunStatus.COMPLETED else NOT_COMPLETED


def _print_result(call: Call, run: Run) -> None:
    from lockgate.cli.listing import read_show
    from lockgate.cli.showing import show_text
    from lockgate.view.documents import show_document

    detail, value = read_show(call, run.run_id)
    if call.as_json:
        call.document(show_document(detail, call.now(), value))
    else:
        call.say(show_text(detail, call.lens(), value))


class _Follower:
    """Reads a run's events at each wake, and says once for each reason what the run waits for."""

    def __init__(self, call: Call, run_id: str, after: int, on_event: OnEvent) -> None:
        self._call, self._run_id, self._seq, self._on_event = call, run_id, after, on_event
        self._said: set[str] = set()
        self._waits_for_host = False

    async def go(self) -> Run | None:
        """Follows to the end; the run as it then is, None if it was pruned."""
        from lockgate.store import reads
        from lockgate.store.shell import open_store

        async with open_store(self._call.db, read_only=True) as store:
            wakes = store.follow(await store.read(reads.latest_event_seq))
            wake: asyncio.Future[Any] | None = None
            try:
                while not await self._read(store):
                    if wake is None:
                        wake = asyncio.ensure_future(anext(wakes))
                    # A tick without a change too: leases and deadlines pass by the clock alone.
                    done, _ = await asyncio.wait({wake}, timeout=_PATIENCE_SECONDS)
                    if done:
                        wake.result()
                        wake = None
            finally:
                # The generator owns a connection with a thread: it is closed here, while the loop still runs.
                if wake is not None:
                    wake.cancel()
                    with suppress(asyncio.CancelledError):
                        await wake
                await wakes.aclose()
            return await self._run(store)

    async def _run(self, store: "Store") -> Run | None:
        from lockgate.store import reads

        found = await store.read(lambda connection: reads.runs_by_id(connection, [self._run_id]))
        return found[0] if found else None

    async def _read(self, store: "Store") -> bool:
        """Hands on what is new; whether the run is over."""
        from lockgate.store import reads

        while True:
            page = await store.read(lambda c: reads.events(c, self._run_id, after=self._seq, limit=PAGE))
            for event in page:
                self._seq = event.seq
                self._on_event(event)
                if event.type in ENDINGS:
                    return True
            if len(page) < PAGE:
                break
        run = await self._run(store)
        if run is None or run.status.is_terminal:
            return True
        self._say_why(run)
        return False

    def _say_why(self, run: Run) -> None:
        now = self._call.now()
        reason = waiting_for(run, now)
        patient = reason == "host" and not self._waits_for_host
        self._waits_for_host = reason == "host"
        sentence = None if patient else _reason(run, reason, word(run, now))
        if sentence is not None and sentence not in self._said:
            self._said.add(sentence)
            self._call.tell(f"{short_id(run.run_id)} {sentence}")


def _reason(run: Run, reason: str | None, name: Word) -> str | None:
    short = short_id(run.run_id)
    if name is Word.PAUSED:
        return f"is paused: lockgate resume {short}"
    if reason == "effect":
        return f"waits for a word about an effect: lockgate effects {short}"
    if name is Word.BLOCKED:
        return f"is blocked, {run.error_code}: lockgate show {short}"
    if name is Word.OVERDUE:
        return "waits for a host to take the default of its decision: lockgate host"
    if reason == "person":
        return f"waits for a person: lockgate answer {short} CHOICE"
    if reason in ("input", "agent"):
        return f"waits for {reason}: lockgate submit {short} --output JSON"
    return "waits for a host: lockgate host" if reason == "host" else None
