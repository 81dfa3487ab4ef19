"""The header's facts in one row, the banners below it, and the status line at the bottom."""

from collections.abc import Mapping, Sequence

from lockgate.model.statuses import Word
from lockgate.view.cells import (
    EMPTY,
    Line,
    Role,
    Span,
    blank,
    clipped,
    fitted,
    joined,
    line_width,
    spread,
    stacked,
    wrapped,
)
from lockgate.view.lens import Lens
from lockgate.view.rules import keys
from lockgate.view.snapshots import Counts, HostFact, HostState, Snapshot, StoreFact, StoreState
from lockgate.view.times import MINUTE, duration, minute, offset, second

WIDE_HEADER = 160
FULL_HEADER = 100
HOST_HEADER = 70
ZONE_HEADER = 60
NAME_HEADER = 50


def header_line(snapshot: Snapshot, lens: Lens) -> Line:
    """What needs you, what is wrong, what runs; then store, host and clock. Exactly the screen's width.

    Parts leave at fixed widths, and earlier where they do not fit: the running count, the host, the zone, the name.
    """
    columns = lens.columns
    parts = {
        "running": columns >= HOST_HEADER,
        "host": columns >= HOST_HEADER or (snapshot.host.state is not HostState.OK and columns >= ZONE_HEADER),
        "zone": columns >= ZONE_HEADER,
        "name": columns >= NAME_HEADER,
    }
    start, end = _start(snapshot, lens, parts), _end(snapshot, lens, parts)
    # A host that is not ok says more than the zone and the name.
    ok = snapshot.host.state is HostState.OK
    for part in ("running", "host", "zone", "name") if ok else ("running", "zone", "name", "host"):
        if line_width(start) + line_width(end) < columns:
            break
        parts[part] = False
        start, end = _start(snapshot, lens, parts), _end(snapshot, lens, parts)
    return spread(start, clipped(end, columns), columns, lens.glyphs.ellipsis)


def _start(snapshot: Snapshot, lens: Lens, parts: Mapping[str, bool]) -> Line:
    gap = blank(2 if lens.columns >= HOST_HEADER else 1)
    name = joined(Span("lockgate", "strong", bold=True), Span("  ")) if parts["name"] else EMPTY
    wrong = _wrong(snapshot.counts, lens)
    running = _running(snapshot.counts, lens) if parts["running"] else EMPTY
    counts = [_needs(snapshot.counts, lens), wrong, running]
    spaced = [piece for count in counts if count for piece in (gap, count)]
    return joined(Span(" "), name, *spaced[1:])


def _needs(counts: Counts, lens: Lens) -> Line:
    text = f"{lens.glyphs.asking} {counts.need_you} need you"
    if not counts.need_you:
        return (Span(text, "muted"),)
    return (Span(f" {text} ", "you-fill", bold=True),)


def _wrong(counts: Counts, lens: Lens) -> Line:
    if not counts.wrong:
        return EMPTY
    text = f"{lens.glyphs.stuck} {counts.wrong} wrong"
    if lens.columns >= WIDE_HEADER:
        kinds = ("blocked", "lost", "overdue", "stuck")
        each = ", ".join(f"{getattr(counts, kind)} {kind}" for kind in kinds if getattr(counts, kind))
        text = f"{text}: {each}"
    return (Span(text, "bad", bold=True),)


def _running(counts: Counts, lens: Lens) -> Line:
    role: Role = "run" if counts.running else "muted"
    return (Span(f"{lens.glyphs.words[Word.RUNNING]} {counts.running} running", role),)


def _end(snapshot: Snapshot, lens: Lens, parts: Mapping[str, bool]) -> Line:
    gap = blank(3 if lens.columns >= FULL_HEADER else 2)
    facts = [store_words(snapshot.store, lens)]
    if parts["host"]:
        facts.append(host_words(snapshot.host, snapshot.store, lens))
    clock = joined(Span(minute(lens.now_ms, lens.zone), "text"))
    if parts["zone"]:
        short = lens.columns < FULL_HEADER
        clock = joined(clock, Span(f" {offset(lens.now_ms, lens.zone, short=short)}", "muted"))
    spaced = [piece for fact in (*facts, clock) for piece in (gap, fact)]
    return joined(*spaced[1:], Span(" "))


