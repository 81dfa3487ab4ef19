"""A table fits its terminal: a long cell gives way before what stands behind it is lost."""

import pytest

from lockgate.cli import tables
from lockgate.model.text import cell_width

HEAD = ("no", "attempt", "state", "error")


@pytest.mark.parametrize("columns", [80, 120])
def test_a_long_name_leaves_room_for_what_follows(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr(tables, "terminal_columns", lambda: columns)
    long = "/".join(["mount"] * 30) + "/draft #12"
    head, first, second = tables.table(HEAD, [("1", long, "failed", "no room"), ("2", "b #1", "ok", "")]).splitlines()
    assert "…" in first
    assert first.split() == ["1", first.split()[1], "#12", "failed", "no", "room"]
    assert first.index("failed") == head.index("state") == second.index("ok")
    assert cell_width(first) <= columns


def test_nothing_is_cut_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("1", "b" * 40, "ok", "x" * 20)]
    whole = tables.table(HEAD, rows)
    monkeypatch.setattr(tables, "terminal_columns", lambda: 80)
    assert tables.table(HEAD, rows) == whole


def test_wide_characters_are_cut_by_their_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "terminal_columns", lambda: 60)
    lines = tables.table(
        ("id", "time left", "question"), [("1", "宽" * 100, "发布?"), ("2", "none", "What?")]
    ).splitlines()
    assert lines[1].endswith("发布?")
    assert [cell_width(line) <= 60 for line in lines] == [True] * 3
    assert cell_width(lines[1].removesuffix("发布?")) == cell_width(lines[2].removesuffix("What?"))
