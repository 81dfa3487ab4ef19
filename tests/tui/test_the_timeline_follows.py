"""While the timeline follows, the newest attempt is on screen, however many there are; f brings that back."""

import pytest
from msgspec.structs import replace

from lockgate.view.snapshots import Snapshot
from tests.tui.stage import Stage, on_stage
from tests.view.picture import snapshot


def grown(count: int) -> Snapshot:
    """The scene whose run has made so many attempts, each of a node of its own."""
    shown = snapshot()
    assert shown.detail is not None
    timeline = shown.detail.timeline
    last = timeline.attempts[-1]
    attempts = tuple(replace(last, attempt_id=f"attempt-{n}", node=f"node{n}", number=1) for n in range(count))
    return replace(shown, detail=replace(shown.detail, timeline=replace(timeline, attempts=attempts, total=count)))


def rows(stage: Stage) -> str:
    return "\n".join(stage.text)


@pytest.mark.parametrize("size", [(120, 40), (100, 30), (80, 24)])
async def test_the_newest_attempt_stays_on_screen(size: tuple[int, int]) -> None:
    async with on_stage(size, shown=grown(3)) as stage:
        for count in (8, 20, 40):
            await stage.give(grown(count))
            assert stage.says(f"node{count - 1} "), rows(stage)
        assert stage.says("follow")


async def test_who_goes_up_stays_there_and_f_follows_again() -> None:
    async with on_stage((100, 30), shown=grown(3)) as stage:
        await stage.give(grown(20))
        await stage.press("3", "k", "k", "k")
        await stage.give(grown(40))
        assert stage.says("node16 ")
        assert not stage.says("node39 ")
        assert not stage.says("● follow")
        await stage.press("f")
        assert stage.says("node39 "), rows(stage)
        assert stage.says("● follow")


async def test_another_run_is_followed_from_its_newest_attempt() -> None:
    async with on_stage((100, 30), shown=grown(20)) as stage:
        await stage.press("3", "k")
        other = grown(30)
        assert other.detail is not None
        facts = replace(other.detail.run, run=replace(other.detail.run.run, run_id="other"))
        await stage.give(replace(other, detail=replace(other.detail, run=facts)))
        assert stage.says("node29 "), rows(stage)
