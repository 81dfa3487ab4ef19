"""THE LAW: what may happen to a run, and what follows. Pure: the head, the facts and `now` are arguments.

Two families. *Proposals* come from the holder of the claim and are guarded by its token and generation;
*commands* come from anyone. Each either is refused (Refused with a snake_case code, or ClaimLost), changes
nothing (no events: what was asked is so already), or appends events whose enactment is the new head.

Guarantees, whatever is proposed in whatever order:
- a terminal run never changes again, except that an ambiguous effect may be resolved and a late answer kept;
- at most one active attempt; a node starts only where the graph leads; a finished step is never repeated;
- an accepted answer survives every loss until its attempt finishes; a checkpoint and a decision are ok only with
  exactly that output, while an agent node's own check may put another in its place;
- an effect that may have happened is never run again unless it was declared repeatable or a person said so;
- working time and waiting time are counted apart, and never by a difference of wall clocks for work.
"""

from collections.abc import Callable
from typing import Any

from lockgate.flow import claims, commands, effects, endings, proposals, resolutions, settings
from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft, chain
from lockgate.flow.enact import enact
from lockgate.flow.graph import Graph
from lockgate.flow.head import Facts, RunHead
from lockgate.model.errors import ClaimLost
from lockgate.model.events import NO_CHAIN, Event, RunQueued
from lockgate.model.records import Actor, Now, Record, Row

NO_FACTS = Facts()


class Outcome(Record, frozen=True, kw_only=True):
    """What a transition did: the new head, its events in order, the rows to save, and the reply's result."""

    head: RunHead
    events: tuple[Event, ...]
    rows: tuple[Row, ...]
    result: dict[str, Any]


def start(command: t.Start, graph: Graph, *, now: Now, actor: Actor) -> Outcome:
    """The first event of a new run. Where the run id is taken, the store's primary key refuses it."""
    payload = RunQueued(available_at=now.wall_ms, birth=command.birth)
    event = chain(NO_CHAIN, command.run_id, 1, "run_queued", now.wall_ms, actor, None, payload)
    head, rows = enact(None, event, graph)
    return Outcome(head=head, events=(event,), rows=rows, result={})


def apply(
    head: RunHead, transition: t.AnyProposal | t.AnyCommand, *, now: Now, actor: Actor, facts: Facts = NO_FACTS
) -> Outcome:
    """Apply one transition to the head. Proposals need `check_claim` before; raises Refused."""
    draft = Draft(head, now, actor)
    result = _RULES[type(transition)](draft, transition, facts)
    return Outcome(head=draft.head, events=tuple(draft.events), rows=tuple(draft.rows), result=result or {})


def check_claim(head: RunHead, *, token_hash: str, generation: int) -> None:
    """Raises ClaimLost unless the head is held by exactly this claim. Expiry alone never ends a claim."""
    queue = head.queue
    if queue.token_hash is None:
        raise ClaimLost(head.run.run_id, "cancelled" if head.state.cancelled else "no_claim")
    if queue.generation != generation:
        raise ClaimLost(head.run.run_id, "generation")
    if queue.token_hash != token_hash:
        raise ClaimLost(head.run.run_id, "token")


Rule = Callable[[Draft, Any, Facts], dict[str, Any] | None]

_RULES: dict[type, Rule] = {
    t.StartAttempt: proposals.start_attempt,
    t.FinishAttempt: proposals.finish_attempt,
    t.SetTimeout: proposals.set_timeout,
    t.WaitForInput: resolutions.wait_for_input,
    t.Finish: endings.finish,
    t.RecordPrompt: proposals.record_prompt,
    t.RecordNotice: proposals.record_notice,
    t.PublishUpdate: proposals.publish_update,
    t.RetryRoute: settings.retry_route,
    t.ReserveEffect: effects.reserve,
    t.SettleEffect: effects.settle,
    t.Claim: claims.claim,
    t.Ready: claims.ready,
    t.Release: claims.release,
    t.Lose: claims.lose,
    t.Block: claims.block,
    t.Answer: resolutions.answer,
    t.Submit: resolutions.submit,
    t.Expire: resolutions.expire,
    t.Pause: commands.pause,
    t.Resume: commands.resume,
    t.Cancel: commands.cancel,
    t.CheckRestart: commands.check_restart,
    t.ResolveEffect: effects.resolve,
    t.ChangeSettings: settings.change,
}
