"""One end of the private socketpair: whole lines in, whole lines out, nothing else."""

import asyncio
import socket
from typing import Self

from lockgate.host.protocol import MAX_FRAME_BYTES, FrameError, Message, frame


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
        """The next line, or None at the end of the stream. FrameError for a line beyond the limit."""
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
            self._writer.write(frame(message))
            await self._writer.drain()

    def close(self) -> None:
        self._writer.close()
