"""Text that arrives as thousands of keys makes the dashboard neither deaf nor deadly."""

from textual import events

from lockgate.tui.flood import BURST_MOST, LATE_S, MANY, MOST, Flood
from tests.tui.hand import Hand
from tests.tui.stage import on_stage


def test_what_is_in_time_is_taken_however_many_wait() -> None:
    flood = Flood()
    assert not flood.drops(10.0, 10.0 + LATE_S, MOST)
    assert not flood.refuses(10.0, MOST - 1)


def test_one_late_key_is_taken() -> None:
    assert not Flood().drops(10.0, 15.0, MANY - 1)


def test_with_the_first_late_key_the_rest_of_its_burst_is_left_out() -> None:
    flood = Flood()
    assert flood.drops(10.000, 11.1, MANY)
    assert flood.drops(10.001, 10.5, 0)
    assert not flood.drops(10.300, 10.5, 0)


def test_a_held_key_is_no_burst() -> None:
    flood = Flood()
    assert flood.drops(10.000, 11.1, MANY)
    assert not flood.drops(10.033, 10.5, 0)


def test_a_burst_without_an_end_is_cut_though_the_screen_keeps_up() -> None:
    flood = Flood()
    times = [10.0 + number * 0.003 for number in range(BURST_MOST + 50)]
    assert [flood.drops(at, at, 1) for at in times] == [False] * BURST_MOST + [True] * 50
    assert not flood.drops(times[-1] + 0.3, times[-1] + 0.3, 1)


def test_a_key_that_is_held_for_a_minute_is_taken_to_the_end() -> None:
    flood = Flood()
    times = [10.0 + number * 0.033 for number in range(2_000)]
    assert not any(flood.drops(at, at, 1) for at in times)


async def test_thousands_of_keys_leave_the_card_alive_and_record_nothing(hand: Hand) -> None:
    async with on_stage() as stage:
        await stage.press("d", "2")
        hand.wait()
        for _ in range(2_000):
            stage.app.post_message(events.Key("a", "a"))
            stage.app.post_message(events.Key("ctrl+s", None))
        assert stage.app.message_queue_size <= MOST
        hand.wait(1_500)
        await stage.pilot.pause()
        assert stage.says("more keys came than can be taken")
        assert stage.desk.answers == []
        hand.wait()
        await stage.press("escape")
        assert stage.app.screen is stage.app.main
