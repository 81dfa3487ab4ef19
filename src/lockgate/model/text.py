"""Text from outside made safe for a terminal, and its width in terminal cells.

One sanitiser for every sink: panes, plain output, host logs, the window title, the clipboard. A terminal acts
on escape sequences, reorders what follows a bidi control and draws nothing for a zero-width character, so a
title could rewrite the screen or say something else than its bytes. Nothing here is undone or unescaped
again: clean text stays clean under cutting, padding and joining with blanks.
"""

import re
from functools import lru_cache

from wcwidth import iter_graphemes, wcswidth

# A sequence that asks the terminal for something, in its 7-bit and its 8-bit form. A string command (OSC,
# DCS, SOS, PM, APC) swallows what follows up to its terminator; one without a terminator ends with its line,
# so that it cannot hide the rest of a long text from a reviewer.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x18\x1a\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_SURROGATE = "\ud800-\udfff"
_INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_UNSAFE = re.compile(f"[\\x00-\\x1f\\x7f-\\x9f{_SURROGATE}{_INVISIBLE}]")

TAB_CELLS = 8


def clean(text: str, *, multiline: bool = False) -> str:
    """Gives text that a terminal shows and never obeys.

    Whole escape sequences become one picture of ESC, other C0 and C1 controls become pictures, bidi and
    zero-width controls become tokens such as `<U+202E>`, lone surrogates become U+FFFD. Without `multiline`
    line ends and tabs are pictures too; with it line ends stay (as LF) and tabs are filled up with blanks.
    """
    if text.isascii() and text.isprintable():
        return text
    if multiline:
        text = text.replace("\r\n", "\n")
    if not _UNSAFE.search(text):
        return text
    text = _SEQUENCE.sub("\x1b", text)
    if not multiline:
        return _UNSAFE.sub(_picture, text)
    return "\n".join(_UNSAFE.sub(_picture, line.expandtabs(TAB_CELLS)) for line in text.split("\n"))


def _picture(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code < 0xA0:
        return "\u241b" + chr(code - 0x40)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"<U+{code:04X}>"


def cell_width(text: str) -> int:
    """How many terminal cells clean text takes; text that was not cleaned is measured as its clean form.

    The sum over its grapheme clusters, so that a text is as wide as the pieces it was cut into.
    """
    if text.isascii():
        return len(text) if text.isprintable() else len(clean(text))
    return _cluster_width(text) if len(text) <= _REMEMBERED_CHARS else _summed(text)


_REMEMBERED_CHARS = 200


@lru_cache(maxsize=4096)
def _cluster_width(text: str) -> int:
    return _summed(text)


def _summed(text: str) -> int:
    width = 0
    for cluster in iter_graphemes(text):
        cells: int = wcswidth(cluster)
        width += cells if cells >= 0 else sum(max(wcswidth(character), 1) for character in clean(cluster))
    return width


def clip(text: str, cells: int, ellipsis: str = "…") -> str:
    """Gives clean text of at most `cells` cells; what had to be cut ends with the ellipsis.

    Cuts between grapheme clusters, so the result may be one cell short where a wide character did not fit.
    Reads no further into the text than it must: a line of megabytes costs what a short one costs.
    """
    if cells <= 0:
        return ""
    if len(text) <= cells and text.isascii():
        return text
    kept, used = _prefix(text, cells)
    if len(kept) == len(text):
        return text
    room = cells - cell_width(ellipsis)
    if room < 0:
        return ellipsis[:cells] if ellipsis.isascii() else ""
    if used > room:
        kept, _ = _prefix(kept, room)
    return kept + ellipsis


def _prefix(text: str, cells: int) -> tuple[str, int]:
    """The longest start of the text within `cells`, and its width."""
    # No cluster of a usual text is longer than eight characters a cell; one that is ends here, cut.
    head = text[: cells * 8 + 64]
    if head[: cells + 1].isascii():
        return head[:cells], min(cells, len(head))
    length = used = 0
    for cluster in iter_graphemes(head):
        width = cell_width(cluster)
        if used + width > cells:
            break
        used += width
        length += len(cluster)
    return head[:length], used
