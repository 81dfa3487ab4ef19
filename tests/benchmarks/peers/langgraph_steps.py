"""LangGraph with AsyncSqliteSaver on a file: one thread of N supersteps, then its steps a second on stdout.

usage: langgraph_steps.py N; run in a directory of its own, with the Python of an environment that has
langgraph-checkpoint-sqlite.
"""

import asyncio
import json
import sys
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    n: int
    steps: int


def work(state: State) -> dict[str, int]:
    return {"n": state["n"] + 1}


async def main(steps: int) -> float:
    graph = StateGraph(State)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    graph.add_conditional_edges("work", lambda state: "work" if state["n"] < state["steps"] else END)
    async with AsyncSqliteSaver.from_conn_string("langgraph.sqlite") as saver:
        app = graph.compile(checkpointer=saver)

        async def run(thread: str, count: int) -> float:
            config = {"configurable": {"thread_id": thread}, "recursion_limit": count + 10}
            began = time.perf_counter()
            # "sync": a step's checkpoint is written before the next step starts, which is what durable means here.
            await app.ainvoke({"n": 0, "steps": count}, config, durability="sync")
            return time.perf_counter() - began

        await run("warm", 2)
        return await run("measured", steps)


if __name__ == "__main__":
    count = int(sys.argv[1])
    seconds = asyncio.run(main(count))
    print(json.dumps({"seconds": seconds, "steps_per_second": count / seconds}))
