"""Requests as screens show them: what is asked, what can be chosen, how it ended."""

from collections.abc import Sequence

import msgspec

from lockgate.flow.words import left_ms
from lockgate.model.statuses import Intent, Provenance, RequestKind, RequestStatus


class Block(msgspec.Struct, frozen=True):
    """One block of a presentation: `kind` is paragraph, section, bullets, fields or preformatted."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()


class ShownInput(msgspec.Struct, frozen=True):
    """The text that goes with a choice; lengths count characters, both ends included."""

    name: str
    prompt: str
    min_length: int
    max_length: int


class ShownChoice(msgspec.Struct, frozen=True):
    key: str
    label: str
    intent: Intent
    input: ShownInput | None
    consequence: str


class ShownResolution(msgspec.Struct, frozen=True):
    """How a decision ended. `choice` is None where it was withdrawn; `text` is what came with the choice."""

    provenance: Provenance
    choice: str | None
    label: str | None
    actor: str
    place: str
    at: int
    text: str | None = None


class ShownRequest(msgspec.Struct, frozen=True):
    """A pending or decided request, whole: a row of the queue and the contents of the card."""

    request_id: str
    digest: str
    kind: RequestKind
    status: RequestStatus
    run_id: str
    short_id: str
    workflow: str
    run_title: str
    run_over: bool
    run_at: int
    paused: bool
    node: str
    attempt_id: str
    attempt_number: int
    audience: str
    title: str
    blocks: tuple[Block, ...]
    choices: tuple[ShownChoice, ...]
    contract: str
    started_by: str
    deadline_at: int | None
    default: str | None
    created_at: int
    resolution: ShownResolution | None

    @property
    def fingerprint(self) -> str:
        """The first 12 hex of the digest in groups of four, as people compare it."""
        return f"{self.digest[:4]} {self.digest[4:8]} {self.digest[8:12]}"

    @property
    def is_pending(self) -> bool:
        """Open for an answer, by the request AND its run."""
        return self.status is RequestStatus.PENDING and not self.run_over

    def choice(self, key: str | None) -> ShownChoice | None:
        return next((choice for choice in self.choices if choice.key == key), None)

    @property
    def default_label(self) -> str | None:
        choice = self.choice(self.default)
        return choice.label if choice else self.default

    def left_ms(self, now_ms: int) -> int | None:
        """Milliseconds until the default is taken, never negative; None without a deadline."""
        return None if self.deadline_at is None else max(left_ms(self.deadline_at, now_ms, self.run_at), 0)

    def is_overdue(self, now_ms: int) -> bool:
        return self.is_pending and self.deadline_at is not None and left_ms(self.deadline_at, now_ms, self.run_at) < 0

    def is_urgent(self, now_ms: int) -> bool:
        """Under a tenth of its time is left."""
        if self.deadline_at is None:
            return False
        return (self.deadline_at - now_ms) * 10 < self.deadline_at - self.created_at


def newest(requests: Sequence[ShownRequest], run_id: str) -> ShownRequest | None:
    """The pending request of a run, which is at most one."""
    return next((request for request in requests if request.run_id == run_id and request.is_pending), None)
