"""What the engine needs of a store; the in-process store and the worker's client implement it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from lockgate.flow.transitions import AnyProposal
from lockgate.model.records import CheckpointState, Continuation, Reply, Value


class ExecutionStore(Protocol):
    """One claimed run, as its holder sees it. Every call but the reads is one transaction."""

    async def ready(self, sources: Mapping[str, str]) -> Continuation:
        """Commits `ready`; what to continue from. Raises ClaimLost, or Refused with the code `paused`."""
        ...

    async def commit_transition(self, proposals: Sequence[AnyProposal], values: Sequence[Value] = ()) -> Reply:
        """Commits all proposals, or none, with the values that they name.

        The reply's outcome is accepted, paused, cancelled, claim_lost or refused; only accepted changed
        anything. Its results follow the proposals one to one.
        """
        ...

    async def read_value(self, hash: str) -> bytes:
        """A stored value by its hash. Raises NotFound."""
        ...

    async def read_checkpoint(self, request_id: str) -> CheckpointState:
        """A request and, once it is settled, its accepted output. Raises NotFound."""
        ...
