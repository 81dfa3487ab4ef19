"""Nodes that wait for an answer: the request is opened, the claim ends, a later worker finishes the attempt."""

from typing import Any

import msgspec

from lockgate.engine.failures import NodeFailed
from lockgate.engine.values import subject_of, value_of
from lockgate.engine.visit import Done, Visit, Waits, flush_streams
from lockgate.flow import contracts
from lockgate.flow.authoring.nodes import AgentNode, CheckpointNode, HumanDecisionNode
from lockgate.flow.authoring.offers import Ask, default_of
from lockgate.flow.authoring.shapes import identifier
from lockgate.flow.choices import Default
from lockgate.flow.contracts import Contract
from lockgate.flow.presentation import presentation, title
from lockgate.flow.transitions import DecisionAsk, RecordPrompt, WaitForInput
from lockgate.model.encoding import sha256
from lockgate.model.records import Value
from lockgate.model.statuses import RequestKind


def checkpoint_opening(node: CheckpointNode, attempt_id: str) -> tuple[WaitForInput, Value] | None:
    """The wait of a checkpoint whose summary is in the definition; it needs no second transaction."""
    if not isinstance(node.summary, str):
        return None
    return _wait(attempt_id, contracts.for_checkpoint(node.summary, node.output))


async def checkpoint(node: CheckpointNode, visit: Visit) -> Waits:
    summary = await _words(visit, node.summary, "the summary of a checkpoint")
    return await _waits(visit, *_wait(visit.attempt_id, contracts.for_checkpoint(summary, node.output)))


async def agent(node: AgentNode, visit: Visit) -> Waits:
    prompt = await _words(visit, node.prompt, "the prompt of an agent node")
    await sent(visit, prompt)
    return await _waits(visit, *_wait(visit.attempt_id, contracts.for_agent(prompt, node.output)))


async def human_decision(node: HumanDecisionNode, visit: Visit) -> Waits:
    """Everything that is asked is checked before the request opens."""
    ask = await visit.call(node.request, visit.context)
    if not isinstance(ask, Ask):
        raise NodeFailed("RequestError", f"the request of a human decision returns an Ask, got {ask!r}"[:500])
    audience = identifier(await visit.text(node.audience), "an audience")
    default = await _default(node, visit)
    question = title(ask.title)
    shown = presentation(ask.summary, ask.blocks)
    subject = subject_of(ask.subject)
    presented = value_of(msgspec.to_builtins(shown))
    offered = value_of(msgspec.to_builtins(node.choices))
    wait, contract = _wait(
        visit.attempt_id,
        contracts.for_decision(question, shown, node.choices),
        DecisionAsk(
            audience=audience,
            title=question,
            subject_hash=subject.hash,
            presentation_hash=presented.hash,
            choices_hash=offered.hash,
            choices=node.choices,
            seconds=default.after_ms // 1000 if default is not None else None,
            default=default.choice if default is not None else None,
        ),
    )
    return await _waits(visit, wait, contract, subject, presented, offered)


async def sent(visit: Visit, prompt: str) -> str:
    """Records the prompt that an agent is given; its hash."""
    value = value_of(prompt)
    await visit.journal.commit(RecordPrompt(attempt_id=visit.attempt_id, prompt_hash=value.hash), values=(value,))
    return value.hash


async def answered(node: Any, visit: Visit, output: Value) -> Done:
    """The output of the attempt that an accepted answer woke."""
    if isinstance(node, AgentNode) and node.validate is not None:
        checked = await visit.call(node.validate, visit.values.decoded(output.hash), visit.context)
        return Done(output if checked is None else value_of(checked))
    return Done(output)


async def _default(node: HumanDecisionNode, visit: Visit) -> Default | None:
    if node.default is None or isinstance(node.default, Default):
        return node.default
    given = await visit.call(node.default, visit.context)
    return None if given is None else default_of(given, node.choices)


async def _words(visit: Visit, given: Any, what: str) -> str:
    text = await visit.text(given)
    if not isinstance(text, str) or not text.strip():
        raise NodeFailed("RequestError", f"{what} is a non-blank text, got {text!r}"[:500])
    return text


async def _waits(visit: Visit, wait: WaitForInput, *values: Value) -> Waits:
    # The claim ends with the wait: what was published comes before it.
    await visit.updates.flush()
    flush_streams()
    await visit.journal.commit(wait, values=values)
    return Waits()


def _wait(attempt_id: str, contract: Contract, ask: DecisionAsk | None = None) -> tuple[WaitForInput, Value]:
    content = contract.encoded()
    value = Value(hash=sha256(content), content=content)
    kind = RequestKind(contract.kind)
    return WaitForInput(attempt_id=attempt_id, kind=kind, contract_hash=value.hash, ask=ask), value
