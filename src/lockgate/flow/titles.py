"""What a run's title may be: what somebody typed is checked, what a workflow computes is made to fit."""

from lockgate.model.encoding import checked, stored
from lockgate.model.errors import PayloadError

MAX_TITLE = 500
MAX_TITLE_BYTES = 2_000
"""Control characters take six bytes each in an event, whose payload stays under 4 KiB."""


def check_title(title: str | None) -> None:
    """Raises PayloadError for a title that is too long, in characters or in bytes of JSON."""
    if title is None:
        return
    checked(title, root="$.title")
    if len(title) > MAX_TITLE:
        raise PayloadError("$.title", f"at most {MAX_TITLE} characters", f"{len(title)} characters")
    size = len(stored(title))
    if size > MAX_TITLE_BYTES:
        raise PayloadError("$.title", f"at most {MAX_TITLE_BYTES} bytes of JSON", f"{size} bytes")


def fitted(text: str) -> str | None:
    """A text made from an input as a title: one clean line, cut with an ellipsis; None where nothing is left."""
    from lockgate.model.text import clean

    line = clean(" ".join(text[: 4 * MAX_TITLE].split()))
    if len(line) > MAX_TITLE:
        line = f"{line[: MAX_TITLE - 1]}…"
    while len(stored(line)) > MAX_TITLE_BYTES:
        line = f"{line[:-2]}…"
    return line or None
