"""What a worker and its host say to each other: tagged messages, one JSON line each, over a private socketpair.

A frame is at most 1 MiB. A value that does not fit beside its message travels before it (worker to host) or
after it (host to worker) in parts of at most 512 KiB, and is accepted only when all of it has the SHA-256 that
names it; a whole message that does not fit (the sources of a large project) goes the same way, announced by
`long`. The worker has one request in flight; the host only ever answers. The claim's token is not part of
this language: the host keeps it.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from lockgate.flow.transitions import AnyProposal
from lockgate.model.encoding import MAX_OUTPUT_BYTES, sha256
from lockgate.model.errors import PayloadError
from lockgate.model.records import CheckpointState, Continuation, Reply, Value

MAX_FRAME_BYTES = 1 << 20
PART_BYTES = 512 << 10
MAX_LONG_BYTES = 16 << 20
INLINE_BYTES = 128 << 10
"""How much value content rides in the message itself; Base64 and the proposals must still fit the frame."""


_T = TypeVar("_T")


class FrameError(Exception):
    """The peer broke the protocol: an oversized frame, an unknown message, a value that is not what it says."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="message", omit_defaults=True):
    """The common shape of everything on the wire."""


# --- host to worker ----------------------------------------------------------------------------------------


class Launch(Message, tag="launch", frozen=True, kw_only=True):
    """The first message: which workflow to load for which run, and what must not have changed since its start.

    `sources` is the recorded path -> SHA-256; `environment` is NAME=value, each followed by a NUL, in the bytes of
    the system.
    """

    run_id: str
    generation: int
    file: str
    name: str
    project_dir: str
    definition_digest: str
    sources: dict[str, str]
    environment: bytes


class Continue(Message, tag="continue", frozen=True, kw_only=True):
    """Answers ready."""

    continuation: Continuation


class Answered(Message, tag="answered", frozen=True, kw_only=True):
    """Answers propose, and ready where the claim is lost or the run paused."""

    reply: Reply


class Checkpoint(Message, tag="checkpoint", frozen=True, kw_only=True):
    state: CheckpointState


class Content(Message, tag="content", frozen=True, kw_only=True):
    """Answers read_value: `size` bytes follow in parts, none for an empty value."""

    hash: str
    size: int


class Failed(Message, tag="failed", frozen=True, kw_only=True):
    """The host could not do what was asked; `code` is the error's code."""

    code: str
    text: str


# --- worker to host ----------------------------------------------------------------------------------------


class Ready(Message, tag="ready", frozen=True, kw_only=True):
    """The definition is loaded and is what the run recorded."""

    sources: dict[str, str]


class Propose(Message, tag="propose", frozen=True, kw_only=True):
    """`values` ride along; `sent` names those that came before in parts."""

    proposals: tuple[AnyProposal, ...]
    values: tuple[Value, ...] = ()
    sent: tuple[str, ...] = ()


class ReadValue(Message, tag="read_value", frozen=True, kw_only=True):
    hash: str


class ReadCheckpoint(Message, tag="read_checkpoint", frozen=True, kw_only=True):
    request_id: str


class Exiting(Message, tag="exiting", frozen=True, kw_only=True):
    """The last message of a worker that ends by itself; `reason` is the engine's."""

    reason: str


class SourcesDiffer(Message, tag="source_changed", frozen=True, kw_only=True):
    """The files are not the ones that the run was started with, or what they make is not; nothing was executed."""

    files: tuple[str, ...]
    graph_changed: bool


class LoadFailed(Message, tag="load_failed", frozen=True, kw_only=True):
    """The workflow cannot be loaded any more; `text` names file and reason."""

    text: str


# --- both --------------------------------------------------------------------------------------------------


class Part(Message, tag="part", frozen=True, kw_only=True):
    """One piece of the value that `hash` names, `size` bytes in all, in order of `offset`."""

    hash: str
    size: int
    offset: int
    content: bytes


class Long(Message, tag="long", frozen=True, kw_only=True):
    """The next message is too long for a frame: its line follows in parts."""

    hash: str
    size: int


ToWorker = Launch | Continue | Answered | Checkpoint | Content | Failed | Part
ToHost = Ready | Propose | ReadValue | ReadCheckpoint | Exiting | SourcesDiffer | LoadFailed | Part

_encoder = msgspec.json.Encoder()
_to_worker = msgspec.json.Decoder(ToWorker)
_to_host = msgspec.json.Decoder(ToHost)
_long = msgspec.json.Decoder(Long)
_part = msgspec.json.Decoder(Part)
_LONG = b'{"message":"long",'


