"""A decision is recorded by one deliberate press, and by nothing else."""

import asyncio
import re

import pytest
from msgspec.structs import replace
from textual import events

from lockgate.model.errors import StoreBusy
from lockgate.model.statuses import Provenance, RequestStatus
from lockgate.tui.guard import ARM_MS
from lockgate.view.snapshots import Block, ShownRequest, ShownResolution
from tests.tui.hand import Hand
from tests.tui.stage import on_stage, receipt, with_request
from tests.view.picture import NOW, snapshot


def the_release() -> ShownRequest:
    return snapshot().decisions[0]


def decided(request: ShownRequest, choice: str = "publish", actor: str = "bo", **facts: object) -> ShownRequest:
    label = next(each.label for each in request.choices if each.key == choice)
    resolution = ShownResolution(Provenance.HUMAN, choice, label, actor, "ws1 pts/4", NOW.wall_ms - 2_000)
    return replace(request, status=RequestStatus.SETTLED, resolution=replace(resolution, **facts))


async def test_held_enter_on_the_queue_opens_one_card_and_records_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("2")
        for _ in range(60):
            hand.wait(33)
            await stage.pilot.press("enter")
        assert stage.app.screen is stage.app.card
        hand.wait(60)
        await stage.press("1", "ctrl+s")
        assert stage.desk.answers == [], "the keys came before it was armed"
        hand.wait()
        for _ in range(5):
            await stage.pilot.press("ctrl+s")
            hand.wait(150)
        await stage.pilot.pause()
        assert [answer[1] for answer in stage.desk.answers] == ["publish"]
        assert stage.app.screen is stage.app.card, "the next card does not open by itself"


async def test_a_held_recording_key_records_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "1")
        for _ in range(40):
            hand.wait(33)
            await stage.pilot.press("ctrl+s")
        assert stage.desk.answers == []


async def test_a_paste_that_waits_for_a_slow_screen_records_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "1")
        hand.wait()
        burst = [events.Key(key, key if len(key) == 1 else None) for key in ("l", "i", "ctrl+s", "p", "ctrl+s")]
        for key in burst:
            hand.wait(300)  # each is acted on late, though they came together
            stage.app.post_message(key)
            await stage.pilot.pause()
        assert stage.desk.answers == []
        await stage.press("ctrl+s")
        assert len(stage.desk.answers) == 1


async def test_a_press_from_before_the_card_was_armed_records_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "1")
        early = events.Key("ctrl+s", None)
        hand.wait()
        stage.app.post_message(early)
        await stage.pilot.pause()
        assert stage.desk.answers == []


async def test_each_pick_arms_anew(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "1")
        hand.wait()
        await stage.press("3")
        hand.wait(ARM_MS - 1)
        await stage.press("ctrl+s")
        assert stage.desk.answers == []
        assert stage.says("armed in")
        hand.wait(200)
        await stage.press("ctrl+s")
        assert [answer[1] for answer in stage.desk.answers] == ["stop"]


async def test_nothing_is_picked_and_nothing_has_the_focus_at_first(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d")
        hand.wait()
        await stage.press("ctrl+s", "enter", "space")
        assert stage.app.focused is None
        assert stage.desk.answers == []
        assert stage.says("pick a choice first")


async def test_arrows_pick_and_a_click_on_the_button_records(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "down", "down", "down", "up", "up")
        assert stage.app.card.state is not None
        assert stage.app.card.state.picked == "publish"
        hand.wait()
        await stage.pilot.click("#card-button", offset=(6, 1))
        await stage.pilot.pause()
        assert [answer[1] for answer in stage.desk.answers] == ["publish"]


async def test_a_click_beside_the_button_records_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "1")
        hand.wait()
        await stage.pilot.click("#card-button", offset=(60, 1))
        assert stage.desk.answers == []


