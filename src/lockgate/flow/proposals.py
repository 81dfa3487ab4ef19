"""The law's rules for the claim's holder: attempts, timeouts, records, updates; flow.endings has the end of a run."""

from typing import Any

from lockgate.flow import includes
from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft
from lockgate.flow.head import Facts, RunHead
from lockgate.flow.switches import MAX_SWITCH_CHARS
from lockgate.model import events as ev
from lockgate.model import ids
from lockgate.model.errors import Refused, RouteError
from lockgate.model.records import AttemptRow, UpdateRow
from lockgate.model.statuses import (
    AttemptStatus,
    Clock,
    EffectStatus,
    NodeKind,
    Outcome,
    QueueStatus,
    RunStatus,
)

MAX_UPDATE_PAIRS = 1024


def start_attempt(draft: Draft, wish: t.StartAttempt, facts: Facts) -> dict[str, Any]:
    head = draft.head
    require_running(head)
    refuse_when_paused(head)
    active = head.attempt
    if active is not None and active.status is not AttemptStatus.INTERRUPTED:
        raise Refused("attempt_active", f"the run already has the active attempt {active.attempt_id}")
    ids.match(ids.ATTEMPT_ID, wish.attempt_id, "an attempt id")
    _refuse_when_taken(wish.attempt_id, facts)
    expected = next_node(head)
    if wish.node_id != expected:
        raise Refused("wrong_node", f"the graph leads to {expected!r}, not to {wish.node_id!r}")
    if not head.graph.is_passage(wish.node_id):
        _refuse_over_limit(head)
    spec = head.graph.node(wish.node_id)
    known = None if spec.timeout_computed else spec.timeout_ms
    if wish.timeout_ms != known:
        raise Refused("wrong_timeout", f"the definition says {known} ms, not {wish.timeout_ms}")
    payload = ev.NodeStarted(
        node=wish.node_id,
        kind=spec.kind,
        ordinal=head.newest.ordinal + 1 if head.newest is not None else 1,
        attempt_number=facts.attempt_number + 1,
        visit=facts.next_visit,
        timeout_ms=wish.timeout_ms,
        replaced_attempt_id=active.attempt_id if active is not None else None,
        clocks=draft.opening(wish.attempt_id, 1),
        settings_change=head.settings.change_number if head.settings is not None else None,
        settings_hash=head.settings.current_hash if head.settings is not None else None,
    )
    draft.emit("node_started", payload, wish.attempt_id)
    return {
        "ordinal": payload.ordinal,
        "attempt_number": payload.attempt_number,
        "visit": payload.visit,
        "settings_hash": payload.settings_hash,
    }


def finish_attempt(draft: Draft, wish: t.FinishAttempt, facts: Facts) -> None:
    head = draft.head
    attempt = require_attempt(head, wish.attempt_id)
    if head.effect is not None and head.effect.status in (EffectStatus.APPLYING, EffectStatus.AMBIGUOUS):
        raise Refused("effect_unsettled", f"the effect {head.effect.effect_id} is {head.effect.status}")
    if wish.switch_value is not None and len(wish.switch_value) > MAX_SWITCH_CHARS:
        raise Refused("switch_too_long", f"a switch reads at most {MAX_SWITCH_CHARS} characters")
    _check_settings_seen(head, attempt, wish)
    consumed = _check_answer_used(head, attempt, wish)
    payload = ev.NodeEnded(
        node=attempt.node_id,
        outcome=wish.outcome,
        step_index=head.run.steps,
        switch_value=wish.switch_value,
        prompt_hash=wish.prompt_hash,
        output_hash=wish.output_hash if wish.outcome is Outcome.OK else None,
        error_hash=wish.error_hash,
        error_summary=short(wish.error_summary),
        consumed_request_id=consumed,
        clocks=draft.clocks(Clock.IDLE),
    )
    draft.emit("node_finished" if wish.outcome is Outcome.OK else "node_failed", payload, attempt.attempt_id)
    if wish.outcome is Outcome.OK:
        includes.pass_through(draft, attempt, wish)


def _refuse_over_limit(head: RunHead) -> None:
    """Each invocation that goes on has its own limit, which counts the steps of what it includes, too."""
    for scope in head.scopes:
        limit = head.graph.max_steps_of(scope.mount)
        if head.run.steps - scope.steps >= limit:
            who = "the run" if scope.mount == ids.ROOT_MOUNT else f"invocation {scope.invocation} of {scope.mount!r}"
            raise Refused("max_steps", f"{who} has made its {limit} steps", limit=limit)


def _check_answer_used(head: RunHead, attempt: AttemptRow, wish: t.FinishAttempt) -> str | None:
    """A checkpoint or decision is ok only with exactly its accepted answer; returns the request used up."""
    consumed = head.request.request_id if head.is_answered and head.request is not None else None
    if wish.outcome is not Outcome.OK:
        return consumed
    if attempt.kind in (NodeKind.CHECKPOINT, NodeKind.HUMAN_DECISION):
        if consumed is None:
            raise Refused("not_answered", f"node {attempt.node_id!r} has no accepted answer")
        assert head.request is not None
        if wish.output_hash != head.request.output_hash:
            raise Refused("wrong_output", f"the output of {attempt.node_id!r} is not its accepted answer")
    if wish.output_hash is None:
        raise Refused("no_output", f"an ok step of {attempt.node_id!r} needs an output")
    return consumed


