"""What counts as a press of the recording key, by the clock."""

import pytest

from lockgate.tui.guard import ARM_MS, REPEAT_MS, Guard, Press


class Hand:
    """A clock in milliseconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.guard = Guard(lambda: self.now)

    def after(self, ms: float) -> Guard:
        self.now += ms
        return self.guard


def test_nothing_counts_before_it_is_armed() -> None:
    hand = Hand()
    assert hand.after(ARM_MS - 1).press() is Press.EARLY
    assert hand.guard.left_ms == 1


def test_the_first_press_at_the_limit_counts() -> None:
    assert Hand().after(ARM_MS).press() is Press.COUNTS


def test_one_press_is_one_commit() -> None:
    hand = Hand()
    presses = [hand.after(ARM_MS).press(), *(hand.after(300).press() for _ in range(4))]
    assert presses == [Press.COUNTS, *[Press.LATCHED] * 4]


@pytest.mark.parametrize("gap", [16, 33, 92, REPEAT_MS - 1])
def test_a_held_key_never_counts(gap: float) -> None:
    hand = Hand()
    assert {hand.after(gap).press() for _ in range(200)} <= {Press.EARLY, Press.REPEATED}


def test_a_press_right_behind_other_keys_is_a_paste() -> None:
    hand = Hand()
    hand.after(ARM_MS).saw_key()
    assert hand.after(REPEAT_MS - 1).press() is Press.REPEATED
    assert hand.after(REPEAT_MS).press() is Press.COUNTS


def test_arming_again_takes_the_latch_off() -> None:
    hand = Hand()
    hand.after(ARM_MS).press()
    hand.guard.arm()
    assert hand.after(ARM_MS - 1).press() is Press.EARLY
    assert hand.after(REPEAT_MS).press() is Press.COUNTS