async def test_it_must_have_been_read_to_the_end(hand: Hand) -> None:
    lines = "\n".join(f"line {number}" for number in range(60))
    request = replace(the_release(), blocks=(Block("preformatted", lines),))
    async with on_stage() as stage:
        stage.app.open_card(request)
        await stage.pilot.pause()
        await stage.press("1")
        hand.wait()
        await stage.press("ctrl+s")
        assert stage.desk.answers == []
        assert stage.says("read to the end first")
        await stage.press("pagedown", "pagedown", "pagedown", "pagedown")
        assert stage.says("all 60 lines seen")
        hand.wait()
        await stage.press("ctrl+s")
        assert len(stage.desk.answers) == 1


async def test_what_was_seen_of_one_card_is_not_seen_of_the_next(hand: Hand) -> None:
    short = replace(the_release(), choices=())
    lines = "\n".join(f"line {number}" for number in range(27))
    long = replace(snapshot().decisions[1], blocks=(Block("preformatted", lines),))
    async with on_stage((120, 40)) as stage:
        stage.app.open_card(short)
        await stage.pilot.pause()
        assert stage.app.card.frame.blocks.size.height >= 27
        await stage.press("escape")
        stage.app.open_card(long)
        await stage.pilot.pause()
        await stage.pilot.pause()
        assert stage.app.card.frame.blocks.size.height < 27
        assert not stage.app.card.frame.blocks.is_seen
        await stage.press("pagedown")
        assert stage.app.card.frame.blocks.is_seen


