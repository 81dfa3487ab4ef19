"""What the tests of the dashboard share."""

import pytest
from textual import message

from lockgate.tui import app as app_module
from lockgate.tui import commit
from lockgate.tui.screens import card, card_view, confirm
from tests.tui.hand import Hand


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """The clock of keys and presses in the hand of the test."""
    hand = Hand()
    for module in (app_module, commit, card, card_view, confirm):
        monkeypatch.setattr(module, "time", hand)
    monkeypatch.setattr(message, "_time", hand)
    return hand
