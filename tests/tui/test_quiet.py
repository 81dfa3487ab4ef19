"""A quiet screen writes nothing; a key paints what it moved, and nothing is laid out for it."""

import time

import pytest
from msgspec.structs import replace
from textual.geometry import Region

from lockgate.tui import app as app_module
from lockgate.tui.widgets.line_block import LineBlock
from lockgate.tui.widgets.lines_view import LinesView
from tests.tui.stage import Stage, on_stage
from tests.view.picture import NOW, snapshot

KEYS = 12


def painted(stage: Stage) -> list[tuple[str, int]]:
    """Notes every region that a widget has painted from now on, as (widget, cells)."""
    seen: list[tuple[str, int]] = []
    for widget in [*stage.app.screen.query(LinesView), *stage.app.screen.query(LineBlock)]:

        def refresh(*regions: Region, _widget=widget, _refresh=widget.refresh, **how: bool) -> object:  # type: ignore[no-untyped-def]
            seen.append((_widget.id or "", sum(each.area for each in regions) if regions else _widget.size.area))
            return _refresh(*regions, **how)

        widget.refresh = refresh  # type: ignore[method-assign]
    return seen


async def test_the_same_snapshot_again_paints_nothing() -> None:
    async with on_stage() as stage:
        seen = painted(stage)
        await stage.give(replace(snapshot(), event_seq=21))
        assert seen == []


async def test_a_tick_paints_only_the_cells_of_times_that_moved() -> None:
    async with on_stage() as stage:
        seen = painted(stage)
        later = replace_now(1_000)
        stage.app.now = lambda: later
        stage.app.main.painter.tick()
        rows = [cells for name, cells in seen if name == "runs-list"]
        assert len(rows) == 4, "two that run, one answered, one that waits to run again"
        assert sorted(rows)[:3] == [7, 7, 7], "the cells of the time, not the row"
        assert not [name for name, _ in seen if name == "decisions-list"]


def replace_now(ms: int):  # type: ignore[no-untyped-def]
    return type(NOW)(wall_ms=NOW.wall_ms + ms, boot_id=NOW.boot_id, mono_ms=NOW.mono_ms + ms)


async def test_new_data_is_painted_at_most_four_times_a_second() -> None:
    async with on_stage() as stage:
        painter = stage.app.main.painter
        paints = 0
        paint = painter.paint

        def counted() -> None:
            nonlocal paints
            paints += 1
            paint()

        painter.paint = counted  # type: ignore[method-assign]
        began = time.monotonic()
        for number in range(30):
            stage.feed.give(replace(snapshot(), event_seq=100 + number))
            await stage.pilot.pause(0.02)
        await stage.pilot.pause(0.3)
        lasted = time.monotonic() - began
        assert 1 <= paints <= lasted / 0.25 + 2
        assert painter.snapshot is not None
        assert painter.snapshot.event_seq == 129


async def test_after_a_sleep_everything_is_read_once_and_said() -> None:
    async with on_stage() as stage:
        stage.app._tick()
        looked = len(stage.feed.looked)
        later = replace(NOW, wall_ms=NOW.wall_ms + 8 * 3_600_000 + 1_000, mono_ms=NOW.mono_ms + 1_000)
        stage.app.now = lambda: later
        stage.app._tick()
        stage.app._tick()
        await stage.pilot.pause()
        assert stage.says("resumed after 8h00m")
        assert len(stage.feed.looked) == looked + 1


async def test_a_feed_that_breaks_is_said_and_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "AGAIN_S", 0.05)
    async with on_stage() as stage:
        stage.feed.give(RuntimeError("no \x1b]2;PWNED\x07 luck"))
        await stage.pilot.pause(0.2)
        assert stage.says("reading stopped, trying again: RuntimeError: no")
        assert not stage.says("PWNED")
        await stage.give(replace(snapshot(), decisions=()))
        assert stage.says("Nothing needs you.")


async def test_a_key_costs_little_and_lays_nothing_out() -> None:
    async with on_stage((120, 40)) as stage:
        await stage.press("j", "k")
        layouts = stage.app.screen._layout_updates
        began = time.process_time()
        for _ in range(KEYS):
            stage.app.main.runs.list.action_move(1)
            await stage.pilot.pause()
            stage.app.main.runs.list.action_move(-1)
            await stage.pilot.pause()
        cost = (time.process_time() - began) / (2 * KEYS)
        assert cost < 0.012
        assert stage.app.screen._layout_updates == layouts
