"""The whole screen says what the pictures say, at every size, and never a cell too much."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.view.cells import line_width, plain
from lockgate.view.frames import frame, frame_text
from lockgate.view.glyphs import ASCII, UNICODE
from lockgate.view.lens import Lens
from lockgate.view.shown import shown_request, shown_run
from lockgate.view.snapshots import Counts, HostFact, HostState, RunsPage, Snapshot, StoreFact, StoreState
from tests.view.picture import NOW, ZONE, snapshot
from tests.view.picture import requests as pending_requests
from tests.view.picture import runs as shown_runs


def screen(columns: int, rows: int, shown: Snapshot | None = None, *, ascii: bool = False) -> list[str]:
    lens = Lens(NOW, columns, rows, ASCII if ascii else UNICODE, ZONE)
    return [plain(line) for line in frame(shown or snapshot(), lens)]


def test_the_usual_screen() -> None:
    rows = screen(120, 40)
    assert rows[0] == (
        " lockgate   ◆ 3 need you   ! 4 wrong  ◐ 2 running                   state.sqlite ● live   host ok 3/4"
        "   14:06 UTC+01:00"
    )
    assert rows[1] == (
        "─ 1 Runs 128 ──────────────────── newest first ▾ ─ ─ 3 Timeline release 1.4.0 3f9a1c2b ─── "
        "◆ waiting for you  ● follow ─"
    )
    assert [row[:50].rstrip() for row in rows[2:15]] == [
        "    state       workflow             id      time",
        "▌ ◆ waiting     release 1.4.0        3f9a   2m58s",
        "  ◐ running     nightly-etl 29 Nov   77c1     12s",
        "  ◐ running     crawl ! 3.4x slower  90ab  20m11s",
        "  ◆ waiting     migrate orders v12   e2d0  18m04s",
        "  ▲ overdue     access-re… due: Keep 41d7   1h02m",
        "  ◈ answered    invoice October      c3e8      3s",
        "  ∅ lost        render silent 48s    5b02   7m40s",
        "  ■ blocked     depl… source changed 0aa9   2h10m",
        "  ¦ pausing     backfill 2025 Q3     d411   3m09s",
        "  ‖ paused      report weekly        8e6f   5h12m",
        "  ◆ waiting     deploy-eu canary at… 9b1e  31m47s",
        "  ↻ interrupted thumbs again in 1s   a77d     44s",
    ]
    assert [row[51:].rstrip() for row in rows[2:11]] == [
        "  whole run  █▌████████╳╳███▒▒▒▒▒▒▒▒▒═════▒▒▒▒▒▒▒▒▸    2m19s   2m58s",
        "  attempt    ╷14:00     ╷14:02      ╷14:04      now   worked  waited",
        "  build   #1 █▌ ✗ failed┊           ┊          ┊         18s",
        "          #2 ┊ ████ ✓ ok┊           ┊          ┊         41s",
        "  test    #1 ┊     ████╳╳ ↻ interrupted        ┊         45s",
        "          #2 ┊          ┊██▌ ✓ ok   ┊          ┊         24s",
        "  notes   #1 ┊          ┊  ▐▌ ✓ ok  ┊          ┊          8s",
        "  approve #1 ┊    ◆ waiting ▒▒▒▒▒▒▒▒▒═════▒▒▒▒▒▒▒▒▸       0s   2m58s",
        "  █ worked 2m19s  ▒ waited for you 2m58s  ═ paused 50s  ╳ lost 15s",
    ]
    assert [row[:50].rstrip() for row in rows[32:39]] == [
        "─ 2 Decisions 3 ────────── least time left first ─",
        "  ◆ Publish 1.4.0 to PyPI?               in 5m48s",
        "    release 3f9a                   then Stop here",
        "  ◆ Go from 5 % to 50 %?                in 41m12s",
        "    deploy-eu 9b1e                 then Roll back",
        "  ◆ Drop orders.legacy_id?               no limit",
        "    migrate e2d0",
    ]


def test_the_narrow_screen() -> None:
    rows = screen(80, 24)
    assert rows[0] == " lockgate   ◆ 3 need you   ! 4 wrong  ◐ 2 running   ● live  host 3/4  14:06 +01"
    assert rows[2][:34].rstrip() == "▌ ◆ waiting     release     2m58s"
    assert rows[10][35:] == "  █ worked 2m19s ▒ waited 2m58s ═ paused 50s"
    assert rows[20][:34].rstrip() == "  ◆ Publish 1.4.0 to PyPI?  5m48s"
    assert rows[22][:34].rstrip() == "  ◆ Drop orders.legacy_id?   none"


def test_one_pane_at_a_time() -> None:
    rows = screen(60, 15)
    assert rows[0] == " lockgate   ◆ 3 need you  ! 4 wrong       ● live  14:06 +01"
    assert rows[1] == "─ 1 Runs 128   2 Decisions 3   3 Timeline   4 Detail ───────"
    assert rows[2] == "▌ ◆ waiting     release 1.4.0                  3f9a   2m58s"
    assert len(rows) == 15


def test_the_wide_screen() -> None:
    rows = screen(200, 50)
    assert "! 4 wrong: 1 blocked, 1 lost, 1 overdue, 1 stuck  ◐ 2 running" in rows[0]
    assert "host ok pid 4242 · 3/4 workers" in rows[0]
    assert rows[5][:72].rstrip() == "  ◐ running     crawl          ! 3.4x slower than usual    90ab  20m11s"
    assert rows[44][:72].rstrip() == "    release 3f9a for maintainers                         then Stop here"
    assert "◆ waiting for you ▒" in rows[9]


def test_ascii_does_not_move_a_cell() -> None:
    unicode, ascii = screen(120, 40), screen(120, 40, ascii=True)
    assert all(row.isascii() for row in ascii)
    for ours, theirs in zip(unicode, ascii, strict=True):
        words = [index for index, character in enumerate(ours) if character.isalnum()]
        assert [theirs[index] for index in words] == [ours[index] for index in words]


def test_a_terminal_below_40x10_is_asked_to_grow() -> None:
    assert screen(31, 8)[:2] == ["enlarge the terminal (need", "40x10, have 31x8)"]
    assert screen(60, 8)[0] == "enlarge the terminal (need 40x10, have 60x8)"


def test_an_empty_store_says_what_to_type() -> None:
    empty = Snapshot(at=NOW, store=StoreFact("state.sqlite"))
    text = "\n".join(screen(120, 40, empty))
    for words in ("No runs yet.", "Nothing needs you.", "lockgate demo", "lockgate start hello", "○ no host"):
        assert words in text


def test_a_missing_host_is_a_banner_only_while_runs_wait() -> None:
    shown = msgspec.structs.replace(snapshot(), host=HostFact())
    assert "until a host starts" not in "\n".join(screen(120, 40, shown))
    shown = msgspec.structs.replace(shown, counts=Counts(total=128, need_you=3, waiting_for_host=5))
    assert screen(120, 40, shown)[1].startswith(
        "▌ ○ no host  5 runs wait until a host starts. Answers are still recorded."
    )
    assert screen(120, 40, shown)[1].endswith("H start one here")


def test_stale_data_stays_and_is_labelled() -> None:
    store = StoreFact(
        "state.sqlite",
        StoreState.LOCKED,
        as_of=NOW.wall_ms - 41_500,
        since=NOW.wall_ms - 41_500,
        sentence="the store is locked.",
    )
    rows = screen(120, 40, msgspec.structs.replace(snapshot(), store=store))
    assert "○ locked 41 s   host not known" in rows[0]
    assert rows[1].startswith("▌ ○ stale  everything below is as of 14:05:49; the store is locked.")
    assert rows[1].endswith("trying again for 41 s")
    assert "as of 14:05:49 ╌" in rows[2]
    assert "▸" not in rows[3]
    assert "14:05:49" in rows[4]
    assert "release 1.4.0" in rows[4]


def test_read_only_is_said_and_is_no_alarm() -> None:
    rows = screen(120, 40, msgspec.structs.replace(snapshot(), store=StoreFact("s.sqlite", StoreState.READ_ONLY)))
    assert "● read-only" in rows[0]
    assert rows[1].startswith("▌ read-only  you can look at everything")


def test_a_filter_without_a_match_says_so() -> None:
    shown = msgspec.structs.replace(snapshot(), runs=RunsPage(everything=128), detail=None)
    text = "\n".join(screen(120, 40, shown))
    assert "No run matches." in text
    assert "Esc clears the filter." in text
    assert "lockgate demo" not in text


def test_a_silent_host_shows_its_age() -> None:
    shown = msgspec.structs.replace(
        snapshot(), host=HostFact(HostState.SILENT, pid=1, capacity=4, heartbeat_at=NOW.wall_ms - 48_000)
    )
    assert "○ host silent 48s" in screen(120, 40, shown)[0]


HOSTILE = [
    "nightly [/red] [@click=app.quit]x[/] [a]",
    "job \x1b]52;c;cm0gLXJm\x07 \x1b]2;PWNED\x1b\\ \x1b[2J \x9b31m \x1b]",
    "한국어 제목 한국어 제목 한국어 제목",
    "👩‍🚀👍🏽 1️⃣ e\u0301" * 20,
    "\u202eevil\u2066",
    "x" * 10_000,
    "",
    " ",
]


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 220),
    st.integers(1, 60),
    st.sampled_from(HOSTILE),
    st.sampled_from(HOSTILE),
    st.integers(1, 4),
    st.booleans(),
)
def test_every_line_has_exactly_the_width_of_the_screen(
    columns: int, rows: int, title: str, name: str, focus: int, ascii: bool
) -> None:
    import msgspec

    scene = snapshot()
    listed = tuple(
        shown_run(msgspec.structs.replace(run, title=title, workflow=name or "w", default_label=title))
        for run in shown_runs()
    )
    asked = tuple(
        shown_request(msgspec.structs.replace(request, title=title, workflow=name, audience=title))
        for request in pending_requests()
    )
    detail = scene.detail
    assert detail is not None
    shown = msgspec.structs.replace(
        scene,
        runs=RunsPage(rows=listed, total=28, everything=28),
        decisions=asked,
        detail=msgspec.structs.replace(detail, run=listed[0]),
    )
    lens = Lens(NOW, columns, rows, ASCII if ascii else UNICODE, ZONE)
    lines = frame(shown, lens, focus=focus)
    assert len(lines) == rows
    assert {line_width(line) for line in lines} == {columns}
    text = frame_text(lines)
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("state", list(HostState))
@pytest.mark.parametrize("columns", [40, 50, 60, 70, 80, 100, 120, 160])
def test_the_header_keeps_what_must_never_be_dropped(columns: int, state: HostState) -> None:
    row = screen(columns, 20, msgspec.structs.replace(snapshot(), host=HostFact(state, capacity=4)))[0]
    assert "3 need you" in row
    assert "4 wrong" in row
    assert "14:06" in row
