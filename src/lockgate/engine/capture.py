"""The bounded capture of a stream: its first and its last part, with the gap counted."""

from collections import deque


class Capture:
    """Keeps at most `limit` bytes: half from the beginning, half from the end."""

    def __init__(self, limit: int) -> None:
        self._room = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.left_out = 0

    def add(self, piece: bytes) -> None:
        taken = piece[: self._room - len(self._head)] if len(self._head) < self._room else b""
        self._head += taken
        rest = piece[len(taken) :]
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        while self._tail_size > self._tail_limit:
            self._shorten()

    def _shorten(self) -> None:
        excess = self._tail_size - self._tail_limit
        oldest = self._tail.popleft()
        if len(oldest) > excess:
            self._tail.appendleft(oldest[excess:])
        dropped = min(excess, len(oldest))
        self._tail_size -= dropped
        self.left_out += dropped

    def text(self) -> str:
        """What was kept, as text; bytes that are no UTF-8 become U+FFFD."""
        tail = b"".join(self._tail)
        if not self.left_out:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        gap = f"\n... {self.left_out} bytes left out ...\n"
        return bytes(self._head).decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")
