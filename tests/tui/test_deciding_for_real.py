"""The card on a real store: one winner, told to the others; nothing lost that was typed."""

import asyncio
from pathlib import Path

import pytest

from lockgate.host.inline import execute
from lockgate.model.statuses import RunStatus
from tests.tui.theatre import release, theatre, waiting


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


async def test_a_decision_is_recorded_and_the_run_follows_it(path: Path) -> None:
    workflow = release()
    [run] = await waiting(path, workflow, "1.4.0")
    async with theatre(path) as shown:
        await shown.until_it_says("Publish 1.4.0?")
        await shown.press("d")
        await shown.until_it_says("The tests passed.")
        await shown.press("1")
        await shown.until_it_says("armed ")
        await shown.until(lambda: not shown.says("armed in"))
        await shown.press("ctrl+s")
        await shown.until_it_says("Publish, by you at")
        assert shown.says(". The run ends: published.")
        assert await shown.decisions(run) == ["publish"]
        finished = await execute(workflow, store=shown.store, run_id=run.run_id, until="end")
        assert finished.status is RunStatus.COMPLETED
        await shown.press("escape")
        await shown.until_it_says("✓ completed")
        assert shown.says("Nothing needs you.")


async def test_sixty_enters_on_the_queue_record_nothing(path: Path) -> None:
    runs = await waiting(path, release(), "one", "two", "three")
    async with theatre(path) as shown:
        await shown.until_it_says("2 Decisions 3")
        await shown.press("2")
        for _ in range(60):
            await shown.pilot.press("enter")
        await shown.press("1", "ctrl+s")
        await asyncio.sleep(0.6)
        first = shown.app.card.state
        assert first is not None
        assert [await shown.decisions(run) for run in runs] == [[], [], []]
        for _ in range(5):
            await shown.pilot.press("ctrl+s")
        await shown.until_it_says("Publish, by you at")
        assert sorted([await shown.decisions(run) for run in runs]) == [[], [], ["publish"]]
        assert shown.app.screen is shown.app.card
        assert shown.app.card.state is not None
        assert shown.app.card.state.request.request_id == first.request.request_id


async def test_answered_by_another_process_while_the_card_is_open(path: Path) -> None:
    [run] = await waiting(path, release(), "1.4.0")
    async with theatre(path) as shown:
        await shown.until_it_says("Publish 1.4.0?")
        await shown.press("d", "2", *"not yet")
        await shown.answered_elsewhere(run, "stop")
        await shown.until_it_says("Stop here, by bo at", seconds=1.5)
        assert shown.says("Your draft is kept below.")
        await shown.press("ctrl+s")
        assert await shown.decisions(run) == ["stop"]
        assert shown.app.drafts.unrecorded == 1


async def test_the_store_decides_a_race_that_the_card_has_not_seen(path: Path) -> None:
    [run] = await waiting(path, release(), "1.4.0")
    async with theatre(path) as shown:
        await shown.until_it_says("Publish 1.4.0?")
        await shown.press("d", "1")
        await asyncio.sleep(0.5)
        elsewhere = await shown.answer_from_elsewhere(run, "stop")
        # The press comes before the feed has told the card: both are on their way to the store.
        await asyncio.gather(elsewhere(), shown.pilot.press("ctrl+s"))
        await shown.until(lambda: shown.says("by bo at") or shown.says("by you at"))
        [choice] = await shown.decisions(run)
        assert shown.says("Publish, by you at" if choice == "publish" else "Stop here, by bo at")


async def test_a_deadline_that_passes_under_the_card_is_the_stores_to_judge(path: Path) -> None:
    [run] = await waiting(path, release(seconds=1), "1.4.0")
    async with theatre(path) as shown:
        await shown.until_it_says("Publish 1.4.0?")
        await shown.press("d", "1")
        await shown.until_it_says("overdue", seconds=3)
        await shown.until(lambda: not shown.says("armed in"))
        await shown.press("ctrl+s")
        await shown.until_it_says("not recorded: expired")
        assert await shown.decisions(run) == []


