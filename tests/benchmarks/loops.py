"""Workflows that loop over one small step, as objects of this process and as files that a host loads."""

from pathlib import Path

from lockgate import Workflow, compute, switch_edge


def looping(steps: int, *, threaded: bool = True) -> Workflow:
    """`work` again and again, `steps` times in all. `threaded`: the function is a plain one, run on a thread."""
    done = 0

    def work(ctx: object) -> dict[str, object]:
        nonlocal done
        done += 1
        return {"n": done, "more": done < steps}

    async def work_async(ctx: object) -> dict[str, object]:
        return work(ctx)

    return Workflow(
        "looping",
        start="work",
        nodes={"work": compute(work if threaded else work_async), "end": compute(lambda ctx: {"n": done})},
        edges=[switch_edge("work", "$.more", {"true": "work", "false": "end"})],
        max_steps=max(1, steps + 1),
    )


def write_file(directory: Path, name: str, text: str) -> Path:
    """A workflow file in a project of its own."""
    folder = directory / ".lockgate" / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    return file


CHAIN = """
from lockgate import Workflow, compute, edge

def work(ctx):
    return {{"n": 1}}

nodes = {{f"step{{number}}": compute(work) for number in range({steps})}}
edges = [edge(f"step{{n}}", f"step{{n + 1}}") for n in range({steps} - 1)]
chain = Workflow("chain", start="step0", nodes=nodes, edges=edges)
"""

TIMED = """
import time
from lockgate import Workflow, compute, switch_edge

moments = []

def work(ctx):
    moments.append(time.monotonic_ns())
    return {{"more": len(moments) < {steps}}}

timed = Workflow(
    "timed",
    start="work",
    nodes={{"work": compute(work), "end": compute(lambda ctx: moments)}},
    edges=[switch_edge("work", "$.more", {{"true": "work", "false": "end"}})],
    max_steps={steps} + 1,
)
"""

ASKING = """
import time
from lockgate import Ask, Workflow, choice, compute, decision_edge, edge, human_decision

def resumed(ctx):
    return {"mono_ns": time.monotonic_ns()}

asking = Workflow(
    "asking",
    start="ask",
    nodes={
        "ask": human_decision(
            audience="operator",
            choices={"go": choice("Go on", intent="approve"), "stop": choice("Stop", intent="reject")},
            request=lambda ctx: Ask(title="Go on?", summary="The next lap.", subject={"lap": 1}),
        ),
        "resumed": compute(resumed),
        "end": compute(lambda ctx: ctx.outputs.get("resumed")),
    },
    edges=[decision_edge("ask", {"go": "resumed", "stop": "end"}), edge("resumed", "ask")],
    max_steps=1_000_000,
)
"""

SLOW = """
import time
from lockgate import Workflow, compute, edge

def work(ctx):
    time.sleep(0.05)
    return {"n": 1}

slow = Workflow("slow", start="work", nodes={"work": compute(work)}, edges=[edge("work", "work")], max_steps=1_000_000)
"""
