"""How a screen is looked at: its size, its characters, its zone and the moment; passed to every pane."""

from datetime import UTC, tzinfo
from enum import IntEnum

import msgspec
from msgspec.structs import replace

from lockgate.model.records import Now
from lockgate.view.glyphs import UNICODE, Glyphs

LEAST_COLUMNS = 40
LEAST_ROWS = 10
SHORT_ROWS = 24
ROOMY_ROWS = 30


class Band(IntEnum):
    """The four widths at which the layout changes; the value is the least number of columns."""

    ONE_PANE = 0
    NARROW = 80
    USUAL = 120
    WIDE = 160


class Lens(msgspec.Struct, frozen=True):
    """`columns` and `rows` are the screen's, not a pane's. `now` is the moment that is painted."""

    now: Now
    columns: int = 120
    rows: int = 40
    glyphs: Glyphs = UNICODE
    zone: tzinfo = UTC

    @property
    def band(self) -> Band:
        return max(band for band in Band if self.columns >= band)

    @property
    def short(self) -> bool:
        """Fewer than 24 rows: no column heads, and a timeline of what is open only."""
        return self.rows < SHORT_ROWS

    @property
    def now_ms(self) -> int:
        return self.now.wall_ms

    @property
    def too_small(self) -> bool:
        return self.columns < LEAST_COLUMNS or self.rows < LEAST_ROWS

    def at(self, now: Now) -> "Lens":
        """The same screen at another moment."""
        return replace(self, now=now)
