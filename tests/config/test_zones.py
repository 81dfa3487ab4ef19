"""One zone for every screen: the named one, else the system's."""

import pytest

from lockgate.config.zones import zone


def test_a_named_zone_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert str(zone("Europe/Berlin")) == "Europe/Berlin"


def test_the_system_zone_is_that_of_tz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Asia/Kolkata")
    assert str(zone(None)) == "Asia/Kolkata"


def test_an_unknown_system_zone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Nowhere/Land")
    assert zone(None).utcoffset(None) is None or zone(None) is not None
