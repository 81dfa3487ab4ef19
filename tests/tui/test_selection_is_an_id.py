"""The cursor stays on what the person chose, whatever the data does; only a key or a click moves it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from lockgate.tui.themes import themes
from lockgate.tui.widgets.line_list import LineList
from tests.tui.stage import Words, widget_text


class ListApp(App[None]):
    """One list, ten rows high."""

    def __init__(self, *, from_end: bool = False) -> None:
        super().__init__()
        for theme in themes():
            self.register_theme(theme)
        self.theme = "dark"
        self.list = LineList(id="list", from_end=from_end)

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.list.focus()


SIZE = (20, 10)


def names(*numbers: int) -> Words:
    return Words([f"r{number}" for number in numbers])


async def test_rows_arriving_above_leave_the_cursor_on_its_row() -> None:
    app = ListApp()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(*range(50)))
        await pilot.press("j", "j", "j")
        app.list.show(names(99, 98, *range(50)))
        await pilot.pause()
        assert app.list.cursor_id == "r3"
        assert app.list.cursor_index == 5
        assert widget_text(app.list)[5] == "▌ r3"


async def test_the_row_under_the_cursor_keeps_its_place_on_screen() -> None:
    app = ListApp()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(*range(100)))
        await pilot.press(*["j"] * 30)
        place = widget_text(app.list).index("▌ r30")
        app.list.show(names(*range(500, 520), *range(100)))
        await pilot.pause()
        assert widget_text(app.list).index("▌ r30") == place


async def test_a_list_at_its_top_shows_what_arrives_there() -> None:
    app = ListApp()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(*range(50)))
        await pilot.pause()
        app.list.show(names(99, *range(50)))
        await pilot.pause()
        assert widget_text(app.list)[:2] == ["  r99", "▌ r0"]


async def test_a_row_that_is_gone_stays_as_a_ghost_until_the_person_moves() -> None:
    app = ListApp()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(1, 2, 3, 4))
        await pilot.press("j")
        app.list.show(names(1, 3, 4))
        await pilot.pause()
        assert app.list.target is None, "nothing can be done to a row that is gone"
        assert [row.strip("▌ ") for row in widget_text(app.list)[:4]] == ["r1", "r2", "r3", "r4"]
        await pilot.press("j")
        assert app.list.target == "r3"
        assert [row.strip("▌ ") for row in widget_text(app.list)[:3]] == ["r1", "r3", "r4"]


async def test_a_row_that_comes_back_is_no_ghost() -> None:
    app = ListApp()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(1, 2, 3))
        await pilot.press("j")
        app.list.show(names(1, 3))
        app.list.show(names(3, 2, 1))
        await pilot.pause()
        assert app.list.target == "r2"


async def test_first_and_last_are_exact_in_a_hundred_thousand_rows() -> None:
    app = ListApp()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(*range(100_000)))
        await pilot.press("G")
        assert widget_text(app.list)[-1] == "▌ r99999"
        await pilot.press("g")
        assert widget_text(app.list)[0] == "▌ r0"


async def test_following_keeps_the_end_on_screen_until_the_person_goes_up() -> None:
    app = ListApp(from_end=True)
    async with app.run_test(size=SIZE) as pilot:
        app.list.following = True
        app.list.show(names(*range(30)))
        app.list.show(names(*range(40)))
        await pilot.pause()
        assert widget_text(app.list)[-1] == "▌ r39"
        await pilot.press("k")
        app.list.show(names(*range(55)))
        await pilot.pause()
        assert app.list.cursor_id == "r38"
        assert app.list.new_below == 15
        await pilot.press("G")
        assert app.list.new_below == 0


async def test_a_click_selects_the_row_and_a_second_one_opens_it() -> None:
    opened: list[str] = []

    class Opening(ListApp):
        def on_line_list_opened(self, message: LineList.Opened) -> None:
            opened.append(message.row_id)

    app = Opening()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(*range(30)))
        await pilot.click("#list", offset=(4, 6))
        assert app.list.cursor_id == "r6"
        await pilot.click("#list", offset=(4, 6), times=2)
        assert opened == ["r6"]


async def test_a_cursor_moves_two_rows_of_paint_and_no_layout() -> None:
    app = ListApp()
    async with app.run_test(size=SIZE) as pilot:
        app.list.show(names(*range(1000)))
        await pilot.pause()
        updates = app.list._layout_updates
        await pilot.press(*["j"] * 20)
        assert app.list._layout_updates == updates


moves = st.one_of(
    st.tuples(st.just("key"), st.sampled_from(["j", "k", "g", "G", "pagedown", "pageup"])),
    st.tuples(st.just("rows"), st.lists(st.integers(0, 40), max_size=40, unique=True)),
)


@pytest.mark.parametrize("size", [(20, 3), (20, 10)])
@given(script=st.lists(moves, min_size=1, max_size=12))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_only_a_key_changes_the_selection(size: tuple[int, int], script: list[tuple[str, object]]) -> None:
    app = ListApp()
    async with app.run_test(size=size) as pilot:
        app.list.show(names(*range(20)))
        await pilot.pause()
        for kind, what in script:
            before = app.list.cursor_id
            if kind == "key":
                await pilot.press(str(what))
            else:
                assert isinstance(what, list)
                app.list.show(names(*what))
                await pilot.pause()
                assert app.list.cursor_id == before
                here = app.list.source.index_of(before) if before is not None else None
                assert (app.list.target is None) == (here is None)
            assert 0 <= app.list.scroll_offset.y <= app.list.max_scroll_y
