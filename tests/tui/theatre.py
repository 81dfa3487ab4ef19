"""The dashboard on a real store: runs that wait for real decisions, executed in this process."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from lockgate import Ask, Workflow, choice, compute, decision_edge, edge, human_decision, text_input
from lockgate.host.inline import execute
from lockgate.model.records import Human, Receipt, Run
from lockgate.store.shell import Store, open_store
from lockgate.tui.app import LockgateApp
from lockgate.tui.options import Options
from lockgate.view.door import open_dashboard
from tests.tui.stage import screen_text


def release(name: str = "release", *, title: str = "Publish 1.4.0?", seconds: int = 3600) -> Workflow:
    """Asks whether to publish; a change of the notes asks again."""
    return Workflow(
        name,
        start="notes",
        nodes={
            "notes": compute(lambda ctx: {"notes": "everything is new"}),
            "approve": human_decision(
                audience="maintainers",
                on_timeout=("stop", seconds),
                choices={
                    "publish": choice("Publish", intent="approve"),
                    "revise": choice("Change the notes", input=text_input("instructions", "What should change?")),
                    "stop": choice("Stop here", intent="reject"),
                },
                request=lambda ctx: Ask(title=title, summary="The tests passed.", subject=ctx.outputs["notes"]),
            ),
            "published": compute(lambda ctx: {"status": "published"}),
            "stopped": compute(lambda ctx: {"status": "stopped"}),
        },
        edges=[
            edge("notes", "approve"),
            decision_edge("approve", {"publish": "published", "revise": "notes", "stop": "stopped"}),
        ],
    )


class Theatre:
    """One dashboard on one store, with the store that other processes would write to."""

    def __init__(self, app: LockgateApp, pilot: Pilot[int], store: Store) -> None:
        self.app, self.pilot, self.store = app, pilot, store

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, holds: Callable[[], Any], seconds: float = 5.0) -> None:
        """Waits for a fact on the screen; fails with what is there instead."""
        for _ in range(int(seconds / 0.05)):
            await self.pilot.pause(0.05)
            if holds():
                return
        raise AssertionError("\n".join(self.text))

    async def until_it_says(self, words: str, seconds: float = 5.0) -> None:
        await self.until(lambda: self.says(words), seconds)

    @property
    def text(self) -> list[str]:
        return screen_text(self.app)

    def says(self, words: str) -> bool:
        return any(words in row for row in self.text)

    async def decisions(self, run: Run) -> list[str | None]:
        """Every choice that the store has for the run, in order."""
        detail = await self.store.run(run.run_id)
        return [each.choice for each in detail.resolutions]

    async def answer_from_elsewhere(
        self, run: Run, choice: str, text: str | None = None
    ) -> Callable[[], Awaitable[Receipt]]:
        """Another process's `lockgate answer` that has read the request: calling it commits."""
        [request] = [each for each in await self.store.decisions() if each.run_id == run.run_id]
        human = Human.for_test("bo")
        return lambda: self.store.answer(request.request_id, choice, text=text, digest=request.digest, actor=human)

    async def answered_elsewhere(self, run: Run, choice: str, text: str | None = None) -> Receipt:
        """What another process's `lockgate answer` does."""
        return await (await self.answer_from_elsewhere(run, choice, text))()


@asynccontextmanager
async def theatre(path: Path, *, size: tuple[int, int] = (120, 40), **options: Any) -> AsyncIterator[Theatre]:
    """Opens the dashboard on the store at `path`, which must exist."""
    async with (
        open_store(path) as other,
        open_dashboard(path, human=Human.for_test("ada")) as (feed, desk),
    ):
        app = LockgateApp(feed, desk, feed.now, Options(**options))
        async with app.run_test(size=size, notifications=True) as pilot:
            shown = Theatre(app, pilot, other)
            await shown.until(lambda: app.main.painter.snapshot is not None)
            yield shown


async def waiting(path: Path, workflow: Workflow, *titles: str) -> list[Run]:
    """Starts runs of the workflow until each waits for its decision."""
    async with open_store(path, create=True) as store:
        return [await execute(workflow, store=store, title=title) for title in titles]
