"""Paints snapshots on the main screen: at most four times a second, and only what differs."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.timer import Timer

from lockgate.tui.keynames import written
from lockgate.tui.layout import fit
from lockgate.tui.widgets.pane import Keys, Pane
from lockgate.view.cells import Line, Span
from lockgate.view.header import banner_lines, header_line, status_line, too_small_lines
from lockgate.view.lens import Band, Lens
from lockgate.view.rules import tab_rule
from lockgate.view.snapshots import Snapshot

if TYPE_CHECKING:
    from lockgate.tui.screens.main import MainScreen

PAINT_EVERY_S = 0.25
NOTICE_S = 10.0
SLOW_TICKS = 10
"""Times that nobody waits for second by second move with every tenth tick: a quiet screen writes nothing."""

BLANK_KEYS: Keys = (("H", "start a host"), ("y", "copy the first command"), (":", "commands"))


class Painter:
    """Holds the newest snapshot and the notice; knows when the last paint was."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self.snapshot: Snapshot | None = None
        self.is_urgent = True
        """The next snapshot answers the person: it is painted without waiting."""
        self._painted_at = float("-inf")
        self._later: Timer | None = None
        self._notice: Line = ()
        self._notice_timer: Timer | None = None
        self._ticks = 0

    def take(self, snapshot: Snapshot) -> None:
        """Takes a newer snapshot; paints it now, or a moment later when the last paint was just before."""
        self.snapshot = snapshot
        wait = PAINT_EVERY_S - (time.monotonic() - self._painted_at)
        if self.is_urgent or wait <= 0:
            self.is_urgent = False
            self.paint()
        elif self._later is None:
            self._later = self._screen.set_timer(wait, self.paint)

    def paint(self) -> None:
        """Paints the snapshot in hand, at the size and the moment of now."""
        if self._later is not None:
            self._later.stop()
            self._later = None
        snapshot, screen = self.snapshot, self._screen
        if snapshot is None or not screen.is_attached:
            return
        self._painted_at = time.monotonic()
        lens = screen.lens()
        with screen.app.batch_update():
            fit(screen, screen, screen.number, lens, snapshot)
            self.paint_frame(lens)
            for pane in self._visible():
                pane.show(snapshot, lens)
            self.paint_status(lens)

    def paint_pane(self, pane: Pane) -> None:
        """Paints one pane again, which has another size."""
        if self.snapshot is not None and pane.size.width:
            pane.show(self.snapshot, self._screen.lens())

    def paint_focus(self) -> None:
        """The focus or a cursor moved: rules and the status line, no data."""
        if self.snapshot is None:
            return
        lens = self._screen.lens()
        for pane in self._visible():
            pane.paint(self.snapshot, lens)
        if lens.band is Band.ONE_PANE:
            self.paint_frame(lens)
        self.paint_status(lens)

    def tick(self) -> None:
        """Once a second: what moves with time alone, where it is on screen."""
        if self.snapshot is None:
            return
        self._ticks += 1
        lens = self._screen.lens()
        fit(self._screen, self._screen, self._screen.number, lens, self.snapshot)
        self.paint_frame(lens)
        for pane in self._visible():
            pane.tick(lens, slow=self._ticks % SLOW_TICKS == 0)

    def paint_frame(self, lens: Lens) -> None:
        """Header, banners, and below 80 columns the strip of the panes."""
        snapshot, screen = self.snapshot, self._screen
        if snapshot is None:
            return
        screen.header.show([header_line(snapshot, lens)])
        banners = banner_lines(snapshot, lens)
        if len(banners) != len(screen.banners.lines) or not banners:
            screen.banners.styles.height = len(banners)
            screen.banners.display = bool(banners)
        screen.banners.show(banners)
        if lens.too_small:
            screen.too_small.show(too_small_lines(lens))
        if lens.band is Band.ONE_PANE:
            waiting = len(snapshot.decisions)
            counts = (Span(f" {waiting}", "you" if waiting else "muted", bold=bool(waiting)),)
            runs = snapshot.runs.total
            screen.strip.show([tab_rule(screen.number, counts, runs, lens.columns, lens)])

    def paint_status(self, lens: Lens) -> None:
        """The keys of the focused pane; at the right the last notice, else the position."""
        screen = self._screen
        keys: Keys
        if self.snapshot is not None and self.snapshot.is_blank:
            keys = BLANK_KEYS
        elif lens.band is Band.ONE_PANE:
            keys = (("1-4", "panes"), *screen.pane.keys())
        else:
            keys = (*screen.pane.keys(), (":", "commands"))
        if lens.too_small:
            keys = ()
        ascii = screen.lockgate.options.ascii
        shown = [(written(each, ascii=ascii), words) for each, words in keys]
        end = self._notice or screen.pane.position()
        rest = [("q", "quit")] if lens.too_small else [("?", "help"), ("q", "quit")]
        screen.status.show([status_line([*shown, *rest], end, lens)])

    def say(self, text: str, *, bad: bool = False) -> None:
        """Shows a notice at the right end of the status line for ten seconds; text from data is clean here."""
        if self._notice_timer is not None:
            self._notice_timer.stop()
        self._notice = (Span(text, "bad" if bad else "text"),) if text else ()
        self._notice_timer = self._screen.set_timer(NOTICE_S, self._unsay) if text else None
        self.paint_status(self._screen.lens())

    def _unsay(self) -> None:
        self.say("")

    def _visible(self) -> Iterator[Pane]:
        return (pane for pane in self._screen.panes if pane.size.width)