def store_words(store: StoreFact, lens: Lens) -> Line:
    """`state.sqlite ● live`: muted while live, with its word and age when it is not."""
    glyphs = lens.glyphs
    file = joined(Span(f"{store.file} ", "muted")) if lens.columns >= FULL_HEADER else EMPTY
    if store.state is StoreState.LIVE:
        return joined(file, Span(f"{glyphs.live} live", "muted"))
    if store.state is StoreState.READ_ONLY:
        return joined(file, Span(f"{glyphs.live} read-only", "accent"))
    age = f" {seconds(lens.now_ms - store.since)}" if store.since else ""
    return joined(file, Span(f"{glyphs.dead} {store.state}{age}", "bad", bold=True))


def host_words(host: HostFact, store: StoreFact, lens: Lens) -> Line:
    """`host ok 3/4`, `○ no host`, `○ host silent 48s`; not known while the store cannot be read."""
    if not store.state.is_live or host.state is HostState.UNKNOWN:
        return (Span("host not known", "muted"),)
    if host.state is HostState.NONE:
        return (Span(f"{lens.glyphs.dead} no host", "bad", bold=True),)
    if host.state is HostState.SILENT:
        age = f" {duration(lens.now_ms - host.heartbeat_at)}" if host.heartbeat_at else ""
        return (Span(f"{lens.glyphs.dead} host silent{age}", "bad", bold=True),)
    slots = f"{host.busy}/{host.capacity}"
    if lens.columns >= WIDE_HEADER:
        return (Span(f"host ok pid {host.pid} {lens.glyphs.dot} {slots} workers", "muted"),)
    return (Span(f"host ok {slots}" if lens.columns >= FULL_HEADER else f"host {slots}", "muted"),)


def seconds(ms: int) -> str:
    """`41 s`, then as any duration."""
    return f"{max(ms, 0) // 1000} s" if ms < MINUTE else duration(ms)


def banner_lines(snapshot: Snapshot, lens: Lens) -> list[Line]:
    """At most two rows, worst first: stale data, no host while runs wait for one, read-only."""
    banners: list[Line] = []
    store = snapshot.store
    if not store.state.is_live:
        as_of = second(store.as_of, lens.zone)
        why = store.sentence or f"the store is {store.state}."
        tail = f"trying again for {seconds(lens.now_ms - store.since)}" if store.since else ""
        sentence = f"everything below is as of {as_of}; {why}"
        banners.append(_banner("stale", "bad", sentence, joined(Span(tail, "muted")), lens))
    waiting = snapshot.counts.waiting_for_host
    missing = snapshot.host.state in (HostState.NONE, HostState.SILENT)
    if store.state.is_live and missing and waiting:
        runs = "1 run waits" if waiting == 1 else f"{waiting} runs wait"
        name = "no host" if snapshot.host.state is HostState.NONE else "host silent"
        sentence = f"{runs} until a host starts. Answers are still recorded."
        key = joined(Span("H", "strong", bold=True), Span(" start one here", "muted"))
        offered = EMPTY if store.state is StoreState.READ_ONLY else key
        banners.append(_banner(name, "bad", sentence, offered, lens))
    if store.state in (StoreState.READ_ONLY, StoreState.STILL):
        sentence = store.sentence or "you can look at everything; deciding, pausing and starting are off."
        banners.append(_banner("read-only", "accent", sentence, EMPTY, lens))
    return banners[:2]


def _banner(name: str, role: Role, sentence: str, end: Line, lens: Lens) -> Line:
    glyphs = lens.glyphs
    mark = f"{glyphs.dead} " if role == "bad" else ""
    start = joined(Span(glyphs.cursor_edge, role), Span(f" {mark}{name}", role, bold=True), Span("  "), Span(sentence))
    return spread(start, joined(end, Span(" ")) if end else EMPTY, lens.columns, glyphs.ellipsis)


def status_line(pairs: Sequence[tuple[str, str]], end: Line, lens: Lens) -> Line:
    """The keys of the focused pane and, at the right, a position or a notice. Exactly the screen's width."""
    columns = lens.columns
    end = clipped(end, max(columns // 2, columns - 30), lens.glyphs.ellipsis)
    room = columns - line_width(end) - 3
    shown = keys(pairs, room, lens)
    return fitted(joined(spread(joined(Span(" "), shown), end, columns - 1, lens.glyphs.ellipsis), Span(" ")), columns)


def too_small_lines(lens: Lens) -> list[Line]:
    """All that a terminal below 40x10 shows; only quitting works there."""
    text = f"enlarge the terminal (need 40x10, have {lens.columns}x{lens.rows})"
    return stacked([(Span(row),) for row in wrapped(text, lens.columns)], lens.rows, lens.columns)