async def test_a_text_goes_with_its_choice_and_has_bounds(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("short")
        hand.wait()
        await stage.press("ctrl+s")
        assert stage.desk.answers == []
        assert stage.says("10 at least")
        await stage.press("enter")
        await stage.type("and more")
        hand.wait()
        await stage.press("ctrl+s")
        assert [answer[1:3] for answer in stage.desk.answers] == [("revise", "short\nand more")]


async def test_a_burst_behind_a_pick_is_text(hand: Hand) -> None:
    async with on_stage() as stage:
        for key in ("d", "2", *"x13yq"):
            stage.app.post_message(events.Key(key, key))
        await stage.pilot.pause()
        await stage.pilot.pause()
        assert stage.app.card.frame.text.text == "x13yq"
        assert stage.app.card.state is not None
        assert stage.app.card.state.picked == "revise"
        assert stage.desk.acts == []


async def test_keys_in_the_text_are_text(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2", *"q1x3yD:?/p")
        assert stage.app.card.frame.text.text == "q1x3yD:?/p"
        assert stage.app.card.state is not None
        assert stage.app.card.state.picked == "revise"
        assert stage.desk.acts == []


async def test_a_paste_is_cut_at_the_limit_and_records_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        hand.wait()
        stage.app.card.frame.text.post_message(events.Paste("x\n" * 5000 + "\x13\x1b]2;PWNED\x07"))
        await stage.pilot.pause()
        assert len(stage.app.card.frame.text.text) == 2000
        assert stage.says("the paste was cut by")
        await stage.press("ctrl+s")
        assert stage.desk.answers == [], "a press right behind a paste is part of it"


async def test_controls_in_a_paste_become_pictures(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        stage.app.card.frame.text.post_message(events.Paste("say \x1b]2;PWNED\x07 and \u202e"))
        await stage.pilot.pause()
        assert "\x1b" not in stage.app.card.frame.text.text
        assert "PWNED" not in stage.app.card.frame.text.text


async def test_escape_decides_nothing_and_the_draft_is_back(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("a long enough 🙂 text")
        await stage.press("backspace", "escape")
        assert stage.app.screen is stage.app.main
        assert stage.desk.answers == []
        await stage.press("d")
        assert stage.app.card.state is not None
        assert stage.app.card.state.picked is None
        assert stage.says("draft kept")
        await stage.press("2")
        assert stage.app.card.frame.text.text == "a long enough 🙂 tex"


async def test_quitting_asks_only_with_a_draft(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("unrecorded")
        await stage.press("escape", "q")
        assert stage.says("1 draft is not recorded.")
        await stage.press("n", "d", "escape")
        assert stage.app.is_running


async def test_answered_elsewhere_turns_the_card_into_a_record(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("my own opinion")
        request = the_release()
        await stage.give(with_request(snapshot(), decided(request)))
        assert stage.says("Publish, by bo at")
        assert stage.says("Nothing of yours was recorded. Your draft is kept below.")
        blocks = stage.app.card.frame.blocks
        assert blocks.size.height == blocks.room
        assert stage.says("your pick, not recorded")
        await stage.press(*"more")
        assert stage.app.card.frame.text.text == "my own opinion"
        hand.wait()
        await stage.press("ctrl+s", "1", "ctrl+s")
        assert stage.desk.answers == []


async def test_a_press_that_lost_says_who_won(hand: Hand) -> None:
    async with on_stage() as stage:
        stage.desk.replies.append(receipt("rejected", reason="already_resolved"))
        await stage.press("d", "1")
        hand.wait()
        await stage.press("ctrl+s")
        assert stage.says("not recorded: already resolved")
        await stage.give(with_request(snapshot(), decided(the_release(), "stop")))
        assert stage.says("Stop here, by bo at")
        assert stage.says("2 s before you")


@pytest.mark.parametrize("reason", ["paused", "not_allowed", "stale", "invalid_input"])
async def test_a_refusal_that_closes_nothing_can_be_tried_again(hand: Hand, reason: str) -> None:
    async with on_stage() as stage:
        stage.desk.replies.append(receipt("rejected", reason=reason))
        await stage.press("d", "1")
        hand.wait()
        await stage.press("ctrl+s")
        assert stage.says(f"not recorded: {reason.replace('_', ' ')}")
        hand.wait()
        await stage.press("1")
        hand.wait()
        await stage.press("ctrl+s")
        assert len(stage.desk.answers) == 2


async def test_a_locked_store_is_tried_under_one_key_until_it_answers(hand: Hand) -> None:
    async with on_stage() as stage:
        stage.desk.replies += [StoreBusy("state.sqlite", 5000), StoreBusy("state.sqlite", 5000)]
        await stage.press("d", "1")
        hand.wait()
        await stage.press("ctrl+s", "ctrl+s")
        await stage.pilot.pause()
        keys = {answer[3] for answer in stage.desk.answers}
        assert len(stage.desk.answers) == 3
        assert len(keys) == 1


async def test_it_says_locked_only_once_the_store_said_so(hand: Hand) -> None:
    async with on_stage() as stage:
        stage.desk.hold = asyncio.Event()
        stage.desk.replies.append(StoreBusy("state.sqlite", 5000))
        await stage.press("d", "1")
        hand.wait()
        await stage.press("ctrl+s")
        hand.wait(4_000)
        await stage.resize((119, 40))
        assert stage.says("recording")
        assert not stage.says("store is locked")
        stage.desk.hold.set()
        stage.desk.hold = held = asyncio.Event()
        await stage.pilot.pause()
        hand.wait(2_000)
        await stage.resize((120, 40))
        assert stage.says("recording, store is locked 6 s")
        held.set()


async def test_while_it_records_nothing_else_is_taken(hand: Hand) -> None:
    async with on_stage() as stage:
        stage.desk.hold = asyncio.Event()
        await stage.press("d", "2")
        await stage.type("a long enough text")
        hand.wait()
        await stage.press("ctrl+s", "x", "escape")
        assert stage.app.screen is stage.app.card, "what is on its way cannot be taken back"
        assert stage.says("stops after this try")
        stage.desk.hold.set()
        await stage.pilot.pause()
        await stage.give(with_request(snapshot(), decided(the_release(), "revise", "ada", text="a long enough text")))
        assert stage.says("Change the notes, by you at")
        assert stage.app.drafts.unrecorded == 0


async def test_an_expired_request_shows_what_the_deadline_took(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        await stage.type("too late to say")
        closed = decided(the_release(), "stop", "policy", provenance=Provenance.TIMEOUT_POLICY)
        await stage.give(with_request(snapshot(), closed))
        assert stage.says("Stop here, by its deadline at")
        assert stage.app.drafts.unrecorded == 1


async def test_a_read_only_dashboard_shows_the_card_and_records_nothing(hand: Hand) -> None:
    async with on_stage(read_only=True) as stage:
        await stage.press("d", "1")
        hand.wait()
        await stage.press("ctrl+s")
        assert stage.desk.answers == []
        assert stage.says("read-only: nothing can be decided here")


async def test_a_terminal_too_small_for_the_card_refuses_to_record(hand: Hand) -> None:
    async with on_stage((60, 11)) as stage:
        await stage.press("d", "1")
        hand.wait()
        await stage.press("ctrl+s")
        assert stage.desk.answers == []
        assert stage.says("enlarge the terminal to decide")


async def test_a_card_whose_choices_do_not_fit_refuses_until_there_is_room(hand: Hand) -> None:
    first = the_release().choices[0]
    choices = tuple(replace(first, key=f"k{number}", label=f"Choice {number}") for number in range(1, 13))
    request = replace(the_release(), choices=choices, blocks=())
    async with on_stage((60, 15)) as stage:
        stage.app.open_card(request)
        await stage.pilot.pause()
        assert stage.says("enlarge the terminal to decide")
        await stage.press("9")
        hand.wait()
        await stage.press("ctrl+s")
        assert stage.desk.answers == []
        await stage.resize((60, 24))
        assert stage.says("Choice 12")
        hand.wait()
        await stage.press("9")
        hand.wait()
        await stage.press("ctrl+s")
        assert [choice for _, choice, _, _ in stage.desk.answers] == ["k9"]


async def test_a_long_text_leaves_its_button_on_screen(hand: Hand) -> None:
    async with on_stage((60, 15)) as stage:
        await stage.press("d", "2")
        for _ in range(20):
            await stage.press("a", "enter")
        assert stage.says("esc close"), stage.text


async def test_two_labels_that_begin_alike_are_told_apart_once_picked(hand: Hand) -> None:
    first = the_release().choices[0]
    labels = [f"{'Publish to every mirror ' * 5}{place}" for place in ("Europe", "America")]
    choices = tuple(replace(first, key=label[-7:].strip(), label=label) for label in labels)
    async with on_stage((120, 40)) as stage:
        stage.app.open_card(replace(the_release(), choices=choices))
        await stage.pilot.pause()
        assert not stage.says("America")
        await stage.press("2")
        assert stage.says("America")
        assert stage.says("then publish")
        await stage.press("1")
        assert stage.says("Europe")
        assert not stage.says("America")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_text_input_hides_nothing_of_the_blocks(hand: Hand, size: tuple[int, int]) -> None:
    inside = min(94, size[0]) - (6 if size[0] >= 100 else 4)
    room = inside - 4  # a preformatted row begins with its bar and the column of its sign
    rows = [f"{number:04d} {'x' * (room - 11)} {number:04d}!" for number in range(60)]
    request = replace(the_release(), blocks=(Block("preformatted", "\n".join(rows)),))
    async with on_stage(size) as stage:
        stage.app.open_card(request)
        await stage.pilot.pause()
        assert stage.says("0003!")
        await stage.press("2")
        assert stage.says("What should change?")
        shown = [row for row in stage.text if "xxx" in row]
        assert shown
        assert all(re.search(r"(\d{4}) x+ \1!", row) for row in shown), shown


@pytest.mark.parametrize("size", [(200, 50), (120, 40), (80, 24), (60, 15)])
async def test_every_part_of_the_card_is_on_the_screen(hand: Hand, size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await stage.press("d", "2")
        blocks = stage.app.card.frame.blocks
        assert blocks.size.height == blocks.room
        for words in (
            "Publish 1.4.0 to PyPI?",
            "7c21 9e0f 44ab",
            "5m48s",
            "Stop here",
            "What should change?",
            "ctrl+s",
        ):
            assert stage.says(words), words
