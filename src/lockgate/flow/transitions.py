"""The two families of transitions, as data.

*Proposals* come from the holder of a run's claim; *commands* from anyone. The law (flow.law) says for each
what it needs and what it does. Values are named by hash: they are stored in the same transaction.
"""

import msgspec

from lockgate.flow.choices import Choice
from lockgate.model.events import Birth
from lockgate.model.records import Human
from lockgate.model.statuses import (
    BlockCode,
    EffectStatus,
    Outcome,
    OwnerKind,
    Recovery,
    RequestKind,
    RunStatus,
)


class Proposal(msgspec.Struct, frozen=True, kw_only=True, tag_field="proposal"):
    """A change that only the claim's holder may propose."""


class StartAttempt(Proposal, tag="startAttempt", frozen=True, kw_only=True):
    """`timeout_ms` where the definition knows it; working time only, None is unlimited."""

    attempt_id: str
    node_id: str
    timeout_ms: int | None = None


class FinishAttempt(Proposal, tag="finishAttempt", frozen=True, kw_only=True):
    """`switch_value` is the string form of the scalar that the outgoing switch reads, if there is one.

    `settings_hash` names the first settings of the include that this step enters, if that declares any.
    """

    attempt_id: str
    outcome: Outcome
    output_hash: str | None = None
    error_hash: str | None = None
    error_summary: str | None = None
    prompt_hash: str | None = None
    switch_value: str | None = None
    settings_hash: str | None = None


class SetTimeout(Proposal, tag="setTimeout", frozen=True, kw_only=True):
    attempt_id: str
    timeout_ms: int | None


class DecisionAsk(msgspec.Struct, frozen=True, kw_only=True):
    """The decision part of a wait: what the digest is made of, hashed by the proposer.

    `choices` are the digested choices in their order; `seconds` and `default` belong together.
    """

    audience: str
    title: str
    subject_hash: str
    presentation_hash: str
    choices_hash: str
    choices: tuple[Choice, ...]
    seconds: int | None
    default: str | None


class WaitForInput(Proposal, tag="waitForInput", frozen=True, kw_only=True):
    """`contract_hash` names the stored contract: what the answer must be and what the person reads."""

    attempt_id: str
    kind: RequestKind
    contract_hash: str
    ask: DecisionAsk | None = None


class Finish(Proposal, tag="finish", frozen=True, kw_only=True):
    status: RunStatus
    output_hash: str | None = None
    error_hash: str | None = None
    error_code: str | None = None
    error_summary: str | None = None


class RecordPrompt(Proposal, tag="recordPrompt", frozen=True, kw_only=True):
    """record: agent_prompt_sent."""

    attempt_id: str
    prompt_hash: str


class RecordNotice(Proposal, tag="recordNotice", frozen=True, kw_only=True):
    """record: notified."""

    attempt_id: str
    message_hash: str
    summary: str


class PublishUpdate(Proposal, tag="publishUpdate", frozen=True, kw_only=True):
    attempt_id: str
    update_id: str
    update_type: str
    update_key: str
    data_hash: str


class RetryRoute(Proposal, tag="retryRoute", frozen=True, kw_only=True):
    """record: settings_route_retried. Binds the same attempt to the newest settings."""

    attempt_id: str


class ReserveEffect(Proposal, tag="reserveEffect", frozen=True, kw_only=True):
    """Answers execute, adopted, verify or ambiguous."""

    attempt_id: str
    effect_type: str
    recovery: Recovery
    payload_hash: str | None = None


class SettleEffect(Proposal, tag="settleEffect", frozen=True, kw_only=True):
    """`status` applied, rejected or ambiguous; ambiguous blocks the run until a person resolves it."""

    attempt_id: str
    effect_id: str
    status: EffectStatus
    result_hash: str | None = None
    error_hash: str | None = None


AnyProposal = (
    StartAttempt
    | FinishAttempt
    | SetTimeout
    | WaitForInput
    | Finish
    | RecordPrompt
    | RecordNotice
    | PublishUpdate
    | RetryRoute
    | ReserveEffect
    | SettleEffect
)


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A change that anyone may ask for; the law reads what it needs from the head and the facts."""


class Start(Command, frozen=True, kw_only=True):
    """Makes the run (there is no head yet). For a restart, `birth` carries the lineage."""

    run_id: str
    birth: Birth


class Claim(Command, frozen=True, kw_only=True):
    """By a host or a process. `token_hash` and the lease are kept beside the events."""

    token_hash: str
    owner_kind: OwnerKind
    owner_id: str
    host_epoch: int | None = None


class Ready(Command, frozen=True, kw_only=True):
    """The worker of this claim has loaded the definition and goes on from the head."""


class Release(Command, frozen=True, kw_only=True):
    """The worker gave the claim back between nodes."""


class Lose(Command, frozen=True, kw_only=True):
    """The claim ended without its worker's word.

    `cause` is a short word (exit, signal, silent, host_lost, host_stopped, timeout, pause_now, unseen). `counted`
    says whether it counts against the visit; `progressed` whether this launch committed any proposal.
    """

    cause: str
    counted: bool
    progressed: bool
    exit_code: int | None = None
    signal: int | None = None


class Block(Command, frozen=True, kw_only=True):
    """The launch found something that will not mend itself: source_changed (`graph_changed`: the files make another
    graph than the run's), load_failed."""

    code: BlockCode
    detail: str | None = None
    graph_changed: bool = False


class Answer(Command, frozen=True, kw_only=True):
    """A person's answer: digest of what was seen, and the hash of {"choice", "input"?} which was checked."""

    human: Human
    request_id: str
    digest: str
    choice: str
    response_hash: str
    submission_id: str


class Submit(Command, frozen=True, kw_only=True):
    """An ordinary answer, already checked against the contract that `contract_hash` names."""

    request_id: str
    contract_hash: str
    output_hash: str
    submission_id: str
    source: str


class Expire(Command, frozen=True, kw_only=True):
    """The deadline's default, taken by the host."""

    request_id: str
    response_hash: str
    submission_id: str


class Pause(Command, frozen=True, kw_only=True):
    """With `stop_now` the holder of the claim stops the worker in the middle of its node."""

    stop_now: bool = False


class Resume(Command, frozen=True, kw_only=True):
    """`new_sources_hash` accepts changed files, the graph being unchanged."""

    old_sources_hash: str | None = None
    new_sources_hash: str | None = None


class Cancel(Command, frozen=True, kw_only=True):
    """Ends the run whatever it does."""


class CheckRestart(Command, frozen=True, kw_only=True):
    """The parent's side of restart: terminal, at the revision that was seen, nothing unsettled. Writes nothing."""

    expected_revision: int


class ResolveEffect(Command, frozen=True, kw_only=True):
    """A person says whether an ambiguous effect happened; the first resolution wins."""

    human: Human
    effect_id: str
    happened: bool
    result_hash: str | None = None


class ChangeSettings(Command, frozen=True, kw_only=True):
    """A patch already applied to one scope's settings of `expected_change`, checked against rules and schema."""

    mount: str
    invocation: int
    expected_change: int
    patch_hash: str
    before_hash: str
    after_hash: str
    source: str


AnyCommand = (
    Start
    | Claim
    | Ready
    | Release
    | Lose
    | Block
    | Answer
    | Submit
    | Expire
    | Pause
    | Resume
    | Cancel
    | CheckRestart
    | ResolveEffect
    | ChangeSettings
)
