"""A node that asks opens a request, gives the run back, and is finished by whoever works on the run next."""

from typing import Any

import msgspec
import pytest
import rfc8785

from lockgate import (
    Ask,
    Context,
    Workflow,
    agent,
    checkpoint,
    choice,
    compute,
    decision_edge,
    edge,
    fields,
    human_decision,
    paragraph,
    switch_edge,
    text_input,
)
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import Refused
from lockgate.model.statuses import RequestKind, RunStatus
from lockgate.store import reads
from lockgate.store.audit import audit
from tests.engine.bench import Bench


def plain(value: Any) -> Any:
    """As `--json` prints it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def review(**more: Any) -> Workflow:
    parts: dict[str, Any] = {
        "audience": "maintainers",
        "choices": {
            "publish": choice("Publish", intent="approve"),
            "revise": choice("Change it", input=text_input("words", "What?")),
        },
        "request": lambda ctx: Ask(
            title=f"Publish {ctx.outputs['notes']['n']}?",
            summary="As written.",
            blocks=[paragraph("Line 1\nLine 2"), fields({"n": ctx.outputs["notes"]["n"]})],
            subject=ctx.outputs["notes"],
        ),
        **more,
    }

    def notes(ctx: Context) -> dict[str, Any]:
        said = ctx.outputs.get("ask")
        return {"n": ctx.state.visit, "words": said and said["input"]["words"]}

    return Workflow(
        "review",
        start="notes",
        nodes={
            "notes": compute(notes),
            "ask": human_decision(**parts),
            "done": compute(lambda ctx: [ctx.outputs["ask"], ctx.outputs["notes"]]),
        },
        edges=[edge("notes", "ask"), decision_edge("ask", {"publish": "done", "revise": "notes"})],
    )


async def test_a_decision_is_asked_answered_and_followed(bench: Bench) -> None:
    assert await bench.go(review()) == "waiting"
    request = bench.request
    assert request.kind is RequestKind.DECISION
    assert (request.title, request.audience) == ("Publish 1?", "maintainers")
    assert plain(request.presentation) == {
        "summary": "As written.",
        "blocks": [
            {"kind": "paragraph", "text": "Line 1\nLine 2"},
            {"kind": "fields", "items": [{"label": "n", "value": "1"}]},
        ],
    }
    assert [made["key"] for made in request.choices] == ["publish", "revise"]
    assert request.consequences == {"publish": "the run ends: done", "revise": "notes → ask, asks again"}
    assert bench.answer("publish").outcome == "accepted"
    assert await bench.work() == "completed"
    assert bench.result == [{"choice": "publish"}, {"n": 1, "words": None}]
    assert len([attempt for attempt in bench.attempts if attempt.node_id == "ask"]) == 1


async def test_a_revision_goes_round_with_its_text(bench: Bench) -> None:
    assert await bench.go(review()) == "waiting"
    bench.answer("revise", "shorter\r\nplease")
    assert await bench.work() == "waiting"
    assert bench.request.title == "Publish 2?"
    bench.answer("publish")
    assert await bench.work() == "completed"
    assert bench.result == [{"choice": "publish"}, {"n": 2, "words": "shorter\nplease"}]
    assert bench.run.steps == 5


async def test_what_is_hashed_is_kept(bench: Bench) -> None:
    assert await bench.go(review()) == "waiting"
    request = bench.request
    requested = next(event for event in bench.events if event.type == "decision_requested")
    decision = requested.payload["decision"]
    assert bench.value(decision["subject_hash"]) == {"n": 1, "words": None}
    assert decision["presentation_hash"] == sha256(stored(request.presentation))
    assert decision["choices_hash"] == sha256(stored(list(request.choices)))


@pytest.mark.parametrize("size", [1, 2_000_000], ids=["small", "large"])
async def test_the_digest_of_a_decision_can_be_recomputed(bench: Bench, size: int) -> None:
    """From what is shown and the facts of the run, with any RFC 8785 library."""
    subject = {"price": 1.0, "ratio": 1e21, "pièce": "x" * size}
    assert await bench.go(review(request=lambda ctx: Ask(title="Pay?", summary="All.", subject=subject))) == "waiting"
    request, run = bench.request, bench.detail.row
    asked = next(event for event in bench.events if event.type == "decision_requested").payload
    kept = bench.read(lambda connection: reads.value(connection, asked["decision"]["subject_hash"]))
    assert (kept == rfc8785.dumps(subject)) is (size == 1)
    assert msgspec.json.decode(kept) == subject
    facts = {
        "schema": "lockgate.decision-request.v1",
        "run_id": run.run_id,
        "workflow": "review",
        "node": "ask",
        "attempt_id": request.attempt_id,
        "audience": "maintainers",
        "title": "Pay?",
        "subject_hash": sha256(rfc8785.dumps(subject) if size == 1 else kept),
        "presentation_hash": sha256(rfc8785.dumps(plain(request.presentation))),
        "choices_hash": sha256(rfc8785.dumps(plain(request.choices))),
        "seconds": None,
        "deadline_at": None,
        "default": None,
        "policy": None,
        "started_by": run.started_by,
    }
    assert request.digest == sha256(rfc8785.dumps(facts))
    bench.answer("publish")
    assert await bench.work() == "completed"
    audited = bench.read(lambda connection: audit(connection, run.run_id))
    assert audited.difference is None
    assert [receipt.digest for receipt in audited.receipts] == [request.digest]


async def test_a_deadline_and_its_default_may_be_computed(bench: Bench) -> None:
    assert await bench.go(review(on_timeout=lambda ctx: ("publish", 90), audience=lambda ctx: "ops")) == "waiting"
    request = bench.request
    assert (request.default, request.audience) == ("publish", "ops")
    assert request.deadline_at == request.created_at + 90_000


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"request": lambda ctx: "Publish?"}, "RequestError"),
        ({"request": lambda ctx: Ask(title="x" * 201, summary="s")}, "PayloadError: $.title"),
        ({"request": lambda ctx: Ask(title="x", summary="s", subject={1})}, "PayloadError: $.subject"),
        ({"request": lambda ctx: ctx.outputs["nowhere"]}, "KeyError"),
        ({"audience": lambda ctx: "two words"}, "DefinitionError: an audience"),
        ({"on_timeout": lambda ctx: ("nothing", 5)}, "DefinitionError: on_timeout"),
    ],
)
async def test_a_request_that_cannot_be_shown_is_never_opened(bench: Bench, more: Any, said: str) -> None:
    assert await bench.go(review(**more)) == "failed"
    assert said in (bench.run.error_summary or "")
    assert "decision_requested" not in bench.types


@pytest.mark.parametrize("summary", ["Give the numbers", lambda ctx: f"Give {ctx.input} numbers"])
async def test_a_checkpoint_takes_json(bench: Bench, summary: Any) -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    flow = Workflow(
        "flow",
        start="a",
        nodes={"a": checkpoint(summary, output=schema), "b": compute(lambda ctx: ctx.outputs["a"]["n"] + 1)},
        edges=[edge("a", "b")],
    )
    assert await bench.go(flow, "3") == "waiting"
    assert bench.run.status is RunStatus.WAITING
    assert bench.request.kind is RequestKind.CHECKPOINT
    assert bench.request.contract == schema
    assert bench.request.title.startswith("Give")
    with pytest.raises(Refused):
        bench.submit({"n": "x"})
    bench.submit({"n": 41})
    assert await bench.work() == "completed"
    assert bench.result == 42


async def test_a_checkpoint_with_a_known_summary_costs_one_transaction(bench: Bench) -> None:
    flow = Workflow("flow", start="a", nodes={"a": checkpoint("Say it")})
    assert await bench.go(flow) == "waiting"
    assert bench.holder is not None
    assert bench.holder.lists == [("StartAttempt", "WaitForInput")]


def agents(**more: Any) -> Workflow:
    return Workflow("flow", start="a", nodes={"a": agent(lambda ctx: f"Count to {ctx.input}", **more)})


async def test_an_agent_without_a_command_is_asked_by_a_request(bench: Bench) -> None:
    assert await bench.go(agents(), 3) == "waiting"
    assert bench.request.kind is RequestKind.AGENT
    assert plain(bench.request.presentation) == {
        "summary": "Count to 3",
        "blocks": [{"kind": "preformatted", "text": "Count to 3"}],
    }
    assert bench.types == ["node_started", "agent_prompt_sent", "checkpoint_requested"]
    bench.submit([1, 2, 3])
    assert await bench.work() == "completed"
    assert bench.result == [1, 2, 3]
    assert bench.value(bench.attempts[0].prompt_hash) == "Count to 3"


def check(output: Any, ctx: Context) -> Any:
    if output == "bad":
        raise ValueError("not that")
    return {"normal": output} if output == "raw" else None


@pytest.mark.parametrize(("given", "result"), [("good", "good"), ("raw", {"normal": "raw"})])
async def test_an_agents_output_may_be_checked_and_replaced(bench: Bench, given: Any, result: Any) -> None:
    assert await bench.go(agents(validate=check), 3) == "waiting"
    bench.submit(given)
    assert await bench.work() == "completed"
    assert bench.result == result


async def test_an_agents_output_may_be_refused(bench: Bench) -> None:
    assert await bench.go(agents(validate=check), 3) == "waiting"
    bench.submit("bad")
    assert await bench.work() == "failed"
    assert bench.run.error_summary == "a: ValueError: not that"


async def test_an_agent_that_is_a_command_reads_its_prompt(bench: Bench) -> None:
    flow = agents(command=["{python}", "-c", "import sys; print(sys.stdin.read().upper())"])
    assert await bench.go(flow, 3) == "completed"
    assert bench.result == "COUNT TO 3"
    assert bench.value(bench.attempts[0].prompt_hash) == "Count to 3"


@pytest.mark.parametrize(
    ("printed", "reason"), [('{"n": 1}', "completed"), ("text", "failed"), ('{"n": NaN}', "failed")]
)
async def test_an_agent_with_a_schema_prints_json(bench: Bench, printed: str, reason: str) -> None:
    flow = agents(command=["{python}", "-c", f"print('{printed}')"], output={"type": "object"})
    assert await bench.go(flow, 3) == reason
    if reason == "completed":
        assert bench.result == {"n": 1}
    else:
        assert "AgentOutput: stdout is not the JSON asked for" in (bench.run.error_summary or "")


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ('{"k": {"a": 1, "a": 1}}', "$.k.a: each key once"),
        ('{"n": 1e400}', "$.n: a finite number"),
        ('{"n": 9007199254740992}', "$.n: a finite number, integers up to 9007199254740991"),
        (r'{"t": "\ud800"}', "$.t: whole characters"),
        ("[" * 65 + "]" * 65, "$: at most 64 levels"),
    ],
)
async def test_what_an_agent_prints_keeps_the_payload_rules(bench: Bench, printed: str, problem: str) -> None:
    flow = agents(command=["{python}", "-c", f"print({printed!r})"], output=True)
    assert await bench.go(flow, 3) == "failed"
    assert problem in (bench.run.error_summary or "")


COUNTED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ('{"n": 1}', None),
        ('{"n": "one"}', '$.n: type "integer", got "one"'),
        ("[]", '$: type "object", got []'),
        ("{}", "$: 'n' is a required property, got {}"),
    ],
)
async def test_an_agents_output_that_breaks_its_schema_fails_and_routes(
    bench: Bench, printed: str, problem: str | None
) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={
            "a": agent("Count", command=["{python}", "-c", f"print('{printed}')"], output=COUNTED),
            "good": compute(lambda ctx: ctx.outputs["a"]),
            "bad": compute(lambda ctx: ctx.results["a"].error["message"]),
        },
        edges=[switch_edge("a", "$result.outcome", {"ok": "good", "failed": "bad"})],
    )
    assert await bench.go(flow) == "completed"
    assert bench.result == ({"n": 1} if problem is None else f"the output at 'a' does not fit: {problem}")
    assert bench.holder is not None
    assert ("FinishAttempt",) in bench.holder.lists


async def test_what_validate_makes_of_an_answer_meets_the_schema_too(bench: Bench) -> None:
    for made, reason in (({"n": 2}, "completed"), ({"n": None}, "failed")):
        flow = agents(validate=lambda output, ctx, made=made: made, output=COUNTED)
        assert await bench.go(flow, 3) == "waiting"
        bench.submit({"n": 1})
        assert await bench.work() == reason
    assert bench.run.error_summary == "a: AgentOutput: the output at 'a' does not fit: $.n: type \"integer\", got null"


async def test_an_accepted_answer_survives_a_lost_worker(bench: Bench) -> None:
    assert await bench.go(review()) == "waiting"
    bench.answer("publish")
    holder = bench.claim()
    await holder.ready({})
    bench.lose(counted=True)
    assert await bench.work() == "completed"
    assert bench.result[0] == {"choice": "publish"}
    assert bench.types.count("decision_requested") == 1
