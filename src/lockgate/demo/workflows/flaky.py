"""Flaky: a step that fails, goes round over an edge until it has had enough, and then ends the run as failed."""

from typing import Any

from lockgate import Context, Workflow, compute, idempotent, shell, switch_edge

TRIES = 3


def count(ctx: Context) -> dict[str, Any]:
    """How often it was tried, and whether to try again."""
    tries = (ctx.outputs.get("count") or {"tries": 0})["tries"] + 1
    return {"tries": tries, "next": "again" if tries < TRIES else "give_up"}


def give_up(ctx: Context) -> None:
    raise RuntimeError(f"the mirror did not answer {TRIES} times")


flaky = Workflow(
    "flaky",
    start="fetch",
    nodes={
        "fetch": shell(
            ["{python}", "-c", "import time; time.sleep(0.4); raise SystemExit('mirror: connection refused')"],
            effect=idempotent("fetch"),
            timeout=30,
        ),
        "count": compute(count),
        "give_up": compute(give_up),
        "done": compute(lambda ctx: {"status": "fetched"}),
    },
    edges=[
        # Only a switch on $result leads on from a failure.
        switch_edge("fetch", "$result.outcome", {"ok": "done", "failed": "count", "timed_out": "count"}),
        switch_edge("count", "$.next", {"again": "fetch", "give_up": "give_up"}),
    ],
)
