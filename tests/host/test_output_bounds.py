"""Output is kept per attempt and stream, in chunks, within bounds, with what was dropped counted."""

from lockgate.host.output import CHUNK_BYTES, HELD_BYTES, OutputDesk
from lockgate.host.pipes import TAIL_BYTES, Tail


def test_output_keeps_its_order_and_its_attempt() -> None:
    desk = OutputDesk()
    desk.add("run", "a1", "stdout", b"one ")
    desk.add("run", "a1", "stdout", b"two")
    desk.add("run", "a1", "stderr", b"bad")
    desk.add("run", "a1", "stdout", b"three")
    desk.add("run", "a2", "stdout", b"next")
    assert [(item.attempt_id, item.stream, item.content) for item in desk.take()] == [
        ("a1", "stdout", b"one two"),
        ("a1", "stderr", b"bad"),
        ("a1", "stdout", b"three"),
        ("a2", "stdout", b"next"),
    ]
    assert desk.is_empty
    assert desk.take() == []


def test_long_output_is_cut_into_chunks() -> None:
    desk = OutputDesk()
    desk.add("run", "a", "stdout", b"z" * (2 * CHUNK_BYTES + 1))
    assert [len(item.content) for item in desk.take()] == [CHUNK_BYTES, CHUNK_BYTES, 1]


def test_output_faster_than_writing_is_dropped_from_the_front_and_counted() -> None:
    desk = OutputDesk()
    for index in range(64):
        desk.add("run", "a", "stdout", bytes([index]) * CHUNK_BYTES)
    kept = desk.take()
    assert sum(len(item.content) for item in kept) == HELD_BYTES
    assert kept[0].gap == 64 * CHUNK_BYTES - HELD_BYTES
    assert [item.gap for item in kept[1:]] == [0] * (len(kept) - 1)
    assert kept[-1].content == bytes([63]) * CHUNK_BYTES


def test_the_tail_keeps_the_last_64_kib() -> None:
    tail = Tail()
    tail.add(b"a" * TAIL_BYTES)
    tail.add(b"the end")
    assert len(tail.text) == TAIL_BYTES
    assert tail.text.endswith("athe end")
