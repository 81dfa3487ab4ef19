"""What counts as a press of the recording key, by the clock."""

import pytest

from lockgate.tui.guard import ARM_MS, REPEAT_MS, Guard, Press


class Hand:
    """A clock in milliseconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.guard = Guard(lambda: self.now)

    def key(self, ms: float) -> None:
        """A key arrives, and is handled at once."""
        self.now += ms
        self.guard.arrived(self.now)

    def press(self, ms: float) -> Press:
        """The recording key does."""
        self.key(ms)
        return self.guard.press()


def test_nothing_counts_before_it_is_armed() -> None:
    hand = Hand()
    assert hand.press(ARM_MS - 1) is Press.EARLY
    assert hand.guard.left_ms == 1


def test_the_first_press_at_the_limit_counts() -> None:
    assert Hand().press(ARM_MS) is Press.COUNTS


def test_one_press_is_one_commit() -> None:
    hand = Hand()
    presses = [hand.press(ARM_MS), *(hand.press(300) for _ in range(4))]
    assert presses == [Press.COUNTS, *[Press.LATCHED] * 4]


@pytest.mark.parametrize("gap", [16, 33, 92, REPEAT_MS - 1])
def test_a_held_key_never_counts(gap: float) -> None:
    hand = Hand()
    assert {hand.press(gap) for _ in range(200)} <= {Press.EARLY, Press.REPEATED}


def test_a_press_right_behind_other_keys_is_a_paste() -> None:
    hand = Hand()
    hand.key(ARM_MS)
    assert hand.press(REPEAT_MS - 1) is Press.REPEATED
    assert hand.press(REPEAT_MS) is Press.COUNTS


def test_a_key_that_waited_is_judged_by_when_it_arrived() -> None:
    hand = Hand()
    came = hand.now + ARM_MS - 1
    hand.now += 5_000
    hand.guard.arrived(came)
    assert hand.guard.press() is Press.EARLY


def test_a_burst_is_one_however_long_its_keys_wait() -> None:
    hand = Hand()
    came = hand.now + ARM_MS
    hand.now = came
    hand.guard.arrived(came)
    hand.now += 5_000
    hand.guard.arrived(came + 1)
    assert hand.guard.press() is Press.REPEATED


def test_arming_again_takes_the_latch_off() -> None:
    hand = Hand()
    hand.press(ARM_MS)
    hand.guard.arm()
    assert hand.press(ARM_MS - 1) is Press.EARLY
    assert hand.press(REPEAT_MS) is Press.COUNTS