async def test_typing_while_events_arrive_loses_nothing(path: Path) -> None:
    workflow = release()
    [run, other] = await waiting(path, workflow, "1.4.0", "1.4.1")
    typed = "the second line is too grand"
    async with theatre(path) as shown:
        await shown.until_it_says("2 Decisions 2")
        await shown.press("2", "enter", "2")

        async def noise() -> None:
            state = shown.app.card.state
            assert state is not None
            quiet = other if state.request.run_id == run.run_id else run
            for number in range(5):
                await shown.answered_elsewhere(quiet, "revise", f"again {number}")
                await execute(workflow, store=shown.store, run_id=quiet.run_id)

        async def type_it() -> None:
            for character in typed:
                await shown.pilot.press("space" if character == " " else character)

        await asyncio.gather(noise(), type_it())
        assert shown.app.card.frame.text.text == typed
        await shown.press("escape", "enter", "2")
        assert shown.app.card.frame.text.text == typed


async def test_the_run_that_was_asked_for_is_the_one_that_is_shown(path: Path) -> None:
    runs = await waiting(path, release(), *(str(number) for number in range(90)))
    async with theatre(path, run_id=runs[3].run_id, size=(120, 20)) as shown:
        await shown.until(lambda: shown.app.main.runs.list.target == runs[3].run_id)
        await shown.until(lambda: any(row.startswith("▌") and runs[3].run_id[-8:-4] in row for row in shown.text))
        await shown.press("d")
        await shown.until(lambda: shown.app.has_open_card)
        assert shown.app.card.state is not None
        assert shown.app.card.state.request.run_id == runs[3].run_id


async def test_what_leaves_the_queue_says_why(path: Path) -> None:
    runs = await waiting(path, release(), "one", "two")
    async with theatre(path) as shown:
        await shown.until_it_says("2 Decisions 2")
        await shown.press("2")
        gone = next(run for run in runs if run.run_id == shown.app.main.decisions.requests[0].run_id)
        await shown.answered_elsewhere(gone, "stop")
        await shown.until_it_says("gone: Stop here by bo")
        assert shown.says("Publish 1.4.0?: Stop here by bo")
        assert shown.says("2 Decisions 1")
        await shown.press("d")
        assert shown.app.screen is shown.app.main, "nothing can be done to what is gone"
        await shown.press("j")
        assert not shown.says("gone:")
        await shown.press("d")
        assert shown.app.screen is shown.app.card


async def test_a_decided_request_stays_readable(path: Path) -> None:
    [run] = await waiting(path, release(), "1.4.0")
    async with theatre(path) as shown:
        await shown.until_it_says("Publish 1.4.0?")
        await shown.answered_elsewhere(run, "revise", "say it plainly")
        await shown.press("D")
        await shown.until_it_says("Decided 1")
        assert shown.says("Change the notes")
        assert shown.says("by bo")
        await shown.press("enter")
        await shown.until_it_says("Change the notes, by bo at")


async def test_keys_of_a_run_are_asked_of_the_law_and_done_by_the_store(path: Path) -> None:
    [run] = await waiting(path, release(), "1.4.0")
    async with theatre(path) as shown:
        await shown.until_it_says("Publish 1.4.0?")
        await shown.press("p")
        await shown.until_it_says("‖ paused")
        await shown.press("d", "1")
        await shown.until_it_says("the run is paused: it takes no answer")
        await shown.press("escape", "r")
        await shown.until_it_says("◆ waiting")
        await shown.press("x")
        await shown.until_it_says("Cancel this run?")
        await shown.press("enter")
        assert shown.says("Cancel this run?")
        await asyncio.sleep(0.45)
        await shown.press("y")
        await shown.until_it_says("– cancelled")
        await shown.press("p")
        assert shown.says("cannot pause now")
        detail = await shown.store.run(run.run_id)
        assert detail.run.status is RunStatus.CANCELLED