def frames(message: Message) -> Iterator[bytes]:
    """The lines of a message, each within the frame's limit: one, but for a message that is too long for it."""
    line = _encoder.encode(message) + b"\n"
    if len(line) <= MAX_FRAME_BYTES:
        yield line
        return
    if len(line) > MAX_LONG_BYTES:
        raise FrameError(f"a {type(message).__name__} of {len(line)} bytes, at most {MAX_LONG_BYTES}")
    whole = Value(hash=sha256(line), content=line)
    yield _encoder.encode(Long(hash=whole.hash, size=len(line))) + b"\n"
    for part in parts(whole):
        yield _encoder.encode(part) + b"\n"


def announced(line: bytes) -> Long | None:
    """The announcement that this line is, or None for any other message."""
    return _decoded(_long, line) if line.startswith(_LONG) else None


def part_of(line: bytes) -> Part:
    return _decoded(_part, line)


def for_worker(line: bytes) -> ToWorker:
    return _decoded(_to_worker, line)


def for_host(line: bytes) -> ToHost:
    return _decoded(_to_host, line)


def _decoded(decoder: "msgspec.json.Decoder[_T]", line: bytes) -> _T:
    try:
        return decoder.decode(line)
    except msgspec.DecodeError as error:
        raise FrameError(f"not a message: {error}") from error


def parts(value: Value) -> Iterator[Part]:
    """The value in pieces of at most PART_BYTES, in order."""
    size = len(value.content)
    for offset in range(0, size, PART_BYTES):
        yield Part(hash=value.hash, size=size, offset=offset, content=value.content[offset : offset + PART_BYTES])


def divide(values: Sequence[Value]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Which values ride in the message and which go before it, in parts."""
    inline: list[Value] = []
    apart: list[Value] = []
    room = INLINE_BYTES
    for value in values:
        if len(value.content) <= room:
            room -= len(value.content)
            inline.append(value)
        else:
            apart.append(value)
    return tuple(inline), tuple(apart)


MOST_AT_ONCE = 4
"""So many values of the greatest size may be on their way together: a finished step's and what its successor asks."""


class Assembly:
    """Values on their way in parts, kept until their message asks for them."""

    def __init__(self, limit: int = MAX_OUTPUT_BYTES) -> None:
        self._limit = limit
        self._growing: dict[str, bytearray] = {}
        self._whole: dict[str, Value] = {}
        self._held = 0

    def add(self, part: Part) -> Value | None:
        """The whole value once its last part is in; FrameError for gaps, excess, or another hash."""
        if part.size > self._limit:
            raise FrameError(f"a value of {part.size} bytes, at most {self._limit}")
        content = self._growing.setdefault(part.hash, bytearray())
        if part.offset != len(content) or part.offset + len(part.content) > part.size:
            raise FrameError(f"part at {part.offset} of {part.hash[:12]}, expected {len(content)} of {part.size}")
        self._held += len(part.content)
        if self._held > MOST_AT_ONCE * self._limit:
            raise FrameError(f"values of {self._held} bytes for one message, at most {MOST_AT_ONCE * self._limit}")
        content += part.content
        if len(content) < part.size:
            return None
        del self._growing[part.hash]
        value = verified(part.hash, bytes(content))
        self._whole[part.hash] = value
        return value

    def named(self, hashes: Sequence[str]) -> tuple[Value, ...]:
        """The named values, each once. FrameError names one that never came whole."""
        missing = [name for name in hashes if name not in self._whole]
        if missing:
            raise FrameError(f"the value {missing[0][:12]} was not sent")
        return tuple(self._whole[name] for name in dict.fromkeys(hashes))

    def clear(self) -> None:
        """The message that the values came for is answered."""
        self._whole.clear()
        self._held = sum(map(len, self._growing.values()))


def verified(name: str, content: bytes) -> Value:
    """The value, if its bytes have the hash that names it."""
    found = sha256(content)
    if found != name:
        raise FrameError(f"the value {name[:12]} has the hash {found[:12]}")
    return Value(hash=name, content=content)


def bounded(value: Value) -> Value:
    """The value, if a worker may send it at all; the error names the limit, not the wire."""
    if len(value.content) > MAX_OUTPUT_BYTES:
        raise PayloadError("$", f"at most {MAX_OUTPUT_BYTES} bytes", f"{len(value.content)} bytes")
    return value
