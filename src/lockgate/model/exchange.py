"""What crosses between worker, host and store: claims, replies, continuations and receipts."""

from typing import Any

import msgspec

from lockgate.model.facts import Record
from lockgate.model.statuses import Outcome, RequestKind, RequestStatus


class ClaimToken(Record, frozen=True, kw_only=True):
    """The right to propose: the secret token (never stored, never logged), its generation and its run."""

    run_id: str
    generation: int
    token: str


class HeadState(Record, frozen=True, kw_only=True):
    """What every reply to a proposer carries: the run as the transaction left it."""

    revision: int
    paused: bool
    cancelled: bool
    settings_change: int | None = None


class Reply(Record, frozen=True, kw_only=True):
    """The answer to a list of proposals. `outcome`: accepted, paused, cancelled, claim_lost or refused.

    `results` has one entry per accepted proposal: for reserveEffect {effect_id, answer: execute | adopted |
    verify | ambiguous, result_hash, error_hash}; for waitForInput {request_id, digest}; for startAttempt {ordinal,
    attempt_number, visit}; for the others {}.
    """

    outcome: str
    head: HeadState
    results: tuple[dict[str, Any], ...] = ()
    code: str | None = None
    message: str | None = None


class StepRef(Record, frozen=True, kw_only=True):
    """A finished step by reference: its value is read by hash when a function asks for it."""

    node_id: str
    outcome: Outcome
    output_hash: str | None
    error_hash: str | None
    error_summary: str | None
    switch_value: str | None
    visit: int
    ordinal: int
    step_index: int


class CurrentAttempt(Record, frozen=True, kw_only=True):
    """The waiting attempt that an accepted answer woke: the worker finishes exactly this one."""

    attempt_id: str
    node_id: str
    ordinal: int
    visit: int
    attempt_number: int
    request_id: str
    output_hash: str
    timeout_ms: int | None
    active_ms: int
    settings_hash: str | None = None


class Continuation(Record, frozen=True, kw_only=True):
    """What `ready` hands to the worker: the last step, the latest result of each node, and the woken attempt.

    `before` are the visits of nodes in the includes that go on, as many as there were before the present invocation.
    """

    run_id: str
    workflow: str
    definition_digest: str
    input_hash: str
    head: HeadState
    steps: int
    last: StepRef | None
    results: tuple[StepRef, ...]
    current: CurrentAttempt | None
    before: dict[str, int]


class CheckpointState(Record, frozen=True, kw_only=True):
    """A request and, once it is settled, the hash of its accepted output."""

    request_id: str
    kind: RequestKind
    status: RequestStatus
    digest: str
    output_hash: str | None


class Receipt(Record, frozen=True, kw_only=True):
    """The stored reply to a command; the same key and fingerprint get it again, as `adopted`.

    `outcome`: accepted, adopted, rejected, conflict, not_found or claim_lost. `winner` is {choice, actor, at,
    source} of the answer that won, where one did.
    """

    outcome: str
    command: str
    key: str
    run_id: str | None
    revision: int | None
    reason: str | None = None
    winner: dict[str, Any] | None = None
    at: int = 0
    details: dict[str, Any] = msgspec.field(default_factory=dict)
