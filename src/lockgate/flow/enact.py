"""What an event does to a run's rows: one small function for each event type, and nothing else.

`enact` is the only place where rows follow from events. The law makes its new head by it, and the fold makes
a run's rows by it, so what the store writes and what the events say cannot differ. It decides nothing.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from lockgate.flow import enact_node as nodes
from lockgate.flow import enact_run as runs
from lockgate.flow.enact_run import Enacted
from lockgate.flow.graph import Graph
from lockgate.flow.head import RunHead
from lockgate.model import events as ev


def enact(head: RunHead | None, event: ev.Event, graph: Graph | None = None) -> Enacted:
    """The head after `event`, and the rows that it saves whole. `graph` is needed for a run's first event."""
    if head is None:
        assert graph is not None
        return runs.bear(event, graph)
    payload = event.payload
    head, rows = _ENACT[event.type](head, event, payload)
    clocks: ev.Clocks | None = getattr(payload, "clocks", None)
    if clocks is None:
        run = replace(head.run, revision=event.seq, last_at=event.at, chain_head=event.hash)
        return replace(head, run=run), rows
    run = head.run
    run = replace(
        run,
        revision=event.seq,
        last_at=event.at,
        chain_head=event.hash,
        active_ms=run.active_ms + clocks.elapsed_ms,
        waiting_ms=run.waiting_ms + clocks.waited_ms,
        clock=clocks.to,
        clock_since=event.at,
    )
    if clocks.interval is None:
        return replace(head, run=run), rows
    interval = clocks.interval if head.attempt is not None else None
    return replace(head, run=run, interval=interval), (*rows, clocks.interval)


_ENACT: dict[str, Callable[[RunHead, ev.Event, Any], Enacted]] = {
    "run_queued": runs.queued,
    "run_claimed": runs.claimed,
    "run_started": runs.started,
    "run_resumed": runs.resumed,
    "run_parked": runs.parked,
    "run_paused": runs.paused,
    "run_unpaused": runs.unpaused,
    "run_blocked": runs.blocked,
    "run_unblocked": runs.unblocked,
    "run_interrupted": runs.interrupted,
    "run_completed": runs.ended,
    "run_failed": runs.ended,
    "run_timed_out": runs.ended,
    "run_cancelled": runs.ended,
    "source_accepted": runs.sources,
    "run_pruned": runs.nothing,
    "node_started": nodes.node_started,
    "node_timeout_set": nodes.timeout_set,
    "node_finished": nodes.node_ended,
    "node_failed": nodes.node_ended,
    "update_published": nodes.update,
    "checkpoint_requested": nodes.opened,
    "decision_requested": nodes.opened,
    "submission_rejected": nodes.rejected,
    "interaction_accepted": nodes.answered,
    "decision_accepted": nodes.answered,
    "decision_withdrawn": nodes.withdrawn,
    "effect_reserved": nodes.effect,
    "effect_applied": nodes.effect,
    "effect_rejected": nodes.effect,
    "effect_ambiguous": nodes.effect,
    "effect_resolved": nodes.resolved,
    "settings_changed": runs.settings_changed,
    "settings_route_retried": nodes.route_retried,
    "include_entered": runs.include_entered,
    "include_exited": runs.include_exited,
    "agent_prompt_sent": nodes.prompt,
    "notified": runs.nothing,
}
