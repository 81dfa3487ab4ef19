"""The head of a run: its present rows, without any history. The law decides on it and on nothing else."""

from lockgate.flow.graph import Graph
from lockgate.model.records import (
    AttemptRow,
    DecisionRow,
    EffectAttemptRow,
    EffectRow,
    HeadState,
    IntervalRow,
    Policy,
    QueueRow,
    Record,
    RequestRow,
    ResolutionRow,
    RunRow,
    SettingsRow,
)
from lockgate.model.statuses import Outcome, RequestStatus, RunStatus

LEASE_MS = 30_000
"""How long a claim may go without a heartbeat, by (boot, monotonic) time, before others may end it."""


class LastStep(Record, frozen=True, kw_only=True):
    """The newest finished attempt: what routing, finishing and numbering the next attempt need of it."""

    ordinal: int
    attempt_number: int
    visit: int
    node_id: str
    outcome: Outcome
    switch_value: str | None
    output_hash: str | None


class Scope(Record, frozen=True, kw_only=True):
    """One invocation that is going on: of the root workflow, or of an include that was entered and not left.

    `steps` is how many the run had when it began; `settings` are its live settings, where it declares any.
    """

    mount: str
    invocation: int
    steps: int
    settings: SettingsRow | None


class RunHead(Record, frozen=True, kw_only=True):
    """`attempt` is the active one; `interval` is its newest; `request`, `decision`, `effect` belong to it
    (the effect to its node visit, so that a replacing attempt finds it). `scopes` are the invocations that go
    on, the root first: whatever is active or comes next belongs to the last of them."""

    run: RunRow
    queue: QueueRow
    graph: Graph
    last: LastStep | None = None
    attempt: AttemptRow | None = None
    interval: IntervalRow | None = None
    request: RequestRow | None = None
    decision: DecisionRow | None = None
    effect: EffectRow | None = None
    effect_attempt: EffectAttemptRow | None = None
    scopes: tuple[Scope, ...]

    @property
    def settings(self) -> SettingsRow | None:
        """The settings of the workflow that the run is in."""
        return self.scopes[-1].settings

    @property
    def newest(self) -> AttemptRow | LastStep | None:
        """The run's newest attempt: the active one, else the last step. Nothing else is ever the newest of a run
        that goes on: an attempt that ends without a step is replaced in the same transaction."""
        return self.attempt or self.last

    @property
    def holds_claim(self) -> bool:
        return self.queue.token_hash is not None

    @property
    def is_pending(self) -> bool:
        """Whether the active attempt waits for an answer that has not come."""
        return self.request is not None and self.request.status is RequestStatus.PENDING

    @property
    def is_answered(self) -> bool:
        """Whether an accepted answer waits to be used; the person is never asked again."""
        request = self.request
        return request is not None and request.status is RequestStatus.SETTLED and request.consumed_at is None

    @property
    def state(self) -> HeadState:
        return HeadState(
            revision=self.run.revision,
            paused=self.run.paused,
            cancelled=self.run.status is RunStatus.CANCELLED,
            settings_change=self.settings.change_number if self.settings is not None else None,
        )


class Facts(Record, frozen=True, kw_only=True):
    """Rows that one transition needs besides the head, read by the store in the same transaction.

    For startAttempt: the node's newest attempt number and its next visit. For publishUpdate: the attempt's newest
    update number and its current (type, key) pairs. For both: whether any run has used the proposed id
    (`is_id_taken`). For answers and resolutions: the named rows, which need not belong to the active attempt. For
    restart: the number of effects that are not settled. For waitForInput: the policy in force for the decision's
    audience.
    """

    attempt_number: int = 0
    next_visit: int = 1
    update_seq: int = 0
    update_pairs: int = 0
    is_id_taken: bool = False
    request: RequestRow | None = None
    decision: DecisionRow | None = None
    resolution: ResolutionRow | None = None
    effect: EffectRow | None = None
    effect_attempt: EffectAttemptRow | None = None
    unsettled_effects: int = 0
    policy: Policy | None = None
