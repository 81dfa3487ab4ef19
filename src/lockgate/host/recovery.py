"""What others left behind: the workers of a dead host, and the claims of processes that executed by themselves.

A dead host's claims end in the takeover, so nothing that its workers still do can be committed; but two workers
of one run must not work in one directory at the same time. They are killed before anything is claimed.
"""

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence

from lockgate.host.processes import ProcessIdentity, end_recorded, is_alive, kill_descendants
from lockgate.model.records import Actor, Now, Record
from lockgate.model.statuses import OwnerKind
from lockgate.store import claims, hosts
from lockgate.store.openfile import Transaction
from lockgate.store.reads import details

_ATTEMPTS_LOOKED_AT = 20


class Orphan(Record, frozen=True, kw_only=True):
    """Processes without their host: the recorded one, and whatever carries the mark of one of the attempts."""

    run_id: str
    process: ProcessIdentity | None
    attempt_ids: tuple[str, ...]


def orphans(tx: Transaction, launches: Iterable[hosts.LaunchedWorker]) -> tuple[Orphan, ...]:
    """The launches of this boot; those of another have no process any more."""
    return tuple(_orphan(tx.connection, launch) for launch in launches if launch.boot_id == tx.now.boot_id)


def _orphan(connection: sqlite3.Connection, launch: hosts.LaunchedWorker) -> Orphan:
    process = None
    if launch.pid is not None and launch.process_start is not None:
        process = ProcessIdentity(pid=launch.pid, start=launch.process_start)
    return Orphan(run_id=launch.run_id, process=process, attempt_ids=_attempts(connection, launch.run_id))


def _attempts(connection: sqlite3.Connection, run_id: str) -> tuple[str, ...]:
    detail = details.run(connection, run_id, attempts_limit=_ATTEMPTS_LOOKED_AT)
    return tuple(attempt.attempt_id for attempt in detail.attempts)


async def clear_away(found: Sequence[Orphan]) -> None:
    """Kills the recorded groups whose start time matches, and the marked processes outside of them."""
    await asyncio.gather(*(asyncio.to_thread(_end, orphan) for orphan in found))


def _end(orphan: Orphan) -> None:
    session = None
    if orphan.process is not None and end_recorded(orphan.process):
        session = orphan.process.pid
    kill_descendants(session, orphan.attempt_ids)


def abandoned(connection: sqlite3.Connection, now: Now) -> tuple[hosts.HeldClaim, ...]:
    """Claims of processes that executed by themselves and are gone, or fell silent for longer than a lease."""
    return tuple(
        held
        for held in hosts.held_claims(connection)
        if held.owner_kind is OwnerKind.PROCESS
        and (hosts.is_expired(held, now.boot_id, now.mono_ms) or not _lives(held.owner_id))
    )


def end_abandoned(tx: Transaction, held: Iterable[hosts.HeldClaim], actor: Actor) -> tuple[Orphan, ...]:
    """Ends those claims; what they started may still run, and is the caller's to kill."""
    ended = []
    for claim in held:
        lost = claims.lose(
            tx, claim.run_id, claim.generation, cause="owner_gone", counted=False, progressed=True, actor=actor
        )
        if lost is not None:
            found = _attempts(tx.connection, claim.run_id)
            ended.append(Orphan(run_id=claim.run_id, process=None, attempt_ids=found))
    return tuple(ended)


def _lives(owner_id: str) -> bool:
    identity = ProcessIdentity.parse(owner_id)
    return identity is not None and is_alive(identity.pid, identity.start)
