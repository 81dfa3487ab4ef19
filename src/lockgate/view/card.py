"""The decision card's rows; who shows it adds the text area and the keys.

`cells` is the width inside the border. Every row keeps two blank cells at each side, so that a bar or the
background of a picked row can reach the edge. Rows are exactly `cells` wide.
"""

import msgspec

from lockgate.flow.consequences import RUN_ENDS
from lockgate.model.statuses import Provenance, RequestKind, Word
from lockgate.model.text import cell_width, clip
from lockgate.view.cells import (
    EMPTY,
    Line,
    Role,
    Span,
    blank,
    clipped,
    fitted,
    joined,
    left,
    line_width,
    spread,
    wrapped,
)
from lockgate.view.decisions import resolution_words, resolver
from lockgate.view.lens import Lens
from lockgate.view.snapshots import ShownChoice, ShownInput, ShownRequest, ShownResolution
from lockgate.view.times import duration, moment

CARD_CELLS = 94
BOX_COLUMNS = 100
PADDING = 2
CHOICE_CELLS = 18
LEAST_ROWS = 12


def card_width(lens: Lens) -> int:
    """Cells of the card with its border; below 100 columns it is the whole screen and has no sides."""
    return min(CARD_CELLS, lens.columns)


def boxed(lens: Lens) -> bool:
    """Whether the card has sides and a bottom; else one rule on top."""
    return lens.columns >= BOX_COLUMNS


def card_top(request: ShownRequest, cells: int, lens: Lens, *, decided: bool = False) -> Line:
    """The top border with title and fingerprint; `cells` is the whole width, corners included."""
    glyphs = lens.glyphs
    role: Role = "line" if decided else "you"
    name = {RequestKind.DECISION: "Decision", RequestKind.CHECKPOINT: "Input", RequestKind.AGENT: "Agent"}
    if decided:
        head = Span(f"{glyphs.words[Word.ANSWERED]} Decided", "strong", bold=True)
    else:
        mark = glyphs.asking if request.kind is RequestKind.DECISION else glyphs.wanting
        head = Span(f"{mark} {name[request.kind]}", "you", bold=True)
    words = "fingerprint " if boxed(lens) else ""
    tail = joined(Span(words, "muted"), Span(request.fingerprint, "text"))
    start = f"{glyphs.box[0]}{glyphs.rule} " if boxed(lens) else f"{glyphs.rule} "
    end = f" {glyphs.rule}{glyphs.box[1]}" if boxed(lens) else f" {glyphs.rule}"
    room = cells - len(start) - line_width((head,)) - line_width(tail) - len(end) - 2
    return fitted(
        joined(
            Span(start, role),
            head,
            Span(" "),
            Span(glyphs.rule * max(room, 0), role),
            Span(" "),
            tail,
            Span(end, role),
        ),
        cells,
    )


def padded(line: Line, cells: int, lens: Lens) -> Line:
    """A row of the card out of its contents: two blanks at each side."""
    return joined(blank(PADDING), fitted(line, cells - 2 * PADDING, lens.glyphs.ellipsis), blank(PADDING))


