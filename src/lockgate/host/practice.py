"""What every worker does first, done before any is forked.

Python makes much when it is first needed: caches of methods, specialised bytecode, the innards of patterns and
codecs. What is made before the fork no worker makes again, nor copies the pages for it, which takes longer than
the work itself. No thread is started, and nothing is left but what Python has made.
"""

import asyncio
import socket

from lockgate.flow.authoring.constructors import compute, human_decision
from lockgate.flow.authoring.edges import decision_edge
from lockgate.flow.authoring.offers import choice
from lockgate.flow.authoring.workflow import Workflow
from lockgate.host.channel import Channel
from lockgate.host.client import HostClient
from lockgate.host.protocol import Launch
from lockgate.host.spawning import packed, unpacked
from lockgate.model.encoding import sha256, stored

LAPS = 10
"""Python specialises what it has executed eight times."""


def practise() -> None:
    for _ in range(LAPS):
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(_greet(_digest()))
        finally:
            loop.close()


def _digest() -> str:
    """Of a workflow as authors write them."""
    workflow = Workflow(
        "practice",
        start="ask",
        nodes={
            "ask": human_decision(audience="nobody", choices={"go": choice("Go on")}, request=lambda ctx: ctx),
            "work": compute(lambda ctx: ctx),
        },
        edges=[decision_edge("ask", {"go": "work"})],
    )
    return sha256(stored(workflow.document()))


async def _greet(digest: str) -> None:
    """Both ends of a worker's socket, and the message that says what to load."""
    ours, theirs = socket.socketpair()
    host, worker = await Channel.over(ours), await Channel.over(theirs)
    said = Launch(
        run_id="practice",
        generation=1,
        file="/practice.py",
        name="practice",
        project_dir="/",
        definition_digest=digest,
        sources={"/practice.py": digest},
        environment=packed({"PRACTICE": "yes"}),
    )
    await host.send(said)
    _, heard = await HostClient.greet(worker)
    unpacked(heard.environment)
    host.close()
    worker.close()
    # The transports close their sockets in the loop's next turn.
    await asyncio.sleep(0)
