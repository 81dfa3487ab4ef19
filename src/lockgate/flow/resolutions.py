"""The law's rules for what a run waits for: opening a request, and the one answer that wins it.

A human answer, the deadline's default and a cancellation race through one resolution. The loser is told who
won, when and with what, and what it wrote is kept.

A deadline is a moment of wall time, which people are told and which is in the digest. Where the wall clock is set
back, the default is late by as much. It is judged by the run's own time, which is the wall clock but never goes
back: who was once refused `expired` stays so, and no accepted answer is dated after its deadline.
"""

from typing import Any

import msgspec

from lockgate.flow import transitions as t
from lockgate.flow.choices import Choice
from lockgate.flow.digests import decision_digest, request_digest
from lockgate.flow.draft import Draft
from lockgate.flow.head import Facts, RunHead
from lockgate.flow.proposals import require_attempt
from lockgate.model import events as ev
from lockgate.model import ids
from lockgate.model.encoding import stored
from lockgate.model.errors import NotFound, Refused
from lockgate.model.records import (
    Actor,
    AttemptRow,
    DecisionRow,
    Human,
    Policy,
    RequestRow,
    ResolutionRow,
    SubmissionRow,
)
from lockgate.model.statuses import (
    ActorKind,
    Clock,
    EffectStatus,
    Intent,
    NodeKind,
    Provenance,
    RequestKind,
    RequestStatus,
    SubmissionOutcome,
)

MAX_TITLE_BYTES = 602
"""As JSON, the 200 UTF-16 units of an Ask's title at their longest: it stands in the event of the request, whose
payload stays under 4 KiB."""

_MOST_SHOWN = 80
"""Of what was given as a digest, which may be anything."""

_KINDS = {
    NodeKind.HUMAN_DECISION: RequestKind.DECISION,
    NodeKind.CHECKPOINT: RequestKind.CHECKPOINT,
    NodeKind.AGENT: RequestKind.AGENT,
}


def wait_for_input(draft: Draft, wish: t.WaitForInput, facts: Facts) -> dict[str, Any]:
    head = draft.head
    attempt = require_attempt(head, wish.attempt_id)
    if _KINDS.get(attempt.kind) is not wish.kind or head.graph.node(attempt.node_id).commanded:
        raise Refused("wrong_kind", f"a node of kind {attempt.kind} does not wait for {wish.kind}")
    if head.request is not None:
        raise Refused("already_asked", f"the attempt {attempt.attempt_id} has asked already")
    if head.effect is not None and head.effect.status is EffectStatus.APPLYING:
        raise Refused("effect_unsettled", f"the effect {head.effect.effect_id} is being applied")
    if (wish.kind is RequestKind.DECISION) != (wish.ask is not None):
        raise Refused("wrong_kind", "exactly a decision carries an ask")
    if wish.ask is not None:
        request, decision = _ask(draft, attempt, wish, wish.ask, facts.policy)
    else:
        request, decision = _plain(draft, attempt, wish), None
    clock = Clock.AGENT if wish.kind is RequestKind.AGENT else Clock.PERSON
    payload = ev.RequestOpened(
        request=request,
        decision=decision,
        clocks=draft.clocks(Clock.PAUSED if head.run.paused else clock),
    )
    name = "decision_requested" if decision is not None else "checkpoint_requested"
    draft.emit(name, payload, attempt.attempt_id)
    return {"request_id": request.request_id, "digest": request.digest}


