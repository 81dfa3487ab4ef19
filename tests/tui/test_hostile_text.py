"""Text from data is shown as it is: never read as markup, never obeyed by the terminal, never cut of its brackets."""

import ast
import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import lockgate.tui
from lockgate.model.statuses import Provenance, RequestStatus
from lockgate.model.text import clean
from lockgate.view.shown import shown_run
from lockgate.view.snapshots import Block, ShownResolution, Snapshot
from tests.tui.stage import Stage, on_stage, with_request
from tests.view.picture import NOW, snapshot

MARKUP = "nightly [/red] [@click=app.quit]x[/] [a] [type=x, v={'a[0]'}]"
ESCAPES = "job \x1b]52;c;cm0gLXJm\x07\x1b]2;PWNED\x1b\\\x1b[2J\x9b31m \x1b] \u202e evil"


def hostile(text: str) -> Snapshot:
    """The scene in which everything that an author or a caller may word is this text."""
    base = snapshot()
    assert base.detail is not None
    shown = clean(text)
    run = msgspec.structs.replace(base.detail.run.run, title=text, workflow=text, error_summary=text, started_by=text)
    rows = (shown_run(run), *base.runs.rows[1:])
    request = base.decisions[0]
    choices = tuple(replace(each, label=shown, consequence=shown) for each in request.choices)
    blocks = (
        Block("paragraph", shown),
        Block("bullets", items=(shown,)),
        Block("fields", fields=((shown, shown),)),
        Block("preformatted", shown),
    )
    request = replace(
        request,
        title=shown,
        node=shown,
        audience=shown,
        workflow=shown,
        started_by=shown,
        blocks=blocks,
        choices=choices,
    )
    timeline = base.detail.timeline
    attempts = tuple(replace(each, node=shown, outcome=shown, error=shown) for each in timeline.attempts)
    events = tuple(
        replace(each, type=shown, subject=shown, detail=shown, payload=json.dumps({shown: shown}))
        for each in base.detail.trace.rows
    )
    detail = replace(
        base.detail,
        run=rows[0],
        request=request,
        timeline=replace(timeline, attempts=attempts),
        trace=replace(base.detail.trace, rows=events),
    )
    return replace(base, runs=replace(base.runs, rows=rows), decisions=(request, *base.decisions[1:]), detail=detail)


async def everywhere(stage: Stage, shown: Snapshot) -> list[str]:
    """Every screen that shows data, as text."""
    seen = list(stage.text)
    await stage.press("3", "4", "enter")
    seen += stage.text
    await stage.press("escape", "x")
    seen += stage.text
    await stage.press("n", "d", "1")
    seen += stage.text
    request = shown.decisions[0]
    resolution = ShownResolution(Provenance.HUMAN, "publish", request.title, request.title, request.title, NOW.wall_ms)
    await stage.give(with_request(shown, replace(request, status=RequestStatus.SETTLED, resolution=resolution)))
    seen += stage.text
    stage.app.toast(request.title)
    stage.app.main.painter.say(request.title)
    await stage.press("escape", "question_mark")
    return seen + stage.text


@pytest.mark.parametrize("size", [(200, 50), (60, 15)])
async def test_markup_is_shown_verbatim(size: tuple[int, int]) -> None:
    shown = hostile(MARKUP)
    async with on_stage(size, shown=shown) as stage:
        seen = await everywhere(stage, shown)
        assert any("nightly [/red] [@click=app.quit]x[/]" in row for row in seen)
        assert stage.app.is_running


async def test_a_click_on_markup_does_nothing() -> None:
    async with on_stage((200, 50), shown=hostile(MARKUP)) as stage:
        for y, row in enumerate(stage.text):
            x = row.find("[@click")
            if x >= 0:
                await stage.pilot.click(offset=(x + 15, y))
        assert stage.app.is_running
        assert stage.app.screen is stage.app.main


@pytest.mark.parametrize("size", [(120, 40)])
async def test_no_escape_reaches_the_screen(size: tuple[int, int]) -> None:
    shown = hostile(ESCAPES)
    async with on_stage(size, shown=shown) as stage:
        seen = "\n".join(await everywhere(stage, shown))
        assert not set("\x1b\x07\x9b\u202e") & set(seen)
        assert "PWNED" not in seen
        assert "\u241b" in seen, "the reviewer sees that something was there"


# Every call that would read a string as markup, or hand it to the terminal, with the argument that it may have.
_SINKS = {"Static", "Label", "Button", "OptionList", "Select", "Collapsible", "Tabs", "Log", "RichLog", "DataTable"}
_NAMED_SINKS = {"border_title", "border_subtitle", "tooltip", "title", "sub_title"}


def test_no_widget_of_the_room_takes_a_string_made_from_data() -> None:
    found: list[str] = []
    for path in sorted(Path(lockgate.tui.__path__[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if name in _SINKS or name in ("from_markup", "push_screen_wait"):
                    found.append(f"{path.name}:{node.lineno} {name}")
                if name == "notify" and not any(
                    each.arg == "markup" and getattr(each.value, "value", True) is False for each in node.keywords
                ):
                    found.append(f"{path.name}:{node.lineno} notify without markup=False")
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and target.attr in _NAMED_SINKS:
                        found.append(f"{path.name}:{node.lineno} {target.attr}")
    assert found == []
