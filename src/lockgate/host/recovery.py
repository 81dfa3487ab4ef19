"""What others left behind: the workers of a dead host, and what a process that executed by itself had started.

Their claims have ended, so nothing that they still do can be committed; but two workers of one run must not work
in one directory at the same time. They are killed before anything is claimed.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lockgate.host.processes import ProcessIdentity, end_recorded, is_alive, kill_descendants, session_of
from lockgate.model.records import Now, Record
from lockgate.model.statuses import OwnerKind
from lockgate.store import heads, hosts, reads
from lockgate.store.openfile import Transaction
from lockgate.store.reads.owners import process_of

if TYPE_CHECKING:
    import sqlite3

_ATTEMPTS_LOOKED_AT = 20


class Orphan(Record, frozen=True, kw_only=True):
    """Processes without their host: the recorded one, and whatever carries the mark of one of the attempts."""

    process: ProcessIdentity | None
    attempt_ids: tuple[str, ...]


def take_over(tx: Transaction, host: hosts.Identity) -> tuple[int, tuple[Orphan, ...]]:
    """Makes this process the host: its epoch, and what is to be killed. Raises Refused `host_alive`."""
    taken = hosts.take_over(tx, host, is_alive)
    # Nothing of another boot is running any more.
    launched = [launch for launch in taken.orphans if launch.boot_id == tx.now.boot_id]
    recorded = [_orphan(tx.connection, launch) for launch in launched]
    others = set(taken.lost).difference(launch.run_id for launch in launched)
    return taken.epoch, (*recorded, *_left_by(tx.connection, others))


def end_abandoned(tx: Transaction, host_id: str) -> tuple[Orphan, ...]:
    """Ends the claims of processes that are gone or silent; what they started is the caller's to kill."""
    return _left_by(tx.connection, hosts.end_lost_claims(tx, host_id, is_alive))


def processes(connection: "sqlite3.Connection") -> tuple[hosts.HeldClaim, ...]:
    """The claims of processes that execute by themselves."""
    return tuple(held for held in hosts.held_claims(connection) if held.owner_kind is OwnerKind.PROCESS)


def is_abandoned(held: hosts.HeldClaim, now: Now) -> bool:
    """Whether `end_abandoned` would end it: asked often, and without the write lock."""
    return hosts.is_expired(held, now.boot_id, now.mono_ms) or not is_alive(*process_of(held.owner_id))


async def clear_away(orphans: Sequence[Orphan]) -> None:
    """Kills the recorded groups whose start time matches, and the marked processes outside of them."""
    await asyncio.gather(*(asyncio.to_thread(_end, orphan) for orphan in orphans))


def _end(orphan: Orphan) -> None:
    session = None
    if orphan.process is not None:
        session = session_of(orphan.process)
        end_recorded(orphan.process)
    kill_descendants(session, orphan.attempt_ids)


def _orphan(connection: "sqlite3.Connection", launch: hosts.LaunchedWorker) -> Orphan:
    process = None
    if launch.pid is not None and launch.process_start is not None:
        process = ProcessIdentity(pid=launch.pid, start=launch.process_start)
    return Orphan(process=process, attempt_ids=_attempts(connection, launch.run_id))


def _left_by(connection: "sqlite3.Connection", run_ids: Iterable[str]) -> tuple[Orphan, ...]:
    return tuple(Orphan(process=None, attempt_ids=_attempts(connection, run_id)) for run_id in run_ids)


def _attempts(connection: "sqlite3.Connection", run_id: str) -> tuple[str, ...]:
    try:
        detail = reads.run(connection, run_id, attempts_limit=_ATTEMPTS_LOOKED_AT)
    except heads.UNREADABLE:
        # Rows that are damaged name no process; the group of its launch is ended all the same.
        return ()
    return tuple(attempt.attempt_id for attempt in detail.attempts)