def _check_settings_seen(head: RunHead, attempt: AttemptRow, wish: t.FinishAttempt) -> None:
    """A settings route counts only if it saw the newest settings; the engine then decides it again."""
    if wish.outcome is not Outcome.OK or head.settings is None or not head.graph.is_settings_route(attempt.node_id):
        return
    if attempt.settings_change != head.settings.change_number:
        raise Refused(
            "settings_changed",
            f"the route {attempt.node_id!r} saw change {attempt.settings_change} of the settings, "
            f"they are at {head.settings.change_number}",
            seen=attempt.settings_change,
            change=head.settings.change_number,
        )


def set_timeout(draft: Draft, wish: t.SetTimeout, facts: Facts) -> None:
    attempt = require_attempt(draft.head, wish.attempt_id)
    if not draft.head.graph.node(attempt.node_id).timeout_computed or attempt.timeout_ms is not None:
        raise Refused("timeout_fixed", f"the timeout of {attempt.node_id!r} is set already")
    if wish.timeout_ms is not None and wish.timeout_ms <= 0:
        raise Refused("wrong_timeout", f"a timeout is more than 0 ms, got {wish.timeout_ms}")
    draft.emit("node_timeout_set", ev.NodeTimeoutSet(timeout_ms=wish.timeout_ms), attempt.attempt_id)


def record_prompt(draft: Draft, wish: t.RecordPrompt, facts: Facts) -> None:
    attempt = require_attempt(draft.head, wish.attempt_id)
    draft.emit("agent_prompt_sent", ev.AgentPromptSent(prompt_hash=wish.prompt_hash), attempt.attempt_id)


def record_notice(draft: Draft, wish: t.RecordNotice, facts: Facts) -> None:
    attempt = require_attempt(draft.head, wish.attempt_id)
    payload = ev.Notified(message_hash=wish.message_hash, summary=short(wish.summary) or "")
    draft.emit("notified", payload, attempt.attempt_id)


def publish_update(draft: Draft, wish: t.PublishUpdate, facts: Facts) -> None:
    attempt = require_attempt(draft.head, wish.attempt_id)
    ids.match(ids.UPDATE_ID, wish.update_id, "an update id")
    ids.match(ids.UPDATE_TYPE, wish.update_type, "an update's type")
    ids.match(ids.UPDATE_KEY, wish.update_key, "an update's key")
    _refuse_when_taken(wish.update_id, facts)
    if facts.update_pairs >= MAX_UPDATE_PAIRS:
        raise Refused("too_many_updates", f"an attempt has at most {MAX_UPDATE_PAIRS} current updates")
    update = UpdateRow(
        update_id=wish.update_id,
        run_id=draft.head.run.run_id,
        attempt_id=attempt.attempt_id,
        update_seq=facts.update_seq + 1,
        update_type=wish.update_type,
        update_key=wish.update_key,
        data_hash=wish.data_hash,
        recorded_at=draft.at,
    )
    draft.emit("update_published", ev.UpdatePublished(update=update), attempt.attempt_id)


def require_running(head: RunHead) -> None:
    """Proposals need a run that a ready worker executes."""
    if head.run.status is not RunStatus.RUNNING or head.queue.status is not QueueStatus.RUNNING:
        raise Refused("not_running", f"the run is {head.run.status}, its queue entry {head.queue.status}")


def refuse_when_paused(head: RunHead) -> None:
    if head.run.paused:
        raise Refused("paused", "the run is paused")


def _refuse_when_taken(id: str, facts: Facts) -> None:
    if facts.is_id_taken:
        raise Refused("id_taken", f"{id} was used before: what was proposed under it is done already", given=id)


def require_attempt(head: RunHead, attempt_id: str) -> AttemptRow:
    """The active attempt, which must be running and be the named one."""
    require_running(head)
    attempt = head.attempt
    if attempt is None or attempt.attempt_id != attempt_id:
        raise Refused("wrong_attempt", f"{attempt_id} is not the run's active attempt")
    if attempt.status is not AttemptStatus.RUNNING:
        raise Refused("wrong_attempt", f"the attempt {attempt_id} is {attempt.status}")
    return attempt


def next_node(head: RunHead) -> str:
    """Where the graph leads from the last step. Raises Refused where it ends or has no route."""
    node = ahead(head)
    if node is None:
        raise Refused("at_end", "the graph ends here")
    return node


def ahead(head: RunHead) -> str | None:
    """The next node by the graph, None where it ends. Raises Refused `no_route`."""
    last = head.last
    if last is None:
        return head.graph.start
    try:
        return head.graph.next(last.node_id, last.outcome, last.switch_value)
    except RouteError as error:
        raise Refused("no_route", error.message) from error


def short(text: str | None) -> str | None:
    """As much of a text as an event may hold."""
    return text[: ev.SUMMARY_CHARS] if text is not None else None
