"""What panes show when there is nothing to show yet: what is so, then what to type."""

from lockgate.view.cells import EMPTY, Line, Span, blank, fitted, joined, left, wrapped
from lockgate.view.header import host_words
from lockgate.view.lens import Lens
from lockgate.view.snapshots import HostState, Snapshot
from lockgate.view.times import size

NAME_CELLS = 18
_COMMANDS = (
    ("See it work", "lockgate demo", "a safe demo in a store of its own"),
    ("Start a host", "lockgate host", "runs wait until a host starts; H starts one"),
    ("Write a workflow", "lockgate init", "puts a first workflow file here"),
    ("Start a run", "lockgate start hello", "it shows up in pane 1 at once"),
)


def said(words: tuple[str, str], cells: int, lens: Lens) -> list[Line]:
    """An empty pane: a blank row, a sentence, a muted line; exactly `cells` wide."""
    room = max(cells - 3, 1)
    rows = [EMPTY] if not lens.short else []
    rows += [joined(blank(2), Span(row)) for row in wrapped(words[0], room)]
    rows += [joined(blank(2), Span(row, "muted")) for row in wrapped(words[1], room)]
    return [fitted(row, cells) for row in rows]


def start_here(snapshot: Snapshot, cells: int, lens: Lens) -> list[Line]:
    """Pane 3 of an empty store: four commands, and the facts of this store."""
    rows: list[Line] = [] if lens.short else [EMPTY]
    for name, command, what in _COMMANDS:
        rows.append(
            joined(
                Span(f"  {lens.glyphs.live_end} ", "accent"),
                Span(left(name, NAME_CELLS), "strong", bold=True),
                Span(f" {command}", "accent"),
            )
        )
        indent = NAME_CELLS + 5
        rows += [joined(blank(indent), Span(row, "muted")) for row in wrapped(what, max(cells - indent - 1, 12))]
        if not lens.short:
            rows.append(EMPTY)
    rows += [EMPTY, joined(Span("  This store", "strong", bold=True)), EMPTY]
    store = snapshot.store
    facts = [
        store.file,
        size(store.size) if store.size else "",
        f"schema {store.schema}" if store.schema else "",
    ]
    host = "".join(span.text for span in host_words(snapshot.host, store, lens)).removeprefix(lens.glyphs.dead)
    host = "none" if snapshot.host.state is HostState.NONE else host.strip().removeprefix("host ")
    pairs = (
        ("file", ", ".join(fact for fact in facts if fact)),
        ("data", str(store.state)),
        ("host", host),
    )
    rows += [joined(Span(f"  {left(label, 10)}", "muted"), Span(value)) for label, value in pairs]
    return [fitted(row, cells, lens.glyphs.ellipsis) for row in rows]
