"""Retention: whole trees of finished runs go, one transaction each, and a tombstone continues each run's chain.

A tree is a root with all its restarts. It goes only as a whole, and only if nothing keeps any of its members.
Nothing here runs by itself: a person asks for it, looks at the plan, and names a new backup.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from lockgate.flow.draft import chain
from lockgate.model.encoding import sha256, stored
from lockgate.model.events import RunPruned
from lockgate.model.records import Actor, Record, Value
from lockgate.model.statuses import RunStatus
from lockgate.store.audit_values import hashes_in
from lockgate.store.backup import Backup, copy_into, holders
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.commits import save_values, write
from lockgate.store.openfile import OpenFile, Transaction, open_file
from lockgate.store.reads.events import latest_event_seq
from lockgate.store.statements import load

_KEEPING = load("keeping")
_VALUES_AT_ONCE = 5_000
MOST_RECEIPTS_INLINE = 40
"""The payload of an event stays under 4 KiB."""


class Blocker(Record, frozen=True, kw_only=True):
    """What keeps a run: not_finished, finished_later, live_claim, unsettled_effect, pending_request, human_decision."""

    run_id: str
    code: str
    what: str


class Member(Record, frozen=True, kw_only=True):
    """A run of a tree as it was read, and what keeps it."""

    run_id: str
    revision: int
    decisions: int
    blockers: tuple[Blocker, ...]


class Tree(Record, frozen=True, kw_only=True):
    """A root run with its restarts, oldest first."""

    root_run_id: str
    members: tuple[Member, ...]

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        return tuple(blocker for member in self.members for blocker in member.blockers)

    @property
    def events(self) -> int:
        """A run has as many events as its revision says."""
        return sum(member.revision for member in self.members)


class Plan(Record, frozen=True, kw_only=True):
    """What would go (`trees`), and what is old enough but kept (`blocked`), as of one moment."""

    cutoff: int
    with_decisions: bool
    trees: tuple[Tree, ...]
    blocked: tuple[Tree, ...]

    @property
    def runs(self) -> int:
        return sum(len(tree.members) for tree in self.trees)


class Pruned(Record, frozen=True, kw_only=True):
    """What went. `changed` are trees that somebody changed since the plan: they were kept.

    `size_before` and `size_after` are bytes of the file; `is_compacted` says whether free pages were given back.
    """

    backup: Backup
    trees: int
    runs: int
    events: int
    decisions: int
    values: int
    value_bytes: int
    definitions: int
    changed: tuple[str, ...]
    size_before: int
    size_after: int
    is_compacted: bool


def plan(connection: sqlite3.Connection, cutoff: int, *, with_decisions: bool = False) -> Plan:
    """What could go of the runs that ended before `cutoff` (epoch ms)."""
    rows = connection.execute(_KEEPING["old_trees"], {"cutoff": cutoff}).fetchall()
    trees = [
        Tree(root_run_id=root, members=tuple(_member(row, cutoff, with_decisions) for row in members))
        for root, members in groupby(rows, key=lambda row: row[0])
    ]
    return Plan(
        cutoff=cutoff,
        with_decisions=with_decisions,
        trees=tuple(tree for tree in trees if not tree.blockers),
        blocked=tuple(tree for tree in trees if tree.blockers),
    )


def prune(
    path: Path,
    cutoff: int,
    backup_to: Path,
    *,
    actor: Actor,
    with_decisions: bool = False,
    clock: Clock | None = None,
    in_use: Callable[[Path], Sequence[int]] = holders,
) -> Pruned:
    """Makes a new verified backup, then lets every tree of the plan go that is still as it was planned.

    Copy and plan are of one moment: what is recorded after it is not in the copy, and keeps its tree.
    """
    clock = clock or SystemClock()
    file = open_file(path, clock)
    try:

        def look(connection: sqlite3.Connection) -> tuple[Backup, Plan, int]:
            copied = copy_into(connection, file.path, backup_to.absolute())
            return copied, plan(connection, cutoff, with_decisions=with_decisions), _size(connection)

        backup, planned, before = file.read(look)
        gone: list[Tree] = []
        changed: list[Tree] = []
        for tree in planned.trees:
            taken = file.write(partial(_prune_tree, tree=tree, planned=planned, actor=actor), clock)
            (gone if taken else changed).append(tree)
        values, value_bytes = _prune_values(file, clock)
        definitions = file.write(lambda tx: tx.connection.execute(_KEEPING["prune_definitions"]).rowcount, clock)
        compacted = (len(gone) + values > 0) and not in_use(file.path) and _compact(file)
        return Pruned(
            backup=backup,
            trees=len(gone),
            runs=sum(len(tree.members) for tree in gone),
            events=sum(tree.events for tree in gone),
            decisions=sum(member.decisions for tree in gone for member in tree.members),
            values=values,
            value_bytes=value_bytes,
            definitions=definitions,
            changed=tuple(tree.root_run_id for tree in changed),
            size_before=before,
            size_after=_size(file.connection),
            is_compacted=compacted,
        )
    finally:
        file.close()


def _member(row: Sequence[Any], cutoff: int, with_decisions: bool) -> Member:
    _, run_id, revision, status, finished_at, claimed, effects, pending, decisions = row

    def blockers() -> Iterable[tuple[str, str]]:
        if not RunStatus(status).is_terminal:
            yield "not_finished", f"it is {status}"
        elif finished_at >= cutoff:
            yield "finished_later", "it ended after the cutoff"
        if claimed:
            yield "live_claim", "somebody holds a claim on it"
        if effects:
            yield "unsettled_effect", f"effects that may have happened: {effects}; lockgate resolve"
        if pending:
            yield "pending_request", f"pending requests: {pending}"
        if decisions and not with_decisions:
            yield "human_decision", f"accepted human decisions: {decisions}; --with-decisions lets them go"

    kept = tuple(Blocker(run_id=run_id, code=code, what=what) for code, what in blockers())
    return Member(run_id=run_id, revision=revision, decisions=decisions, blockers=kept)


def _prune_tree(tx: Transaction, tree: Tree, planned: Plan, actor: Actor) -> bool:
    """Looks at the tree again, now that nobody else can write; False where it is no longer what was planned."""
    ids = json.dumps([member.run_id for member in tree.members])
    rows = tx.connection.execute(_KEEPING["tree_again"], {"run_ids": ids}).fetchall()
    now = tuple(_member(row, planned.cutoff, planned.with_decisions) for row in rows)
    if now != tree.members:
        return False
    for member in tree.members:
        _bury(tx, member.run_id, actor)
    return True


def _bury(tx: Transaction, run_id: str, actor: Actor) -> None:
    """Everything of the run goes; the tombstone is the next link of its chain."""
    named = {"run_id": run_id}
    revision, head, last_at = tx.connection.execute(_KEEPING["end_of_chain"], named).fetchone()
    payload = _tombstone(tx.connection, revision, head, tx.connection.execute(_KEEPING["receipts"], named).fetchall())
    for statement in ("prune_events", "prune_commands", "prune_run"):
        tx.connection.execute(_KEEPING[statement], named)
    at = max(tx.now.wall_ms, last_at)
    write(tx, (), (chain(head, run_id, revision + 1, "run_pruned", at, actor, None, payload),))


def _tombstone(
    connection: sqlite3.Connection, last_seq: int, head: str, receipts: Sequence[tuple[int, str]]
) -> RunPruned:
    if len(receipts) <= MOST_RECEIPTS_INLINE:
        seqs, hashes = [seq for seq, _ in receipts], [hash for _, hash in receipts]
        return RunPruned(last_seq=last_seq, chain_head=head, receipt_hashes=hashes, receipt_seqs=seqs)
    content = stored(receipts)
    save_values(connection, (Value(hash=sha256(content), content=content),))
    return RunPruned(last_seq=last_seq, chain_head=head, receipt_hashes=[], receipts_hash=sha256(content))


def _prune_values(file: OpenFile, clock: Clock) -> tuple[int, int]:
    """Lets go of the values that nothing names, and says how many and how many bytes.

    They are looked for beside the writers. Only an event can name one of them again, so that each short
    transaction spares what the events since then name.
    """

    def look(connection: sqlite3.Connection) -> tuple[int, list[tuple[str, int]]]:
        return latest_event_seq(connection), connection.execute(_KEEPING["orphan_values"]).fetchall()

    after, found = file.read(look)
    count = size = 0
    for first in range(0, len(found), _VALUES_AT_ONCE):
        part = dict(found[first : first + _VALUES_AT_ONCE])

        def remove(tx: Transaction, part: dict[str, int] = part) -> set[str]:
            for (payload,) in tx.connection.execute(_KEEPING["payloads_after"], {"after": after}):
                for hash in hashes_in(msgspec.json.decode(payload)):
                    part.pop(hash, None)
            tx.connection.execute(_KEEPING["prune_values"], {"hashes": json.dumps(list(part))})
            return set(part)

        gone = file.write(remove, clock)
        count, size = count + len(gone), size + sum(part[hash] for hash in gone)
    return count, size


def _compact(file: OpenFile) -> bool:
    """Gives free pages back to the file system, while nobody else has the store open; False where it cannot."""
    try:
        file.connection.execute("VACUUM")
        file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error:
        # The runs are gone either way; the pages are used again.
        return False
    return True


def _size(connection: sqlite3.Connection) -> int:
    pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    size: int = connection.execute("PRAGMA page_size").fetchone()[0]
    return pages * size
