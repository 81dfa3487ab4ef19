"""One table of everything that is drawn: glyphs, rules, bars; once in Unicode, once in ASCII.

Every entry is one cell wide in both, so the layout does not move by a cell between them.
"""

import msgspec

from lockgate.model.statuses import Word

_ARROWS = str.maketrans({"←": "left", "→": "right", "↑": "up", "↓": "down"})


class Glyphs(msgspec.Struct, frozen=True):
    """The characters of one terminal. `words` has the glyph of every situation word."""

    words: dict[Word, str]
    asking: str  # waiting for you
    wanting: str  # waiting for input or an agent
    stuck: str
    replayed: str
    live: str
    dead: str
    picked: str
    unpicked: str
    cursor: str
    cursor_edge: str  # the bar of a text area and of a banner
    live_end: str
    goes_left: str
    goes_right: str
    below: str
    rule: str
    stale_rule: str
    upright: str
    thumb: str
    tick: str
    grid: str
    work: str
    work_left: str  # the left half of a cell
    work_right: str
    person: str
    agent: str
    paused: str
    lost: str
    ellipsis: str
    arrow: str
    bullet: str
    dot: str  # between facts
    open_quote: str
    close_quote: str
    box: str  # corners: top left, top right, bottom left, bottom right
    up: str
    ok: str

    def key(self, name: str) -> str:
        """A key's name as this terminal can draw it: arrows in words where it has no arrows."""
        return name.translate(_ARROWS) if self.ellipsis == "~" else name

    def quoted(self, text: str) -> str:
        return f"{self.open_quote}{text}{self.close_quote}"


UNICODE = Glyphs(
    words={
        Word.WAITING: "◆",
        Word.ANSWERED: "◈",
        Word.INTERRUPTED: "↻",
        Word.STARTING: "◔",
        Word.RUNNING: "◐",
        Word.OVERDUE: "▲",
        Word.LOST: "∅",
        Word.BLOCKED: "■",
        Word.FAILED: "✗",
        Word.TIMED_OUT: "×",
        Word.PAUSING: "¦",
        Word.PAUSED: "‖",
        Word.QUEUED: "○",
        Word.COMPLETED: "✓",
        Word.CANCELLED: "–",
    },
    asking="◆",
    wanting="◇",
    stuck="!",
    replayed="◀",
    live="●",
    dead="○",
    picked="●",
    unpicked="○",
    cursor="▌",
    cursor_edge="▌",
    live_end="▸",
    goes_left="◂",
    goes_right="▸",
    below="▾",
    rule="─",
    stale_rule="╌",
    upright="│",
    thumb="┃",
    tick="╷",
    grid="┊",
    work="█",
    work_left="▌",
    work_right="▐",
    person="▒",
    agent="░",
    paused="═",
    lost="╳",
    ellipsis="…",
    arrow="→",
    bullet="·",
    dot="·",
    open_quote="“",
    close_quote="”",
    box="┌┐└┘",
    up="↑",
    ok="✓",
)

ASCII = Glyphs(
    words={
        Word.WAITING: "?",
        Word.ANSWERED: "&",
        Word.INTERRUPTED: "~",
        Word.STARTING: "(",
        Word.RUNNING: "*",
        Word.OVERDUE: "^",
        Word.LOST: "%",
        Word.BLOCKED: "#",
        Word.FAILED: "x",
        Word.TIMED_OUT: "X",
        Word.PAUSING: "-",
        Word.PAUSED: "=",
        Word.QUEUED: "o",
        Word.COMPLETED: "+",
        Word.CANCELLED: "-",
    },
    asking="?",
    wanting=":",
    stuck="!",
    replayed="<",
    live="*",
    dead="o",
    picked="*",
    unpicked="o",
    cursor=">",
    cursor_edge=">",
    live_end=">",
    goes_left="<",
    goes_right=">",
    below="v",
    rule="-",
    stale_rule="-",
    upright="|",
    thumb="#",
    tick="|",
    grid=" ",
    work="#",
    work_left="#",
    work_right="#",
    person=":",
    agent=".",
    paused="=",
    lost="x",
    ellipsis="~",
    arrow=">",
    bullet="-",
    dot="-",
    open_quote='"',
    close_quote='"',
    box="++++",
    up="^",
    ok="+",
)
