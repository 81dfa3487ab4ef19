"""A first workflow: greets somebody, and asks a person before it says so aloud.

Start it with `lockgate start hello`, and answer it in the dashboard or with `lockgate answer`.
"""

from typing import Any

from lockgate import Ask, Context, Workflow, choice, compute, decision_edge, edge, human_decision, notify


def greet(ctx: Context) -> dict[str, Any]:
    name = (ctx.input or {}).get("name", "world")
    return {"text": f"Hello, {name}."}


def ask(ctx: Context) -> Ask:
    greeting = ctx.outputs["greet"]
    return Ask(title="Say it?", summary=greeting["text"], subject=greeting)


hello = Workflow(
    "hello",
    start="greet",
    nodes={
        "greet": compute(greet),
        "ask": human_decision(
            audience="operator",
            choices={"say": choice("Say it", intent="approve"), "leave": choice("Leave it", intent="reject")},
            on_timeout=("leave", 3600),
            request=ask,
        ),
        "say": notify(lambda ctx: ctx.outputs["greet"]["text"]),
        "leave": compute(lambda ctx: {"status": "left unsaid"}),
    },
    edges=[edge("greet", "ask"), decision_edge("ask", {"say": "say", "leave": "leave"})],
)
