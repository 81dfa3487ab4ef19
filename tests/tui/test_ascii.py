"""Where only ASCII may be drawn, nothing else is, in no box of any screen."""

import pytest

from tests.tui.stage import Stage, on_stage, with_request
from tests.tui.test_card_protocol import decided, the_release
from tests.view.picture import snapshot


def others(stage: Stage) -> list[str]:
    """The rows with anything but ASCII, less the arrow that the request's own text has."""
    return [row for row in stage.text if not row.replace("12 → 13", "12 to 13").isascii()]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize("keys", [("d", "2"), ("x",), ("question_mark",), ("j", "y")])
async def test_boxes_are_drawn_with_ascii(keys: tuple[str, ...], size: tuple[int, int]) -> None:
    async with on_stage(size, ascii=True) as stage:
        await stage.press(*keys)
        assert others(stage) == []


async def test_the_record_of_a_card_is_drawn_with_ascii() -> None:
    async with on_stage(ascii=True) as stage:
        await stage.press("d", "2")
        await stage.type("a draft")
        await stage.give(with_request(snapshot(), decided(the_release())))
        assert stage.says("Publish, by bo at")
        assert others(stage) == []