def _ask(
    draft: Draft, attempt: AttemptRow, wish: t.WaitForInput, ask: t.DecisionAsk, policy: Policy | None
) -> tuple[RequestRow, DecisionRow]:
    run = draft.head.run
    _check_ask(draft.head, attempt, ask)
    deadline = draft.at + ask.seconds * 1000 if ask.seconds is not None else None
    digest = decision_digest(
        run_id=run.run_id,
        workflow=run.workflow,
        node=attempt.node_id,
        attempt_id=attempt.attempt_id,
        ask=ask,
        deadline_at=deadline,
        policy=policy,
        started_by=run.started_by,
    )
    decision = DecisionRow(
        decision_id=ids.decision_id(run.run_id, attempt.node_id, attempt.attempt_id, digest),
        run_id=run.run_id,
        attempt_id=attempt.attempt_id,
        node_id=attempt.node_id,
        audience=ask.audience,
        title=ask.title,
        subject_hash=ask.subject_hash,
        presentation_hash=ask.presentation_hash,
        choices_hash=ask.choices_hash,
        request_digest=digest,
        deadline_at=deadline,
        default_choice=ask.default,
        created_at=draft.at,
    )
    text = msgspec.json.encode(policy, order="sorted").decode() if policy is not None else None
    request = _request(draft, attempt, wish, decision.decision_id, digest)
    return msgspec.structs.replace(request, policy=text, deadline_at=deadline), decision


