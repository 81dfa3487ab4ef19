"""A worker's stdout and stderr on their way to the host: read as soon as they come, named after the attempt."""

import asyncio
import contextlib
import os
from collections.abc import Callable

from lockgate.host.output import OutputDesk

TAIL_BYTES = 64 << 10
_READ_BYTES = 64 << 10
_READS_AT_ONCE = 64
"""A worker that prints faster than it is read must not keep the host from everything else."""


class Tail:
    """The last 64 KiB of a worker's stderr."""

    def __init__(self) -> None:
        self._content = bytearray()

    def add(self, content: bytes) -> None:
        self._content += content
        if len(self._content) > TAIL_BYTES:
            del self._content[: len(self._content) - TAIL_BYTES]

    @property
    def text(self) -> str:
        return self._content.decode("utf-8", "replace")


class Capture:
    """Both pipes of one worker; what comes before the first attempt is kept in the tail only."""

    def __init__(
        self, run_id: str, stdout: int, stderr: int, desk: OutputDesk, attempt: Callable[[], str | None]
    ) -> None:
        self._run_id = run_id
        self._desk = desk
        self._attempt = attempt
        self._loop = asyncio.get_running_loop()
        self._open = {"stdout": stdout, "stderr": stderr}
        self.tail = Tail()
        for stream, descriptor in self._open.items():
            os.set_blocking(descriptor, False)
            self._loop.add_reader(descriptor, self._read, stream)

    def drain(self) -> None:
        """Takes what was printed so far; it belongs to the attempt that is still current."""
        for stream in tuple(self._open):
            for _ in range(_READS_AT_ONCE):
                if not self._read(stream):
                    break

    def close(self) -> None:
        """A descendant may still hold the other ends: what it prints from now on is nobody's."""
        for stream in tuple(self._open):
            self._close(stream)

    def _read(self, stream: str) -> bool:
        """Whether there may be more."""
        descriptor = self._open.get(stream)
        if descriptor is None:
            return False
        try:
            content = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            content = b""
        if not content:
            self._close(stream)
            return False
        self._take(stream, content)
        return True

    def _take(self, stream: str, content: bytes) -> None:
        if stream == "stderr":
            self.tail.add(content)
        attempt_id = self._attempt()
        if attempt_id is not None:
            self._desk.add(self._run_id, attempt_id, stream, content)

    def _close(self, stream: str) -> None:
        descriptor = self._open.pop(stream, None)
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            with contextlib.suppress(OSError):
                os.close(descriptor)
