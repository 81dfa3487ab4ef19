"""The Output tab: what the worker of an attempt wrote to stdout and stderr."""

from collections.abc import Iterable

from lockgate.model.records import OutputChunk
from lockgate.model.text import clean
from lockgate.view.cells import Line, Span, fitted, joined
from lockgate.view.lens import Lens
from lockgate.view.snapshots import ShownOutput
from lockgate.view.times import size

NO_OUTPUT = "Nothing was written."


def shown_output(attempt_id: str, title: str, chunks: Iterable[OutputChunk], *, cut: bool = False) -> ShownOutput:
    """Chunks in the order in which they came, as clean lines with the stream each belongs to.

    A chunk may end inside a line or inside a character: each stream is joined before it is split.
    """
    streams: dict[str, bytearray] = {}
    order: list[tuple[str, int]] = []
    dropped = whole = 0
    for chunk in chunks:
        content = streams.setdefault(chunk.stream, bytearray())
        if chunk.gap:
            dropped += chunk.gap
            content += f"\n[{size(chunk.gap)} left out]\n".encode()
        content += chunk.content
        whole += len(chunk.content) + chunk.gap
        order.append((chunk.stream, len(content)))
    return ShownOutput(attempt_id, clean(title), tuple(_interleaved(streams, order)), whole, dropped, cut)


def _interleaved(streams: dict[str, bytearray], order: list[tuple[str, int]]) -> Iterable[tuple[str, str]]:
    """Whole lines of each stream, at the place of the chunk that completed them."""
    done = dict.fromkeys(streams, 0)
    for stream, end in order:
        content = streams[stream]
        stop = content.rfind(b"\n", done[stream], end) + 1
        if stop > done[stream]:
            yield from _lines(stream, bytes(content[done[stream] : stop - 1]))
            done[stream] = stop
    for stream, content in streams.items():
        if done[stream] < len(content):
            yield from _lines(stream, bytes(content[done[stream] :]))


def _lines(stream: str, content: bytes) -> Iterable[tuple[str, str]]:
    for line in clean(content.decode("utf-8", "replace"), multiline=True).split("\n"):
        yield stream, line


def output_line(line: tuple[str, str], cells: int, lens: Lens, *, shift: int = 0) -> Line:
    """The row of an output line, exactly `cells` wide, cell 0 blank; stderr stands behind a mark.

    `shift` is how many characters are scrolled out at the left.
    """
    stream, text = line
    mark = Span(f"{lens.glyphs.stuck} ", "bad") if stream == "stderr" else Span("  ")
    shown = text[shift : shift + cells * 8] if shift or len(text) > cells * 8 else text
    return fitted(joined(Span("  "), mark, Span(shown), Span(" ")), cells, lens.glyphs.ellipsis)


def output_rule(output: ShownOutput | None, lens: Lens) -> Line:
    """`test #2 · 4.1 KB`: the right end of the pane's rule."""
    if output is None:
        return ()
    facts = size(output.size)
    if output.cut:
        facts = f"first {facts}, m for more"
    if output.dropped:
        facts += f", {size(output.dropped)} left out"
    return (Span(f"{output.title} {lens.glyphs.dot} {facts}", "muted"),)
