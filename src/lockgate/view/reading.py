"""One bounded read of everything a screen looks at, in one read transaction, as one snapshot.

The reader remembers what did not change: which runs there are, what waits for an answer, the detail of a run
that nothing happened to. What it reads anew costs the change and the window, never the history.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from lockgate.flow.head import LEASE_MS
from lockgate.flow.words import is_lost, needs_person, word
from lockgate.model.errors import NotFound
from lockgate.model.records import HostView, Now, Run
from lockgate.model.statuses import Word
from lockgate.store import reads
from lockgate.store.living import process_exists
from lockgate.view.decisions import in_order
from lockgate.view.detail import DetailReader, settled_text
from lockgate.view.filters import BadFilter, Filter, matches, parsed, query
from lockgate.view.owners import informed
from lockgate.view.shown import shown_request, shown_run
from lockgate.view.snapshots import (
    Counts,
    HostFact,
    HostState,
    Interest,
    RunsPage,
    ShownRequest,
    ShownRun,
    Snapshot,
    StoreFact,
)
from lockgate.view.stuck import Usual
from lockgate.view.vector import RunVector

if TYPE_CHECKING:
    import sqlite3

EVENTS_EACH = 500
MOST_ASKED = 500
"""How many requests one picture holds; human decisions come first."""

EVERYTHING = ("", "created", True)
"""The filter, the sort key and the direction of the list of all runs, newest first."""

_ORDERS = {"created": "created", "state": "status", "workflow": "workflow", "title": "title", "time": "elapsed"}
_ASKING = frozenset(
    {
        "decision_requested",
        "checkpoint_requested",
        "decision_accepted",
        "interaction_accepted",
        "decision_withdrawn",
        "submission_rejected",
        "run_paused",
        "run_unpaused",
        "run_cancelled",
        "run_completed",
        "run_failed",
        "run_timed_out",
        "run_pruned",
    }
)

_MAY_ASK = frozenset({Word.WAITING, Word.BLOCKED})
_FOR_HOST = frozenset({Word.QUEUED, Word.ANSWERED, Word.INTERRUPTED, Word.OVERDUE, Word.LOST})


class Change:
    """What happened since the reader looked last: event types by run; `everything` where it was too much to list."""

    def __init__(self, events: list[tuple[int, str, str]]) -> None:
        self.everything = len(events) >= EVENTS_EACH
        self.types = {type for _, _, type in events}
        self.run_ids = list(dict.fromkeys(run_id for _, run_id, _ in events))
        self.born = [run_id for _, run_id, type in events if type == "run_queued"]
        self.pruned = "run_pruned" in self.types

    @property
    def asks(self) -> bool:
        return self.everything or not self.types.isdisjoint(_ASKING)


class Reader:
    """Reads snapshots for one screen; used by one thread at a time.

    `whole` loads the vector of all ids at the first read already; without it the first rows come before it.
    """

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole
        self._seq = -1
        self._total = 0
        self._vector: RunVector | None = None
        self._looked: tuple[str, str, bool] | None = None
        self._open: dict[str, Run] = {}
        self._asked: tuple[ShownRequest, ...] = ()
        self._detail = DetailReader()
        self._usual = Usual()
        self._counts = Counts()
        self._host: HostView | None = None

    @property
    def lacks_vector(self) -> bool:
        """Whether the next read has more to tell than the last one did."""
        return self._vector is None

    def read(self, connection: "sqlite3.Connection", interest: Interest, store: StoreFact, now: Now) -> Snapshot:
        """A snapshot of one moment. A filter that cannot be read matches nothing."""
        first = self._seq < 0
        change = self._change(connection)
        self._refresh(connection, change, first=first)
        self._host = reads.host_state(connection)
        now = self.informed(now)
        self._usual.read(connection, self.open_runs, now)
        if first or change.everything or change.born or change.pruned:
            self._total = self._counted(connection, change)
        if first or change.asks:
            asked = reads.pending_requests(connection, limit=MOST_ASKED)
            self._asked = tuple(in_order([shown_request(each) for each in asked]))
        counts = self.counts(now)
        aged, self._counts = counts != self._counts, counts
        page = self._page(connection, interest, change, now, first=first, aged=aged)
        chosen = interest.run_id or (page.rows[0].run_id if page.rows else None)
        facts = reads.store_facts(connection)
        return Snapshot(
            at=now,
            store=replace(store, as_of=now.wall_ms, schema=facts.version, size=facts.size),
            event_seq=self._seq,
            host=host_fact(self._host, self.open_runs, now),
            counts=counts,
            runs=page,
            decisions=self._asked,
            decided=self._decided(connection) if interest.decided else (),
            detail=self._detail.read(connection, chosen, interest, self._asked, now) if chosen else None,
            request=self._request(connection, interest.request_id),
        )

    def informed(self, now: Now) -> Now:
        """The same moment, with what is known of the claims' owners since the last read."""
        if self._host is None:
            return now
        return informed(now, [run.claim for run in self.open_runs if run.claim is not None], self._host)

    @property
    def open_runs(self) -> tuple[Run, ...]:
        """The runs that are not finished, as they were read last."""
        return tuple(self._open.values())

    def counts(self, now: Now) -> Counts:
        """The counts at a moment: runs become lost, overdue or stuck by time alone."""
        open_runs = self.open_runs
        stuck = sum(self._usual.slower(run, now) is not None for run in open_runs if run.claim is not None)
        return replace(counted(open_runs, self._total, now), stuck=stuck)

    def _refresh(self, connection: "sqlite3.Connection", change: Change, *, first: bool) -> None:
        """The unfinished runs: those that something happened to, and those whose claim may have been renewed."""
        if first or change.everything:
            self._open = {run.run_id: run for run in reads.open_runs(connection)}
            return
        claimed = (run_id for run_id, run in self._open.items() if run.claim is not None)
        ids = list(dict.fromkeys((*change.run_ids, *claimed)))
        for run_id in change.run_ids:
            self._open.pop(run_id, None)
        for run in reads.runs_by_id(connection, ids) if ids else ():
            if not run.status.is_terminal:
                self._open[run.run_id] = run

    def _counted(self, connection: "sqlite3.Connection", change: Change) -> int:
        """How many runs there are: by what was born where every run is known, else counted."""
        vector = self._vector
        if vector is None or self._looked != EVERYTHING or change.everything or change.pruned:
            return sum(reads.counts(connection).values())
        vector.grow(change.born)
        return len(vector)

    def _change(self, connection: "sqlite3.Connection") -> Change:
        if self._seq < 0:
            self._seq = reads.latest_event_seq(connection)
            return Change([])
        events = reads.events_after(connection, self._seq, EVENTS_EACH)
        change = Change(events)
        if change.everything:
            self._seq = reads.latest_event_seq(connection)
        elif events:
            self._seq = events[-1][0]
        return change

    def _page(
        self, connection: "sqlite3.Connection", interest: Interest, change: Change, now: Now, *, first: bool, aged: bool
    ) -> RunsPage:
        looked = (interest.filter, interest.sort, interest.descending)
        page = RunsPage(
            first=interest.first,
            everything=self._total,
            filter=interest.filter,
            sort=interest.sort,
            descending=interest.descending,
        )
        try:
            terms = parsed(interest.filter)
        except BadFilter:
            self._vector, self._looked = RunVector([]), looked
            return page
        if first and not self._whole and looked == EVERYTHING and not interest.first:
            found = reads.runs(connection, reads.RunQuery(limit=interest.count), now_ms=now.wall_ms).rows
            return replace(page, rows=self._shown(found, now), total=self._total)
        aged = aged and any(term.key == "state" for term in terms)
        if self._vector is None or looked != self._looked or aged or self._is_old(change, looked):
            self._vector, self._looked = self._all_ids(connection, terms, interest, now), looked
        elif change.born:
            self._vector.grow(change.born)
        start = max(min(interest.first, len(self._vector) - interest.count), 0)
        ids = self._vector.slice(start, interest.count)
        rows = self._shown(reads.runs_by_id(connection, ids), now)
        return replace(page, rows=rows, first=start, total=len(self._vector), ids=self._vector.view())

    def _shown(self, runs: tuple[Run, ...], now: Now) -> tuple[ShownRun, ...]:
        return tuple(shown_run(run, slower=self._usual.slower(run, now)) for run in runs)

    @staticmethod
    def _is_old(change: Change, looked: tuple[str, str, bool]) -> bool:
        """Whether the order may have changed. New runs only come in front of the list of all runs by age."""
        if change.everything or change.pruned:
            return True
        return bool(change.types) and looked != EVERYTHING

    def _all_ids(self, connection: "sqlite3.Connection", terms: Filter, interest: Interest, now: Now) -> RunVector:
        asked = query(terms, now.wall_ms)
        if asked is None:
            return RunVector([])
        order = _ORDERS.get(interest.sort, "created")
        asked = replace_query(asked, order, descending=interest.descending)
        ids = reads.run_ids(connection, asked, now_ms=now.wall_ms)
        if any(term.key == "state" for term in terms):
            # The store knows statuses; whether an unfinished run is lost or overdue is for the law's words to say.
            open_runs = self.open_runs
            stuck = {run.run_id for run in open_runs if self._usual.slower(run, now) is not None}
            wrong = {run.run_id for run in open_runs if not matches(terms, run, now, stuck)}
            ids = [run_id for run_id in ids if run_id not in wrong]
        return RunVector(ids, growing=interest.sort == "created" and interest.descending)

    def _decided(self, connection: "sqlite3.Connection") -> tuple[ShownRequest, ...]:
        return tuple(shown_request(each) for each in reads.decided_requests(connection))

    def _request(self, connection: "sqlite3.Connection", request_id: str | None) -> ShownRequest | None:
        if request_id is None:
            return None
        try:
            found = reads.request(connection, request_id)
        except NotFound:
            return None
        return shown_request(found, text=settled_text(connection, found.resolution))


