"""Handover: waits for facts as JSON, which a script or a person submits, and carries on with them."""

from typing import Any

from lockgate import Context, Workflow, checkpoint, compute, edge

ROTA = {
    "type": "object",
    "properties": {
        "on_call": {"type": "string", "minLength": 1, "maxLength": 80},
        "open_incidents": {"type": "integer", "minimum": 0},
        "remarks": {"type": "string", "maxLength": 2000},
    },
    "required": ["on_call", "open_incidents"],
    "additionalProperties": False,
}


def write(ctx: Context) -> dict[str, Any]:
    facts = ctx.outputs["facts"]
    count = facts["open_incidents"]
    return {"note": f"{facts['on_call']} takes over with {count} open incident{'' if count == 1 else 's'}."}


handover = Workflow(
    "handover",
    start="facts",
    nodes={
        "facts": checkpoint("Who is on call next, and what is open?", output=ROTA),
        "write": compute(write),
    },
    edges=[edge("facts", "write")],
)
