"""One end of the private socketpair: whole messages in, whole messages out, nothing else."""

import asyncio
import socket
from typing import Self

from lockgate.host.protocol import (
    MAX_FRAME_BYTES,
    MAX_LONG_BYTES,
    Assembly,
    FrameError,
    Long,
    Message,
    announced,
    frames,
    part_of,
)


class Channel:
    """Frames over a connected stream socket; `receive` answers None once the peer is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, connected: socket.socket) -> Self:
        """Takes the socket over: closing the channel closes it."""
        connected.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connected, limit=MAX_FRAME_BYTES)
        return cls(reader, writer)

    async def receive(self) -> bytes | None:
        """The next message's line, or None at the end of the stream. FrameError for what is beyond the limits."""
        line = await self._line()
        long = announced(line) if line is not None else None
        return line if long is None else await self._assembled(long)

    async def _assembled(self, long: Long) -> bytes | None:
        """The line of a message that came in parts."""
        assembly = Assembly(MAX_LONG_BYTES)
        while (line := await self._line()) is not None:
            whole = assembly.add(part_of(line))
            if whole is not None:
                if whole.hash != long.hash:
                    raise FrameError(f"the parts of {whole.hash[:12]} came for the message {long.hash[:12]}")
                return whole.content
        return None

    async def _line(self) -> bytes | None:
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except asyncio.LimitOverrunError as error:
            raise FrameError(f"a frame of more than {MAX_FRAME_BYTES} bytes") from error
        return line

    async def send(self, *messages: Message) -> None:
        """Raises ConnectionError when the peer is gone."""
        for message in messages:
            for line in frames(message):
                self._writer.write(line)
                await self._writer.drain()

    def close(self) -> None:
        self._writer.close()
