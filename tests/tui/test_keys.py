"""Keys do what the help says, in the pane that has the focus, and nothing while a text has it."""

import pytest
from msgspec.structs import replace
from textual import events

from lockgate.model.errors import StoreBusy
from lockgate.model.statuses import Outcome
from lockgate.tui import terminal
from lockgate.view.snapshots import ShownOutput, ShownStep, StepDetail
from tests.tui.stage import on_stage, receipt
from tests.view.picture import snapshot


async def test_moving_selects_the_run_that_the_feed_reads() -> None:
    async with on_stage() as stage:
        await stage.press("j", "j")
        await stage.pilot.pause(0.3)
        assert stage.feed.interest.run_id == snapshot().runs.rows[2].run_id


async def test_an_act_is_about_the_row_under_the_cursor_also_before_it_was_read() -> None:
    async with on_stage() as stage:
        await stage.press("j", "j", "p")
        assert stage.desk.acts == [("pause", snapshot().runs.rows[2].run_id)]


async def test_deciding_about_an_effect_says_which_command_takes_the_answer() -> None:
    picture = snapshot()
    rows = list(picture.runs.rows)
    index = next(at for at, row in enumerate(rows) if row.run.error_code == "source_changed")
    rows[index] = replace(rows[index], run=replace(rows[index].run, error_code="effect_ambiguous"))
    shown = replace(picture, runs=replace(picture.runs, rows=tuple(rows)))
    async with on_stage((160, 40), shown=shown) as stage:
        await stage.press(*("j" * index), "d")
        assert stage.says(f"{rows[index].short_id}: lockgate resolve says whether it happened")
        assert stage.says(f"lockgate show {rows[index].short_id} has the id")


async def test_digits_and_tab_go_round_the_panes() -> None:
    async with on_stage() as stage:
        numbers = []
        for key in ("3", "tab", "tab", "shift+tab", "2", "1"):
            await stage.press(key)
            numbers.append(stage.app.main.number)
        assert numbers == [3, 4, 1, 4, 2, 1]


async def test_four_again_and_the_arrows_open_the_tabs() -> None:
    async with on_stage() as stage:
        tabs = []
        for key in ("4", "4", "right", "right", "right", "left"):
            await stage.press(key)
            tabs.append(stage.feed.interest.tab)
        assert tabs == ["trace", "steps", "output", "info", "trace", "info"]


async def test_a_filter_is_typed_and_its_letters_are_no_keys() -> None:
    async with on_stage() as stage:
        await stage.press("slash", *"xq d", "enter")
        assert stage.feed.interest.filter == "xq d"
        assert stage.app.is_running
        assert stage.app.screen is stage.app.main
        await stage.press("slash", "escape")
        assert stage.feed.interest.filter == ""
        assert stage.app.main.pane is stage.app.main.runs


async def test_a_filter_in_one_burst_acts_on_nothing() -> None:
    async with on_stage() as stage:
        for key, character in [("slash", "/"), *((each, each) for each in "px2Rzd"), ("enter", "\r")]:
            stage.app.post_message(events.Key(key, character))
        await stage.pilot.pause()
        await stage.pilot.pause()
        assert stage.feed.interest.filter == "px2Rzd"
        assert stage.desk.acts == []
        assert stage.app.screen is stage.app.main


async def test_an_empty_answer_to_a_filter_says_how_to_leave_it() -> None:
    base = snapshot()
    async with on_stage() as stage:
        await stage.press("slash", *"zzz", "enter")
        await stage.give(replace(base, runs=replace(base.runs, rows=(), total=0, filter="zzz"), detail=None))
        assert stage.says("No run matches.")
        await stage.press("escape")
        assert stage.feed.interest.filter == ""


async def test_a_selected_run_that_is_filtered_out_is_a_ghost_without_actions() -> None:
    base = snapshot()
    async with on_stage() as stage:
        await stage.press("j")
        others = tuple(row for row in base.runs.rows if row.run.workflow != "nightly-etl")
        await stage.give(replace(base, runs=replace(base.runs, rows=others, total=len(others), filter="wf:release")))
        assert stage.says("gone: filtered out")
        await stage.press("p", "x", "d")
        assert stage.desk.acts == []
        assert stage.app.screen is stage.app.main


async def test_sorting_goes_through_the_columns_and_both_directions() -> None:
    async with on_stage() as stage:
        seen = [(stage.feed.interest.sort, stage.feed.interest.descending)]
        for _ in range(3):
            await stage.press("s")
            seen.append((stage.feed.interest.sort, stage.feed.interest.descending))
        assert seen == [("created", True), ("created", False), ("state", True), ("state", False)]


@pytest.mark.parametrize(("key", "act"), [("p", "pause"), ("x", "cancel")])
async def test_an_act_goes_to_the_desk(key: str, act: str) -> None:
    async with on_stage() as stage:
        await stage.press(key)
        if act == "cancel":
            assert stage.says("Cancel this run?")
            assert stage.desk.acts == []
            await stage.pilot.pause(0.45)
            await stage.press("y")
        assert stage.desk.acts == [(act, snapshot().runs.rows[0].run_id)]