def _check_ask(head: RunHead, attempt: AttemptRow, ask: t.DecisionAsk) -> None:
    spec = head.graph.node(attempt.node_id)
    choices = spec.choices
    ids.match(ids.NODE_ID, ask.audience, "an audience")
    if spec.audience is not None and ask.audience != spec.audience:
        raise Refused("wrong_audience", f"the definition asks {spec.audience!r}, not {ask.audience!r}")
    if ask.choices != choices:
        raise Refused("wrong_choices", f"the choices of {attempt.node_id!r} are not the definition's")
    size = len(stored(ask.title))
    if not ask.title.strip() or size > MAX_TITLE_BYTES:
        raise Refused("wrong_title", f"a title is not blank and has at most {MAX_TITLE_BYTES} bytes, got {size}")
    if (ask.seconds is None) != (ask.default is None):
        raise Refused("wrong_default", "a deadline always has a default, and a default a deadline")
    fixed = spec.default
    if fixed is not None and (ask.default, ask.seconds) != (fixed.choice, fixed.after_ms // 1000):
        raise Refused("wrong_default", f"the definition takes {fixed.choice!r} after {fixed.after_ms // 1000} s")
    if ask.seconds is not None and ask.seconds <= 0:
        raise Refused("wrong_default", f"a deadline is at least 1 s away, got {ask.seconds} s")
    if ask.default is not None:
        chosen = _choice(choices, ask.default)
        if chosen.input is not None and chosen.input.min_length > 0:
            raise Refused("wrong_default", f"the default {ask.default!r} needs a text that nobody would give")


def _plain(draft: Draft, attempt: AttemptRow, wish: t.WaitForInput) -> RequestRow:
    run = draft.head.run
    digest = request_digest(
        run_id=run.run_id,
        workflow=run.workflow,
        node=attempt.node_id,
        attempt_id=attempt.attempt_id,
        kind=wish.kind,
        contract_hash=wish.contract_hash,
    )
    return _request(draft, attempt, wish, ids.request_id(run.run_id, attempt.attempt_id), digest)


def _request(draft: Draft, attempt: AttemptRow, wish: t.WaitForInput, id: str, digest: str) -> RequestRow:
    return RequestRow(
        request_id=id,
        run_id=draft.head.run.run_id,
        attempt_id=attempt.attempt_id,
        node_id=attempt.node_id,
        kind=wish.kind,
        status=RequestStatus.PENDING,
        digest=digest,
        contract_hash=wish.contract_hash,
        policy=None,
        deadline_at=None,
        accepted_submission_id=None,
        output_hash=None,
        created_at=draft.at,
        settled_at=None,
        consumed_at=None,
    )


def answer(draft: Draft, wish: t.Answer, facts: Facts) -> dict[str, Any]:
    """The order of the checks is the order in which a person wants to be told."""
    request, decision = _named(facts, wish.request_id)
    if decision is None:
        raise Refused("wrong_kind", f"{wish.request_id} is no decision: lockgate submit answers it")
    if wish.digest != request.digest:
        seen, now = wish.digest[:_MOST_SHOWN], request.digest
        if ids.fingerprint(seen) != ids.fingerprint(now):
            seen, now = ids.fingerprint(seen), ids.fingerprint(now)
        raise Refused(
            "stale",
            f"the decision was seen as {seen}, it is {now}",
            seen=wish.digest,
            digest=request.digest,
        )
    submission = _submission(draft, wish.submission_id, request, "human", wish.response_hash, wish.human)
    lost = _lost(draft.head, request, facts.resolution)
    if lost is not None:
        return _keep(draft, submission, lost, request, facts.resolution)
    _refuse_when_paused(draft.head)
    if request.deadline_at is not None and draft.at > request.deadline_at:
        return _keep(draft, submission, SubmissionOutcome.EXPIRED, request, None)
    chosen = _choice(draft.head.graph.node(request.node_id).choices, wish.choice)
    _check_policy(draft.head, request, wish.human, chosen)
    resolution = ResolutionRow(
        decision_id=decision.decision_id,
        run_id=decision.run_id,
        provenance=Provenance.HUMAN,
        choice=wish.choice,
        response_hash=wish.response_hash,
        submission_id=wish.submission_id,
        actor_kind=ActorKind.HUMAN,
        actor_id=wish.human.id,
        channel=wish.human.channel,
        request_digest=request.digest,
        resolved_at=draft.at,
    )
    _settle(draft, request, submission, resolution)
    return {"outcome": "accepted", "choice": wish.choice}


def expire(draft: Draft, wish: t.Expire, facts: Facts) -> dict[str, Any]:
    """The deadline's default; refused while a person could still answer, and when anybody already has."""
    request, decision = _named(facts, wish.request_id)
    if decision is None or decision.default_choice is None or request.deadline_at is None:
        raise Refused("no_default", f"{wish.request_id} has no deadline")
    submission = _submission(draft, wish.submission_id, request, "policy", wish.response_hash, None)
    lost = _lost(draft.head, request, facts.resolution)
    if lost is not None:
        told = _told(facts.resolution)
        raise Refused(str(lost), f"{wish.request_id} is settled already", winner=told)
    _refuse_when_paused(draft.head)
    if draft.at < request.deadline_at:
        raise Refused("not_due", f"the deadline {request.deadline_at} is not there yet")
    resolution = ResolutionRow(
        decision_id=decision.decision_id,
        run_id=decision.run_id,
        provenance=Provenance.TIMEOUT_POLICY,
        choice=decision.default_choice,
        response_hash=wish.response_hash,
        submission_id=wish.submission_id,
        actor_kind=ActorKind.POLICY,
        actor_id=submission.actor_id,
        channel=None,
        request_digest=request.digest,
        resolved_at=draft.at,
    )
    _settle(draft, request, submission, resolution)
    return {"outcome": "accepted", "choice": decision.default_choice}


def submit(draft: Draft, wish: t.Submit, facts: Facts) -> dict[str, Any]:
    request, decision = _named(facts, wish.request_id)
    if decision is not None:
        raise Refused("wrong_kind", f"{wish.request_id} is a human decision: lockgate answer answers it")
    if wish.contract_hash != request.contract_hash:
        raise Refused("stale", "the output was checked against another contract")
    ids.match(ids.WORD, wish.source, "a source")
    submission = _submission(draft, wish.submission_id, request, wish.source, wish.output_hash, None)
    lost = _lost(draft.head, request, None)
    if lost is not None:
        return _keep(draft, submission, lost, request, None)
    _refuse_when_paused(draft.head)
    _settle(draft, request, submission, None)
    return {"outcome": "accepted"}


def _named(facts: Facts, request_id: str) -> tuple[RequestRow, DecisionRow | None]:
    if facts.request is None:
        raise NotFound("request", request_id)
    return facts.request, facts.decision


def _lost(head: RunHead, request: RequestRow, resolution: ResolutionRow | None) -> SubmissionOutcome | None:
    """Why an answer to this request cannot win any more, or None while it can."""
    if resolution is not None and resolution.provenance is not Provenance.EXPLICIT_CANCEL:
        return SubmissionOutcome.ALREADY_RESOLVED
    if request.status is RequestStatus.SETTLED:
        return SubmissionOutcome.ALREADY_RESOLVED
    if head.run.status.is_terminal or request.status is RequestStatus.CANCELLED:
        return SubmissionOutcome.RUN_CLOSED
    return None


def _refuse_when_paused(head: RunHead) -> None:
    if head.run.paused:
        raise Refused("paused", "the run is paused: it takes no answers until lockgate resume")


def _keep(
    draft: Draft,
    submission: SubmissionRow,
    outcome: SubmissionOutcome,
    request: RequestRow,
    resolution: ResolutionRow | None,
) -> dict[str, Any]:
    """A losing answer changes nothing but is kept with its text, and is told who won."""
    kept = msgspec.structs.replace(submission, outcome=outcome, winner=request.accepted_submission_id)
    draft.emit("submission_rejected", ev.SubmissionRejected(submission=kept))
    return {"outcome": str(outcome), "winner": _told(resolution)}


def _told(resolution: ResolutionRow | None) -> dict[str, Any] | None:
    """Who won, as the loser learns it."""
    if resolution is None:
        return None
    return {
        "choice": resolution.choice,
        "actor": resolution.actor_id,
        "at": resolution.resolved_at,
        "provenance": str(resolution.provenance),
    }


def _settle(draft: Draft, request: RequestRow, submission: SubmissionRow, resolution: ResolutionRow | None) -> None:
    head = draft.head
    if head.request is None or head.request.request_id != request.request_id:
        raise Refused("run_closed", f"the run does not wait for {request.request_id}")
    payload = ev.RequestAnswered(
        submission=submission,
        resolution=resolution,
        output_hash=submission.payload_hash,
        available_at=draft.now.wall_ms,
        clocks=draft.clocks(Clock.IDLE),
    )
    name = "decision_accepted" if resolution is not None else "interaction_accepted"
    draft.emit(name, payload, request.attempt_id)


def _submission(
    draft: Draft, id: str, request: RequestRow, source: str, payload_hash: str, human: Human | None
) -> SubmissionRow:
    actor: Actor = human.actor if human is not None else draft.actor
    return SubmissionRow(
        submission_id=id,
        request_id=request.request_id,
        run_id=request.run_id,
        source=source,
        actor_kind=actor.kind,
        actor_id=actor.id,
        channel=human.channel if human is not None else None,
        payload_hash=payload_hash,
        outcome=SubmissionOutcome.ACCEPTED,
        winner=None,
        submitted_at=draft.at,
    )


def _choice(choices: tuple[Choice, ...], key: str) -> Choice:
    for choice in choices:
        if choice.key == key:
            return choice
    known = ", ".join(choice.key for choice in choices)
    raise Refused("invalid_input", f"choice: one of {known}, got {key!r}", field="choice", given=key)


def _check_policy(head: RunHead, request: RequestRow, human: Human, choice: Choice) -> None:
    if request.policy is None:
        return
    policy = msgspec.json.decode(request.policy, type=Policy)
    if policy.users is not None and human.id not in policy.users:
        raise Refused("not_allowed", f"{human.id} may not answer for {policy.audience}", audience=policy.audience)
    own = human.uid == head.run.started_by_uid or human.id == head.run.started_by
    if own and not policy.self_approval and choice.intent is Intent.APPROVE:
        raise Refused("not_allowed", f"{human.id} started this run and may not approve it", audience=policy.audience)