def replace_query(asked: reads.RunQuery, order: str, *, descending: bool) -> reads.RunQuery:
    """The same conditions in another order; times run the other way round: the longest is first."""
    return msgspec.structs.replace(asked, order=order, descending=descending)


def counted(runs: tuple[Run, ...], total: int, now: Now) -> Counts:
    """The header's counts out of the runs that are not finished."""
    words = [word(run, now) for run in runs]
    asking = (run for run, name in zip(runs, words, strict=True) if name in _MAY_ASK)
    return Counts(
        total=total,
        need_you=sum(needs_person(run, now) for run in asking),
        running=sum(name in (Word.RUNNING, Word.STARTING) for name in words),
        lost=words.count(Word.LOST),
        blocked=words.count(Word.BLOCKED),
        overdue=words.count(Word.OVERDUE),
        waiting_for_host=sum(name in _FOR_HOST for name in words),
    )


def host_fact(
    host: HostView, runs: tuple[Run, ...], now: Now, exists: Callable[[int], bool] = process_exists
) -> HostFact:
    """The host as its row and its lease say; one whose process is gone is none, however young its lease is."""
    if host.host_id is None or host.pid is None or host.boot_id is None or host.heartbeat_mono is None:
        return HostFact()
    if host.boot_id != now.boot_id or not exists(host.pid):
        return HostFact(heartbeat_at=host.heartbeat_at)
    busy = sum(run.claim is not None and not is_lost(run.claim, now) for run in runs)
    silent = now.mono_ms - host.heartbeat_mono > LEASE_MS
    return HostFact(
        state=HostState.SILENT if silent else HostState.OK,
        pid=host.pid,
        busy=busy,
        capacity=host.capacity or 0,
        heartbeat_at=host.heartbeat_at,
    )
