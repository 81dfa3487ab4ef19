"""Followers: what changed, coalesced and never queued, from the watcher and the store's event sequence."""

import sqlite3
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from lockgate.model.records import HostView, Wake
from lockgate.store.reads.events import events_after, latest_event_seq
from lockgate.store.reads.owners import host_state
from lockgate.store.thread import OwnedConnection
from lockgate.store.watch import Watcher

_WINDOW = 500
_PRUNED = "run_pruned"


class Follower:
    """One follower of the store. With `others_only`, what this process wrote itself does not wake it."""

    def __init__(self, connection: OwnedConnection, watcher: Watcher, after: int | None, *, others_only: bool) -> None:
        self.watcher = watcher
        self.others_only = others_only
        self.own: set[int] = set()
        self.own_commits = 0
        self._connection = connection
        self._seq = after
        self._host: HostView | None = None
        self._seen_commits = 0

    async def wakes(self) -> AsyncGenerator[Wake, None]:
        """Yields at once where there is something after `after`, and then whenever something has changed."""
        first = True
        await self.watcher.begin()
        while True:
            if not first:
                await self.watcher.changed()
            commits = self.own_commits
            wake = await self._connection.run(lambda file: file.read(self._collect))
            foreign, self._seen_commits = commits == self._seen_commits, commits
            if wake.run_ids or wake.pruned or (not first and (foreign or not self.others_only)):
                yield wake
            if not first:
                await self.watcher.rest()
            first = False

    def _collect(self, connection: sqlite3.Connection) -> Wake:
        """On the follower's thread, in one read transaction: everything since the last time."""
        if self._seq is None:
            self._seq = latest_event_seq(connection)
        runs: dict[str, None] = {}
        pruned: dict[str, None] = {}
        while True:
            rows = events_after(connection, self._seq, _WINDOW)
            for event_seq, run_id, type in rows:
                if self.others_only and event_seq in self.own:
                    continue
                (pruned if type == _PRUNED else runs)[run_id] = None
            if rows:
                self._seq = rows[-1][0]
            if len(rows) < _WINDOW:
                break
        # A snapshot, since the writer's thread adds to the set; what is older than the cursor was seen.
        self.own.difference_update([seq for seq in tuple(self.own) if seq <= self._seq])
        host = host_state(connection)
        changed, self._host = self._host is not None and host != self._host, host
        outside = changed or not (runs or pruned)
        return Wake(event_seq=self._seq, run_ids=tuple(runs), pruned=tuple(pruned), host=outside)


class Followers:
    """All followers of one `Store`: the writer's audience."""

    def __init__(self) -> None:
        self._followers: list[Follower] = []
        self.last_written_seq = 0

    def add(self, follower: Follower) -> None:
        self._followers.append(follower)

    def remove(self, follower: Follower) -> None:
        self._followers.remove(follower)

    def committing(self, seqs: Sequence[int]) -> None:
        for follower in tuple(self._followers):
            follower.own_commits += 1
            if follower.others_only:
                follower.own.update(seqs)
        if seqs:
            self.last_written_seq = seqs[-1]

    def failed(self, seqs: Sequence[int]) -> None:
        for follower in tuple(self._followers):
            follower.own.difference_update(seqs)

    def committed(self, *_: Any) -> None:
        for follower in tuple(self._followers):
            follower.watcher.wake()
