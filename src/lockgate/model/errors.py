"""Every error of Lockgate, with one root; each words itself from the facts it is built from.

A refusal that a caller branches on carries a snake_case `code`; `details` are JSON values for `--json`.
"""

from collections.abc import Mapping, Sequence
from typing import Any


class LockgateError(Exception):
    """The root. `code` is the machine's name of the failure, `details` its facts."""

    code = "failure"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Any] = details


class StoreError(LockgateError):
    """The store cannot be used as asked; the file was left as it was."""

    code = "store_error"


class StoreMissing(StoreError):
    code = "store_missing"

    def __init__(self, path: str) -> None:
        super().__init__(f"no store at {path}: lockgate demo makes one", path=path)


class StoreBusy(StoreError):
    code = "store_busy"

    def __init__(self, path: str, waited_ms: int) -> None:
        super().__init__(
            f"the store {path} stayed locked for {waited_ms} ms: another process is writing",
            path=path,
            waited_ms=waited_ms,
        )


class StoreDetached(StoreError):
    code = "store_detached"

    def __init__(self, path: str, what: str, *, for_good: bool = False) -> None:
        """`for_good`: this process cannot open the file again either."""
        then = "start this program again" if for_good else "nothing was acknowledged"
        super().__init__(f"the store {path} was {what} under this process: {then}", path=path)
        self.for_good = for_good


class StoreTooNew(StoreError):
    code = "store_too_new"

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(
            f"the store {path} has schema {found}, this lockgate knows {known}: use a newer lockgate",
            path=path,
            found=found,
            known=known,
        )


class StoreTooOld(StoreError):
    code = "store_too_old"

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(
            f"the store {path} has schema {found}, this lockgate needs {known}: run lockgate migrate",
            path=path,
            found=found,
            known=known,
        )


class StoreForeign(StoreError):
    code = "store_foreign"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path} is not a Lockgate store: {why}", path=path, why=why)


class StoreReadOnly(StoreError):
    code = "store_read_only"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"the store {path} cannot be written: {why}", path=path, why=why)


class StoreDamaged(StoreError):
    code = "store_damaged"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"the store {path} is damaged: {why}; run lockgate doctor", path=path, why=why)


class StoreUnsafeLocation(StoreError):
    code = "store_unsafe_location"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"the store {path} is in an unsafe place: {why}", path=path, why=why)


class Refused(LockgateError):
    """The law or a check said no; nothing was written. `code` names the rule."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.code = code


class NotFound(LockgateError):
    code = "not_found"

    def __init__(self, what: str, given: str, candidates: Sequence[str] = ()) -> None:
        more = f"; it could be {', '.join(candidates)}" if candidates else ""
        super().__init__(f"no {what} {given!r}{more}", what=what, given=given, candidates=list(candidates))


class KeyConflict(LockgateError):
    code = "key_conflict"

    def __init__(self, key: str, command: str) -> None:
        super().__init__(f"the key {key!r} was used for another {command} command", key=key, command=command)


class ClaimLost(LockgateError):
    """The proposer no longer owns the run. `reason` is one of no_claim, token, generation, owner."""

    code = "claim_lost"

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(f"the claim on {run_id} is lost: {reason}", run_id=run_id, reason=reason)
        self.reason = reason


class WorkflowError(LockgateError):
    """A workflow file or its graph cannot be used."""

    code = "workflow_error"


class DefinitionError(WorkflowError):
    """Built from the file, the node (or edge) and the reason."""

    code = "definition_error"

    def __init__(self, reason: str, *, file: str | None = None, node: str | None = None) -> None:
        place = ", ".join(part for part in (file, f"node {node!r}" if node else None) if part)
        super().__init__(f"{place}: {reason}" if place else reason, reason=reason, file=file, node=node)
        self.reason, self.file, self.node = reason, file, node


class SourceChanged(WorkflowError):
    code = "source_changed"

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(f"the workflow's files changed since the start: {', '.join(files)}", files=list(files))
        self.files = tuple(files)


class RouteError(WorkflowError):
    code = "route_error"

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(f"node {node!r}: {reason}", node=node, reason=reason)


class PayloadError(LockgateError):
    """A user's value breaks the payload rules; `path` is the JSON path from `$`, cut in the message."""

    code = "invalid_payload"

    def __init__(self, path: str, limit: str, observed: str) -> None:
        place = path if len(path) <= 100 else f"{path[:60]}…{path[-39:]}"
        super().__init__(f"{place}: {limit}, got {observed}", path=path, limit=limit, observed=observed)
        self.path, self.limit, self.observed = path, limit, observed