async def test_a_question_is_not_answered_by_a_held_key() -> None:
    async with on_stage() as stage:
        await stage.press("x", "y", "y", "y", "enter")
        assert stage.desk.acts == []
        assert stage.says("Cancel this run?")
        await stage.press("n")
        assert stage.app.screen is stage.app.main


async def test_what_the_law_does_not_have_is_not_asked() -> None:
    async with on_stage() as stage:
        await stage.press("r", "R")
        assert stage.desk.acts == []
        assert stage.says("cannot restart now")


async def test_a_refusal_and_a_locked_store_are_said() -> None:
    async with on_stage() as stage:
        stage.desk.replies += [receipt("rejected", command="pause", reason="run_closed"), StoreBusy("s.sqlite", 5000)]
        await stage.press("p")
        assert stage.says("was refused: run_closed")
        await stage.press("p")
        assert stage.says("stayed locked for 5000 ms")


async def test_read_only_changes_nothing() -> None:
    async with on_stage(read_only=True) as stage:
        await stage.press("p", "x", "H")
        assert stage.desk.acts == []
        assert stage.says("read-only")


async def test_the_palette_offers_the_keys_actions() -> None:
    async with on_stage() as stage:
        await stage.press("colon")
        await stage.pilot.pause(0.3)
        await stage.press(*"theme")
        await stage.pilot.pause(0.5)
        await stage.press("down", "enter")
        await stage.pilot.pause(0.2)
        assert stage.app.theme == "light"


async def test_ctrl_c_twice_quits_and_once_only_says_so() -> None:
    async with on_stage() as stage:
        await stage.press("ctrl+c")
        assert stage.says("ctrl+c once more quits")
        await stage.press("ctrl+c")
        assert stage.app.return_value == 0


async def test_q_quits_with_zero() -> None:
    async with on_stage() as stage:
        await stage.press("q")
        assert stage.app.return_value == 0


async def test_what_is_due_while_the_app_ends_has_its_turn_without_a_screen() -> None:
    """The second's timer and a key's action may still be waiting when the screens are gone."""
    async with on_stage() as stage:
        await stage.press("q")
    assert stage.app.screen_stack == []
    stage.app._tick()
    stage.app.action_help()
    assert not stage.app.has_open_card
    assert stage.app.return_value == 0


async def test_keys_are_remapped_by_the_id_of_their_action() -> None:
    async with on_stage(keys={"run.pause": "ctrl+t"}) as stage:
        await stage.press("p")
        assert stage.desk.acts == []
        await stage.press("ctrl+t")
        assert [act for act, _ in stage.desk.acts] == ["pause"]
        await stage.press("question_mark")
        assert stage.says("ctrl+t  pause")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"run.puase": "ctrl+t"}, "no action is called run.puase"),
        ({"run.pause": "r"}, "run.resume lost its key to another action"),
    ],
)
async def test_keys_that_cannot_be_are_said_at_the_start(keys: dict[str, str], said: str) -> None:
    async with on_stage((200, 50), keys=keys) as stage:
        assert stage.says(said)


async def test_an_event_opens_with_its_payload() -> None:
    async with on_stage() as stage:
        await stage.press("4", "g", "j", "j", "enter")
        assert stage.says("node_failed  seq 3")
        await stage.press("escape")
        assert stage.app.screen is stage.app.main


async def test_output_opens_its_tab_and_then_the_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    base = snapshot()
    assert base.detail is not None
    output = ShownOutput("attempt-4", "test #2", lines=(("stdout", "one"), ("stderr", "two")), size=8)
    paged: list[str] = []
    monkeypatch.setattr(terminal, "page", lambda app, text: paged.append(text) or "")
    async with on_stage() as stage:
        await stage.press("o")
        assert stage.feed.interest.tab == "output"
        assert paged == []
        await stage.give(replace(base, detail=replace(base.detail, output=output)))
        await stage.press("o")
        assert paged == ["one\ntwo\n"]


async def test_the_steps_tab_follows_its_cursor() -> None:
    base = snapshot()
    assert base.detail is not None
    attempts = base.detail.timeline.attempts
    steps = tuple(
        ShownStep(number, each, Outcome.OK, None, None, None) for number, each in enumerate(attempts[:4], start=1)
    )
    detail = replace(base.detail, steps=steps, step=StepDetail(attempts[3].attempt_id, receipts=("accepted",)))
    async with on_stage((200, 50)) as stage:
        await stage.press("4", "4")
        await stage.give(replace(base, detail=detail))
        assert stage.says("accepted")
        await stage.press("k")
        assert stage.feed.interest.attempt_id == attempts[2].attempt_id


async def test_a_new_decision_rings_once_and_is_counted_in_the_title(monkeypatch: pytest.MonkeyPatch) -> None:
    base = snapshot()
    rings: list[int] = []
    async with on_stage(shown=replace(base, decisions=base.decisions[:1])) as stage:
        monkeypatch.setattr(stage.app, "bell", lambda: rings.append(1))
        await stage.give(base)
        await stage.give(replace(base, event_seq=99))
        await stage.give(replace(base, decisions=base.decisions[:1]))
        await stage.give(base)
        assert len(rings) == 1
        assert stage.app.notices.shown_title == "3! lockgate"
