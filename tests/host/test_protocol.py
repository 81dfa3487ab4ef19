"""Frames stay within their limit, and a value is taken only whole and only under its own hash."""

import asyncio
import socket

import pytest

from lockgate.flow.transitions import FinishAttempt, StartAttempt
from lockgate.host.channel import Channel
from lockgate.host.protocol import (
    MAX_FRAME_BYTES,
    MAX_LONG_BYTES,
    PART_BYTES,
    Assembly,
    Exiting,
    FrameError,
    Message,
    Part,
    Propose,
    Ready,
    divide,
    for_host,
    for_worker,
    frames,
    parts,
    verified,
)
from lockgate.model.encoding import sha256
from lockgate.model.records import Value
from lockgate.model.statuses import Outcome


def value(size: int, fill: bytes = b"x") -> Value:
    content = fill * size
    return Value(hash=sha256(content), content=content)


def frame(message: Message) -> bytes:
    (line,) = frames(message)
    return line


def test_a_proposal_survives_the_wire() -> None:
    sent = Propose(
        proposals=(
            FinishAttempt(attempt_id="attempt-1", outcome=Outcome.OK, output_hash="ab", switch_value="yes"),
            StartAttempt(attempt_id="attempt-2", node_id="next", timeout_ms=500),
        ),
        values=(value(10, b"\n"),),
    )
    line = frame(sent)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert for_host(line) == sent


async def test_a_message_beyond_the_frame_goes_in_parts() -> None:
    sources = {f"/project/{number:06}.py": f"{number:064}" for number in range(30_000)}
    lines = list(frames(Ready(sources=sources)))
    assert len(lines) > 4
    assert max(map(len, lines)) <= MAX_FRAME_BYTES
    ours, theirs = socket.socketpair()
    sender, receiver = await Channel.over(ours), await Channel.over(theirs)
    sending = asyncio.create_task(sender.send(Ready(sources=sources), Exiting(reason="next")))
    line, after = await receiver.receive(), await receiver.receive()
    await sending
    assert line is not None
    assert after is not None
    assert for_host(line) == Ready(sources=sources)
    assert for_host(after) == Exiting(reason="next")
    sender.close()
    receiver.close()


def test_a_message_beyond_all_limits_is_refused() -> None:
    with pytest.raises(FrameError, match=str(MAX_LONG_BYTES)):
        list(frames(Exiting(reason="x" * MAX_LONG_BYTES)))


@pytest.mark.parametrize("line", [b"", b"{}\n", b"not json\n", b'{"message":"launch"}\n', b'{"message":"nonsense"}\n'])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(FrameError):
        for_host(line)
    with pytest.raises(FrameError):
        for_worker(line)


@pytest.mark.parametrize("size", [1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES])
def test_a_large_value_travels_in_parts_that_fit(size: int) -> None:
    whole, assembly = value(size), Assembly()
    pieces = list(parts(whole))
    for piece in pieces:
        assert len(frame(piece)) <= MAX_FRAME_BYTES
        assembly.add(piece)
    assert assembly.named([whole.hash]) == (whole,)


def test_small_values_ride_and_large_ones_go_before() -> None:
    small, large = value(100, b"s"), value(PART_BYTES, b"l")
    assert divide([small, large]) == ((small,), (large,))
    many = [value(60_000, bytes([65 + index])) for index in range(10)]
    inline, apart = divide(many)
    assert len(frame(Propose(proposals=(), values=inline))) <= MAX_FRAME_BYTES
    assert set(inline) | set(apart) == set(many)


def test_a_value_with_another_hash_is_refused() -> None:
    with pytest.raises(FrameError, match="hash"):
        verified("0" * 64, b"content")
    assembly = Assembly()
    with pytest.raises(FrameError, match="hash"):
        assembly.add(Part(hash="0" * 64, size=1, offset=0, content=b"x"))


@pytest.mark.parametrize(("offset", "size", "content"), [(1, 4, b"ab"), (0, 1, b"ab"), (0, 9 << 20, b"a")])
def test_gaps_excess_and_oversize_are_refused(offset: int, size: int, content: bytes) -> None:
    with pytest.raises(FrameError):
        Assembly().add(Part(hash="0" * 64, size=size, offset=offset, content=content))


def test_parts_that_no_message_asks_for_are_bounded() -> None:
    """Begun and never ended, or whole and never used: either would fill the host."""
    assembly = Assembly(limit=100)
    for index in range(8):
        assembly.add(Part(hash=f"{index}" * 64, size=100, offset=0, content=b"x" * 50))
    with pytest.raises(FrameError, match="values of 401 bytes for one message, at most 400"):
        assembly.add(Part(hash="a" * 64, size=100, offset=0, content=b"x"))
    assembly = Assembly(limit=100)
    for fill in b"abcdefgh":
        (piece,) = parts(value(100, bytes([fill])))
        assembly.add(piece)
        if fill == ord("d"):
            assembly.clear()
    (piece,) = parts(value(1, b"i"))
    with pytest.raises(FrameError, match="at most 400"):
        assembly.add(piece)


def test_a_proposal_cannot_name_a_value_that_was_not_sent() -> None:
    with pytest.raises(FrameError, match="was not sent"):
        Assembly().named(["0" * 64])
