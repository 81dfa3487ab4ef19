"""A card that becomes a record under the hands of a person: what is typed on goes nowhere, and acts on nothing."""

from msgspec.structs import replace

from lockgate.model.statuses import Provenance, RequestStatus
from lockgate.view.snapshots import ShownResolution
from tests.tui.hand import Hand
from tests.tui.stage import Stage, on_stage, with_request
from tests.view.picture import NOW, snapshot


async def expire(stage: Stage) -> None:
    """The deadline takes the request of the open card."""
    request = snapshot().decisions[0]
    resolution = ShownResolution(Provenance.TIMEOUT_POLICY, "stop", "Stop here", "policy", "", NOW.wall_ms)
    closed = replace(request, status=RequestStatus.SETTLED, resolution=resolution)
    await stage.give(with_request(snapshot(), closed))


async def type_on(stage: Stage, hand: Hand, text: str) -> None:
    """Types one key every 150 ms."""
    for character in text:
        hand.wait(150)
        await stage.press({" ": "space", "\n": "enter"}.get(character, character))


async def test_typing_over_the_deadline_acts_on_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await type_on(stage, hand, "wait for")
        await expire(stage)
        assert stage.app.focused is stage.app.card.frame.text
        await type_on(stage, hand, "\nput R it xp back, twice over")
        assert stage.app.screen is stage.app.card
        assert stage.desk.acts == []
        assert stage.app.card.frame.text.text == "wait for"
        assert stage.says("a record now: esc closes it")


async def test_letters_rest_for_a_moment_after_enter_closed_the_record(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("late")
        await expire(stage)
        hand.wait(1_600)
        await stage.press("enter")
        assert stage.app.screen is stage.app.main
        await type_on(stage, hand, "pxR")
        assert stage.app.screen is stage.app.main
        assert stage.desk.acts == []
        assert stage.app.drafts.unrecorded == 1
        hand.wait(1_000)
        await stage.press("x")
        assert stage.says("Cancel this run?")


async def test_escape_and_the_copy_of_the_draft_work_at_once(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("late")
        await expire(stage)
        await stage.press("y")
        assert stage.says("copied to the clipboard")
        await stage.press("escape")
        assert stage.app.screen is stage.app.main
        await stage.press("p")
        assert len(stage.desk.acts) == 1


async def test_what_was_typed_last_is_kept_too(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("almos")
        stage.app.card.frame.text.insert("t")
        request = snapshot().decisions[0]
        stage.app.card.take(replace(request, status=RequestStatus.SETTLED))
        assert stage.app.drafts.of(request.request_id).newest == "almost"
