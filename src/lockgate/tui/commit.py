"""Records one answer: keeps trying while the store is locked, under one key, so that it is recorded once or not."""

import time
import uuid
from collections.abc import Callable
from typing import Protocol

from lockgate.model.errors import StoreBusy
from lockgate.model.records import Receipt
from lockgate.view.snapshots import ShownRequest


class Answers(Protocol):
    """The part of the desk that takes an answer."""

    async def answer(self, request: ShownRequest, choice: str, *, text: str | None, key: str) -> Receipt:
        """Commits the answer to exactly the request that was seen; raises StoreBusy when the store is locked."""
        ...


class Commit:
    """One press. The key makes a try that was committed without an acknowledgement harmless to repeat."""

    def __init__(self, request: ShownRequest, choice: str, text: str | None) -> None:
        self._request, self._choice, self._text = request, choice, text
        self._key = f"card-{uuid.uuid4()}"
        self._stopped = False
        self._began = time.monotonic()
        self._was_busy = False

    @property
    def locked_s(self) -> int | None:
        """Whole seconds since the press if the store was locked meanwhile; None while nothing says so."""
        return int(time.monotonic() - self._began) if self._was_busy else None

    def stop(self) -> None:
        """Gives up after the try that is under way."""
        self._stopped = True

    async def run(self, desk: Answers, on_busy: Callable[[], None]) -> Receipt | None:
        """Tries until the store answers. None: given up, and nothing was recorded."""
        while True:
            try:
                return await desk.answer(self._request, self._choice, text=self._text, key=self._key)
            except StoreBusy:
                self._was_busy = True
                if self._stopped:
                    return None
                on_busy()
