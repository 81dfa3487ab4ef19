"""Preformatted text that is wider than the card is never wrapped and never lost: the arrows move it."""

from msgspec.structs import replace

from lockgate.view.snapshots import Block
from tests.tui.stage import on_stage
from tests.view.picture import snapshot


async def test_the_arrows_show_the_end_of_a_wide_line_and_its_start_again() -> None:
    wide = "start " + "x" * 200 + " the end"
    scene = snapshot()
    request = replace(scene.decisions[0], blocks=(Block("preformatted", wide),))
    async with on_stage() as stage:
        await stage.give(replace(scene, decisions=(request, *scene.decisions[1:]), request=request))
        await stage.press("2", "d")
        assert stage.says("start xxx")
        assert stage.says("← → sideways")
        await stage.press(*["right"] * 20)
        assert stage.says("the end")
        assert not stage.says("start xxx")
        await stage.press(*["left"] * 20)
        assert stage.says("start xxx")


async def test_a_card_that_shows_all_of_it_offers_no_such_key() -> None:
    async with on_stage() as stage:
        await stage.press("2", "d")
        assert not stage.says("sideways")
