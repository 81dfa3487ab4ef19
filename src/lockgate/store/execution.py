"""The store as the engine sees it: one claimed run. The host's end of a worker's socket calls this too."""

import asyncio
from collections.abc import Mapping, Sequence

from lockgate.flow.graph import remembered
from lockgate.flow.transitions import AnyProposal
from lockgate.model.errors import NotFound, SourceChanged
from lockgate.model.records import CheckpointState, ClaimToken, Continuation, Reply, RequestRow, Value
from lockgate.model.statuses import BlockCode
from lockgate.store import claims
from lockgate.store.commits import commit_proposals
from lockgate.store.fitting import Looked, look, offered
from lockgate.store.reads.values import value
from lockgate.store.rows import read_row
from lockgate.store.shell import Store
from lockgate.store.statements import load
from lockgate.store.writer import Lane

_REQUESTS = load("requests")


class StoreExecution:
    """An ExecutionStore over an open `Store`. `progressed` tells whether this claim has committed any proposal."""

    def __init__(self, store: Store, claim: ClaimToken) -> None:
        self.store = store
        self.claim = claim
        self.progressed = False
        self._has_schemas = True

    async def ready(self, sources: Mapping[str, str]) -> Continuation:
        """Commits `ready`. Raises ClaimLost, Refused `paused`, or SourceChanged, which has blocked the run."""
        try:
            continuation = await self.store.transact(lambda tx: claims.ready(tx, self.claim, sources), Lane.WORKER)
        except SourceChanged as changed:
            detail = f"changed since the start: {', '.join(changed.files)}"
            await self.store.transact(
                lambda tx: claims.block(tx, self.claim, BlockCode.SOURCE_CHANGED, detail), Lane.CONTROL
            )
            raise
        graph = remembered(continuation.definition_digest)
        self._has_schemas = graph is None or graph.has_schemas
        return continuation

    async def commit_transition(self, proposals: Sequence[AnyProposal], values: Sequence[Value] = ()) -> Reply:
        """All of the proposals in one transaction, or none; the reply says which, and why."""
        looked = await self._looked(proposals, values)
        reply = await self.store.transact(
            lambda tx: commit_proposals(tx, self.claim, proposals, values, looked), Lane.WORKER
        )
        self.progressed = self.progressed or reply.outcome == "accepted"
        return reply

    async def _looked(self, proposals: Sequence[AnyProposal], values: Sequence[Value]) -> Looked | None:
        """The output held against its node's schema, in a thread: it may take long, and others go on meanwhile."""
        if not self._has_schemas:
            return None
        parts = await self.store.read(lambda connection: offered(connection, self.claim.run_id, proposals, values))
        return await asyncio.to_thread(look, parts) if parts else None

    async def read_value(self, hash: str) -> bytes:
        """A stored value by its hash. Raises NotFound."""
        return await self.store.read(lambda connection: value(connection, hash))

    async def read_checkpoint(self, request_id: str) -> CheckpointState:
        """A request and, once it is settled, its accepted output. Raises NotFound."""
        named = {"request_id": request_id}
        row = await self.store.read(lambda connection: connection.execute(_REQUESTS["request"], named).fetchone())
        if row is None:
            raise NotFound("request", request_id)
        request = read_row(RequestRow, row)
        return CheckpointState(
            request_id=request.request_id,
            kind=request.kind,
            status=request.status,
            digest=request.digest,
            output_hash=request.output_hash,
        )
