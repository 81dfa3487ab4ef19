"""What every record is, and the small facts that many of them carry: clocks, actors, people, values, policies."""

import msgspec

from lockgate.model.statuses import ActorKind


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The common shape: frozen, keyword only, compared by value (each says so: mypy does not inherit it)."""


class Now(Record, frozen=True, kw_only=True):
    """One reading of the clocks: wall time for display, (boot, monotonic) for leases and intervals.

    Screens add who is `gone`: owners of claims whose processes are known to have ended.
    """

    wall_ms: int
    boot_id: str
    mono_ms: int
    gone: frozenset[str] = frozenset()


class Actor(Record, frozen=True, kw_only=True):
    kind: ActorKind
    id: str


class Human(Record, frozen=True, kw_only=True):
    """A person at a terminal, as `human_here()` found them. Any other is marked as a test, in every receipt."""

    id: str
    uid: int
    host: str
    tty: str
    test: bool = True

    @classmethod
    def for_test(cls, id: str = "tester") -> "Human":
        return cls(id=id, uid=0, host="test", tty="none", test=True)

    @property
    def actor(self) -> Actor:
        return Actor(kind=ActorKind.HUMAN, id=self.id)

    @property
    def channel(self) -> str:
        """Where the person sat, as the receipt keeps it."""
        return f"test:{self.host}" if self.test else f"{self.host}:{self.tty}"


class Value(Record, frozen=True, kw_only=True):
    """A stored value on its way into the store: the SHA-256 of exactly these bytes, and the bytes."""

    hash: str
    content: bytes


class Policy(Record, frozen=True, kw_only=True):
    """Who may answer an audience's decisions; `users` null is everybody who can write the store. Without
    `self_approval` the person who started a run may not pick a choice whose intent is to approve."""

    audience: str
    users: tuple[str, ...] | None = None
    self_approval: bool = True
