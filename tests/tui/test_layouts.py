"""The dashboard says the same as `--once` at every size, and fits."""

import pytest
from msgspec.structs import replace

from lockgate.tui.themes import PALETTES
from lockgate.view.cells import plain
from lockgate.view.frames import frame
from lockgate.view.lens import Lens
from lockgate.view.snapshots import StoreFact, StoreState
from tests.tui.stage import on_stage
from tests.view.picture import NOW, ZONE, snapshot

SIZES = [(200, 50), (160, 40), (120, 40), (120, 23), (100, 30), (80, 24), (60, 15), (40, 10)]


async def test_a_live_screen_says_what_one_frame_prints() -> None:
    async with on_stage(SIZES[0]) as stage:
        for size in SIZES:
            await stage.resize(size)
            expected = [plain(line).replace("  Graph", "") for line in frame(snapshot(), Lens(NOW, *size, zone=ZONE))]
            shown = stage.text
            assert len(shown) == size[1]
            for y, (row, wanted) in enumerate(zip(shown[:-1], expected[:-1], strict=True)):
                if "Trace" not in row:
                    assert row == wanted, f"row {y} at {size}"
            assert "q quit" in shown[-1], "the status line never disappears"


async def test_below_eighty_columns_digits_switch_one_pane() -> None:
    async with on_stage((60, 15)) as stage:
        assert stage.says("nightly-etl")
        await stage.press("2")
        assert stage.says("Publish 1.4.0 to PyPI?")
        assert not stage.says("nightly-etl")
        await stage.press("3")
        assert stage.says("whole run")
        await stage.press("4")
        assert stage.says("run_queued")


async def test_zoom_shows_one_pane_whole_and_goes_back() -> None:
    async with on_stage((120, 40)) as stage:
        await stage.press("4", "1")
        before = stage.text[:-1]
        await stage.press("4", "z")
        assert not stage.says("nightly-etl")
        assert stage.says("decision_requested")
        await stage.press("escape", "1")
        assert stage.text[:-1] == before


async def test_too_small_a_terminal_says_so_and_quits() -> None:
    async with on_stage((120, 40)) as stage:
        await stage.pilot.resize_terminal(31, 8)
        await stage.pilot.pause()
        assert stage.says("enlarge the terminal")
        assert not stage.says("waiting")
        await stage.press("d", "x", "y")
        assert stage.desk.acts == []
        assert stage.app.screen is stage.app.main


async def test_resizing_moves_nothing_under_the_cursor() -> None:
    async with on_stage((120, 40)) as stage:
        await stage.press(*"jjjjj")
        chosen = stage.app.main.runs.list.cursor_id
        for size in ((60, 15), (200, 50), (31, 8), (80, 24), (120, 40)):
            await stage.pilot.resize_terminal(*size)
            await stage.pilot.pause()
            assert stage.app.main.runs.list.cursor_id == chosen
        assert any(row.startswith("▌ ◈ answered") for row in stage.text)


async def test_ascii_moves_no_cell() -> None:
    async with on_stage((120, 40), ascii=True) as stage:
        assert [row for row in stage.text if not row.isascii()] == []


async def test_stale_data_is_labelled_and_stays() -> None:
    locked = StoreFact(
        "state.sqlite", StoreState.LOCKED, NOW.wall_ms - 41_000, NOW.wall_ms - 41_000, "the store is locked."
    )
    async with on_stage((120, 40), shown=replace(snapshot(), store=locked)) as stage:
        assert stage.says("everything below is as of 14:05:49; the store is locked.")
        assert stage.says("locked 41 s")
        assert sum("as of 14:05:49" in row for row in stage.text) >= 3
        assert stage.says("release")


async def test_every_theme_says_the_same() -> None:
    async with on_stage((120, 40)) as stage:
        expected = stage.text
        for theme in PALETTES:
            stage.app.theme = theme
            await stage.pilot.pause()
            assert stage.text == expected, theme


@pytest.mark.parametrize("theme", ["ansi", "mono"])
async def test_a_card_opens_in_the_themes_without_colours_of_their_own(theme: str) -> None:
    async with on_stage((120, 40), theme=theme) as stage:
        await stage.press("d", "2")
        assert stage.says("ctrl+s")