def question_lines(request: ShownRequest, cells: int, lens: Lens, *, among: bool = False) -> list[Line]:
    """The question and the time left; then what asks, and for whom, in two rows where one does not hold both. The
    question is never cut.

    `among`: the person at the screen belongs to the audience.
    """
    room = cells - 2 * PADDING
    time = clipped(_deadline(request, lens), room // 2, lens.glyphs.ellipsis)
    words = wrapped(request.title, room - line_width(time) - 2)
    lines: list[Line] = []
    for index, row in enumerate(words):
        end = time if index == 0 else EMPTY
        start = joined(Span(row, "strong", bold=True))
        lines.append(padded(spread(start, end, room, lens.glyphs.ellipsis), cells, lens))
    dot = f" {lens.glyphs.dot} "
    started = f"started by {request.started_by}" if boxed(lens) else f"by {request.started_by}"
    facts = dot.join((request.short_id, f"{request.node} #{request.attempt_number}", started))
    who = joined(Span("for ", "muted"), Span(request.audience)) if request.audience else EMPTY
    if among and who and boxed(lens):
        who = joined(who, Span(", you are one", "muted"))
    start = joined(Span(request.workflow), Span(f" {facts}", "muted"))
    if line_width(start) + 2 + line_width(who) > room:
        return [*lines, padded(start, cells, lens), *([padded(who, cells, lens)] if who else [])]
    return [*lines, padded(spread(start, who, room, lens.glyphs.ellipsis, gap=2), cells, lens)]


def _deadline(request: ShownRequest, lens: Lens) -> Line:
    if request.resolution is not None:
        return (Span(f"closed {moment(request.resolution.at, lens.now_ms, lens.zone)}", "muted"),)
    if not request.is_pending:
        return (Span("closed", "muted"),)
    left_ms = request.left_ms(lens.now_ms)
    if left_ms is None:
        return (Span("no limit", "muted"),)
    then = f" then {request.default_label}" if request.default_label else ""
    if request.is_overdue(lens.now_ms):
        return joined(Span("overdue", "bad", bold=True), Span(f": {request.default_label} is due", "bad"))
    text = f"in {duration(left_ms)}"
    time = Span(f" {text} ", "you-fill", bold=True) if request.is_urgent(lens.now_ms) else Span(text, "you", bold=True)
    return joined(time, Span(then, "muted"))


def read_rule(first: int, last: int, total: int, cells: int, lens: Lens, *, seen: bool) -> Line:
    """The rule below the blocks: which lines are on screen, or that all of them have been (1-based)."""
    glyphs = lens.glyphs
    if total == 0:
        return (Span(glyphs.rule * cells, "line"),)
    lines = "the line" if total == 1 else f"all {total} lines"
    if seen:
        text = f"{lines} seen {glyphs.ok}"
    else:
        below = f" {glyphs.below}" if last < total else ""
        text = f"lines {first}-{last} of {total}{below}"
    tail = joined(Span(f" {text} ", "muted"), Span(glyphs.rule * PADDING, "line"))
    return joined(Span(glyphs.rule * max(cells - line_width(tail), 0), "line"), tail)


class Pick(msgspec.Struct, frozen=True):
    """What the person has picked so far: a choice's key, or nothing."""

    key: str | None = None
    recorded: bool = False


def choice_lines(request: ShownRequest, cells: int, lens: Lens, pick: Pick) -> list[Line]:
    """One row per choice: its digit, its label, what it leads to; the picked one with the cursor's bar.

    Once decided, the winner is marked with its name and time, and a pick that lost says so.
    """
    return [
        _choice(number, choice, request, cells, lens, pick) for number, choice in enumerate(request.choices, start=1)
    ]


def picked_lines(choice: ShownChoice, request: ShownRequest, cells: int, lens: Lens) -> list[Line]:
    """The label and the consequence of what is picked, whole, where its row has no room for them."""
    room = cells - 2 * PADDING
    end = _choice_end(choice, request, lens, Pick(choice.key))
    label = CHOICE_CELLS if cell_width(choice.label) < CHOICE_CELLS else cell_width(choice.label)
    consequence = _consequence(choice, lens)
    then = f"then {consequence}" if consequence else ""
    row = 4 + label + (1 + cell_width(then) if then else 0)
    if row + (line_width(end) + 2 if end else 0) <= room:
        return []
    strong = [joined(Span(text, "strong", bold=True)) for text in wrapped(choice.label, room - 4)]
    calm = [joined(Span(text)) for text in wrapped(then, room - 4)] if then else []
    return [padded(joined(blank(4), line), cells, lens) for line in (*strong, *calm)]


def _consequence(choice: ShownChoice, lens: Lens) -> str:
    return choice.consequence.replace("→", lens.glyphs.arrow).replace("…", lens.glyphs.ellipsis)


def _choice(number: int, choice: ShownChoice, request: ShownRequest, cells: int, lens: Lens, pick: Pick) -> Line:
    glyphs = lens.glyphs
    resolution = request.resolution
    picked = pick.key == choice.key and resolution is None
    won = resolution is not None and resolution.choice == choice.key
    strong = picked or won
    calm: Role = "text" if resolution is None else "muted"
    dot = Span(
        glyphs.picked if strong else glyphs.unpicked,
        "accent" if picked else "strong" if won else "muted",
        strong,
    )
    digit = Span(f"{number} " if number < 10 else "  ", "strong" if resolution is None else "muted", resolution is None)
    label = Span(choice.label, "strong" if strong else calm, strong)
    width = CHOICE_CELLS if line_width((label,)) <= CHOICE_CELLS else line_width((label,))
    consequence = _consequence(choice, lens)
    then = joined(Span(" then ", "muted"), Span(consequence, "strong" if won else calm)) if consequence else EMPTY
    row = joined(digit, dot, Span(" "), label, blank(width - line_width((label,))), then)
    end = _choice_end(choice, request, lens, pick)
    room = cells - 2 * PADDING
    bar = Span(f"{glyphs.cursor} ", "accent") if picked else blank(PADDING)
    return joined(bar, spread(row, end, room, glyphs.ellipsis, gap=2), blank(PADDING))


def _choice_end(choice: ShownChoice, request: ShownRequest, lens: Lens, pick: Pick) -> Line:
    resolution = request.resolution
    if resolution is None:
        return (Span("the default", "muted"),) if choice.key == request.default else EMPTY
    if resolution.choice == choice.key:
        actor = clip(resolution.actor, CHOICE_CELLS, lens.glyphs.ellipsis)
        who = "its deadline" if resolution.provenance is Provenance.TIMEOUT_POLICY else actor
        return (Span(f"{who}, {moment(resolution.at, lens.now_ms, lens.zone)}"),)
    if pick.key == choice.key and not pick.recorded:
        return (Span("your pick, not recorded", "muted"),)
    return EMPTY


def prompt_lines(text: ShownInput, length: int, cells: int, lens: Lens) -> list[Line]:
    """What the text is for, and how long it is of how long it may be; too short turns bad."""
    room = cells - 2 * PADDING
    if length < text.min_length:
        bounds = joined(Span(str(length), "bad", bold=True), Span(f" of {text.min_length} at least", "bad"))
    elif length > text.max_length:
        bounds = joined(Span(str(length), "bad", bold=True), Span(f" of {text.max_length} at most", "bad"))
    else:
        bounds = joined(Span(str(length)), Span(f" of {text.min_length} to {text.max_length}", "muted"))
    rows = wrapped(text.prompt, max(room - line_width(bounds) - 2, 10))
    first = spread(joined(Span(rows[0])), bounds, room, lens.glyphs.ellipsis)
    return [padded(line, cells, lens) for line in (first, *(joined(Span(row)) for row in rows[1:]))]


def button_text(label: str, lens: Lens) -> str:
    """What stands on the record button."""
    return f" ctrl+s  Record {lens.glyphs.quoted(label)} "


def button_line(label: str | None, why_not: str, cells: int, lens: Lens) -> Line:
    """The record button with what keeps it from recording beside it, and the way out at the right.

    `why_not` is empty while the button is armed: `armed in 0.3 s`, `read to the end first (23 lines)`,
    `recording, store is locked 2 s`. Without a label nothing is picked yet.
    """
    room = cells - 2 * PADDING
    escape = Span("esc", "strong", bold=True)
    end = joined(escape, Span(" close, decide nothing", "muted"))
    if label is None:
        start: Line = (Span(why_not or "pick a choice first", "muted"),)
    else:
        start = _button(label, why_not, room, lens)
    if line_width(start) + 2 + line_width(end) > room:
        end = joined(escape, Span(" close", "muted"))
    return padded(spread(start, end, room, lens.glyphs.ellipsis, gap=2), cells, lens)


def _button(label: str, why_not: str, room: int, lens: Lens) -> Line:
    fill: Role = "field" if why_not else "button"
    beside = why_not or "armed"
    # The label gives way: what keeps the button from recording must be readable, and so must the way out.
    limit = room - len(beside) - len("esc close") - 4
    cut = clip(label, max(limit - len(button_text("", lens)), 4), lens.glyphs.ellipsis)
    button = Span(button_text(cut, lens), fill, bold=not why_not)
    return joined(button, Span("  "), Span(beside, "muted" if why_not else "text"))


def closed_line(cells: int, lens: Lens, *, draft: bool) -> Line:
    """The keys of a card that has nothing left to record."""
    room = cells - 2 * PADDING
    copy = joined(Span("y", "strong", bold=True), Span(" copy the draft   ", "muted")) if draft else EMPTY
    start = joined(copy, Span("Enter", "strong", bold=True), Span(" open the run", "muted"))
    end = joined(Span("esc", "strong", bold=True), Span(" close", "muted"))
    return padded(spread(start, end, room, lens.glyphs.ellipsis, gap=2), cells, lens)


def record_band(
    request: ShownRequest,
    cells: int,
    lens: Lens,
    *,
    mine: bool,
    draft: bool,
    tried_at: int | None = None,
) -> list[Line]:
    """Three sentences: who decided what and when; what was recorded and what is next; what became of your text.

    `mine`: this card recorded it. `tried_at` is when a losing press was made. The first cell is the bar.
    """
    resolution = request.resolution
    if resolution is None:
        return []
    first = _who_decided(request, resolution, lens, mine=mine, tried_at=tried_at)
    recorded = f"Recorded for fingerprint {request.fingerprint}"
    place = f", from {resolution.place}" if resolution.place else ""
    second_line = joined(Span(f"{recorded}{place}.{what_follows(request)}", "muted"))
    third = joined(Span(_your_text(mine=mine, draft=draft, text=resolution.text)))
    bar = Span(lens.glyphs.cursor_edge, "accent")
    rows = [clipped(line, cells - 2 * PADDING, lens.glyphs.ellipsis) for line in (first, second_line, third)]
    return [fitted(joined(bar, blank(PADDING - 1), row), cells) for row in rows]


def what_follows(request: ShownRequest) -> str:
    """The first thing that the winning choice leads to, as a sentence after another: ` Next: publish.`, or ` The run
    ends: stopped.`; empty where nothing is known of it."""
    choice = request.choice(request.resolution.choice) if request.resolution else None
    first = choice.consequence.split(" → ")[0].split(",")[0] if choice is not None else ""
    if not first:
        return ""
    return f" {first[0].upper()}{first[1:]}." if first.startswith(RUN_ENDS) else f" Next: {first}."


def _who_decided(
    request: ShownRequest, resolution: ShownResolution, lens: Lens, *, mine: bool, tried_at: int | None
) -> Line:
    when = moment(resolution.at, lens.now_ms, lens.zone)
    if resolution.provenance is Provenance.EXPLICIT_CANCEL:
        return joined(Span("Withdrawn", "strong", bold=True), Span(f" at {when}: the run was cancelled"))
    what = Span(resolution_words(request), "strong", bold=True)
    if resolution.provenance is Provenance.TIMEOUT_POLICY:
        return joined(what, Span(f", {resolver(request)} at {when}"))
    name = "you" if mine else resolution.actor
    before = ""
    if not mine and tried_at is not None and tried_at >= resolution.at:
        before = f", {(tried_at - resolution.at) // 1000} s before you"
    return joined(what, Span(", by "), Span(name, "strong", bold=True), Span(f" at {when}{before}"))


def _your_text(*, mine: bool, draft: bool, text: str | None) -> str:
    if mine:
        return "Your text was recorded with it." if text else "No text was asked for."
    return "Nothing of yours was recorded. Your draft is kept below." if draft else "Nothing of yours was recorded."


def draft_head(length: int, cells: int, lens: Lens) -> Line:
    """The line above a draft that can no longer be recorded."""
    characters = "1 character" if length == 1 else f"{length} characters"
    room = cells - 2 * PADDING
    return padded(spread((Span("Your draft, not recorded"),), (Span(characters, "muted"),), room), cells, lens)


def submit_lines(request: ShownRequest, cells: int, lens: Lens) -> list[Line]:
    """How a checkpoint or an agent request is answered: by a command, with JSON that meets the contract."""
    command = f"lockgate submit {request.request_id} --output @answer.json"
    rows: list[Line] = [
        joined(Span("Answered from a shell, with JSON that meets the contract:", "muted")),
        joined(Span(command, "accent")),
        EMPTY,
        *(joined(Span(text)) for text in request.contract.split("\n")),
    ]
    return [padded(row, cells, lens) for row in rows]


def small_card_lines(request: ShownRequest, lens: Lens) -> list[Line]:
    """What a terminal too small for the card says instead of offering to record."""
    text = [
        request.title,
        f"{request.workflow} {request.short_id}",
        "".join(span.text for span in _deadline(request, lens)),
        f"enlarge the terminal to decide, or run: lockgate answer {request.short_id} CHOICE",
    ]
    rows = [row for each in text for row in wrapped(each, lens.columns - 2)]
    return [fitted(joined(Span(" "), Span(left(row, lens.columns - 2))), lens.columns) for row in rows]
