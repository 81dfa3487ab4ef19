"""The first and the last MiB of an attempt's output are kept, and what is missing between them is counted."""

from lockgate.store import outputs
from lockgate.store.outputs import CHUNK, KEPT, Written

from .conftest import Bench


def part(run_id: str, content: bytes, stream: str = "stdout") -> Written:
    return Written(run_id=run_id, attempt_id="attempt-1", stream=stream, content=content)


def test_a_large_output_keeps_its_ends(bench: Bench) -> None:
    run_id = bench.run_id()
    total = 0
    for number in range(50):
        content = bytes([number]) * 100_000
        bench.write(lambda tx, content=content: outputs.append(tx, [part(run_id, content)]))
        total += len(content)
    chunks = bench.read(lambda connection: outputs.output(connection, run_id, "attempt-1", limit=1000))
    kept = sum(len(chunk.content) for chunk in chunks)
    assert kept + sum(chunk.gap for chunk in chunks) == total
    assert 2 * KEPT <= kept <= 2 * KEPT + 2 * CHUNK
    assert chunks[0].content[0] == 0
    assert chunks[-1].content[-1] == 49
    assert sum(chunk.gap > 0 for chunk in chunks) == 1


def test_a_window_counts_the_gap_before_it(bench: Bench) -> None:
    run_id = bench.run_id()
    bench.write(lambda tx: outputs.append(tx, [part(run_id, b"a" * 10), part(run_id, b"b" * 5, "stderr")]))
    window = bench.read(lambda connection: outputs.output(connection, run_id, "attempt-1", after=0))
    assert [(chunk.stream, chunk.chunk, chunk.gap, chunk.content) for chunk in window] == [("stderr", 1, 0, b"bbbbb")]
