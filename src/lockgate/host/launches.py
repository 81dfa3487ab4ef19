"""The transactions around one launch: a run is claimed with its worker's row, and given back with its end."""

import os
import secrets
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from lockgate.engine.places import split_reference
from lockgate.flow.transitions import Block, Lose, Release
from lockgate.host.processes import ProcessIdentity
from lockgate.host.protocol import Launch
from lockgate.host.spawning import packed, worker_environment
from lockgate.host.verdict import Ending, command_for, lost
from lockgate.model.errors import ClaimLost, Refused
from lockgate.model.records import Actor, ClaimToken, Record
from lockgate.store import claims, heads, hosts, reads
from lockgate.store.openfile import Transaction, apart

if TYPE_CHECKING:
    import sqlite3


class Claimed(Record, frozen=True, kw_only=True):
    """A claimed run, the row of its launch, and what its worker is told."""

    claim: ClaimToken
    worker_id: str
    launch: Launch

    @property
    def run_id(self) -> str:
        return self.claim.run_id


def claim_next(
    tx: Transaction,
    owner: claims.Owner,
    process: ProcessIdentity | None,
    busy: Collection[str],
    unreadable: dict[str, str],
) -> Claimed | None:
    """The next run, if one is claimable and not `busy`, for a worker that has not been told anything yet.

    `process` is that worker: one that no new host could find has run no user code. `unreadable` is told which claimable
    runs are damaged so that nobody can execute them, and why.
    """
    claimed = claims.claim_next(tx, owner, tuple(busy), unreadable)
    if claimed is None:
        return None
    worker_id = f"worker-{secrets.token_hex(8)}"
    pid, start = (None, None) if process is None else (process.pid, process.start)
    hosts.worker_starting(tx, claimed.claim, worker_id, owner.host_epoch or 0, pid=pid, process_start=start)
    run = claimed.run
    file, name = split_reference(run.workflow_ref)
    launch = Launch(
        run_id=run.run_id,
        generation=claimed.claim.generation,
        file=file,
        name=name or run.workflow,
        project_dir=run.project_dir,
        definition_digest=run.definition_digest,
        sources=claimed.sources,
        environment=packed(worker_environment(os.environ)),
    )
    return Claimed(claim=claimed.claim, worker_id=worker_id, launch=launch)


def causes_to_stop(connection: "sqlite3.Connection", held: Collection[Claimed]) -> dict[str, str]:
    """The launches whose worker has to stop because of what others have written: run id and cause."""
    standing = {(claim.run_id, claim.generation) for claim in reads.held_claims(connection)}
    paused = hosts.stops_now(connection, [one.run_id for one in held])
    causes: dict[str, str] = {}
    for one in held:
        if (one.run_id, one.claim.generation) not in standing:
            causes[one.run_id] = "claim_ended"
        elif one.run_id in paused:
            causes[one.run_id] = "pause_now"
    return causes


def give_back(tx: Transaction, claimed: Claimed, ending: Ending, actor: Actor) -> str | None:
    """Ends the claim if it has not ended by itself, and says how the process ended.

    Why the claim could not be ended, where the rows of the run are damaged: they are left as they are.
    """
    damage = None
    try:
        with apart(tx):
            _give_back(tx, claimed.claim, ending, actor)
    except heads.UNREADABLE as problem:
        damage = str(problem)
    hosts.worker_finished(
        tx,
        claimed.worker_id,
        ending.worker_status,
        exit_code=ending.exit_code,
        signal=ending.signal,
        stderr_tail=ending.stderr_tail,
    )
    return damage


def _give_back(tx: Transaction, claim: ClaimToken, ending: Ending, actor: Actor) -> None:
    try:
        _end_claim(tx, claim, command_for(ending), actor)
    except ClaimLost:
        pass
    except Refused:
        # It said that it was done, but an attempt of it is still running: that is a loss, whatever it said.
        _end_claim(tx, claim, lost(ending, "exit"), actor)


def give_up(tx: Transaction, host_id: str, actor: Actor) -> None:
    """Ends whatever this host still holds: a claim may have been taken while the host was told to stop."""
    for held in reads.held_claims(tx.connection):
        if held.owner_id == host_id:
            with suppress(*heads.UNREADABLE), apart(tx):
                claims.lose(
                    tx, held.run_id, held.generation, cause="host_stopped", counted=False, progressed=False, actor=actor
                )


def _end_claim(tx: Transaction, claim: ClaimToken, command: Release | Lose | Block, actor: Actor) -> None:
    match command:
        case Release():
            claims.release(tx, claim, actor)
        case Block():
            claims.block(tx, claim, command.code, command.detail, actor, graph_changed=command.graph_changed)
        case Lose():
            claims.lose(
                tx,
                claim.run_id,
                claim.generation,
                cause=command.cause,
                counted=command.counted,
                progressed=command.progressed,
                actor=actor,
                exit_code=command.exit_code,
                signal=command.signal,
            )
