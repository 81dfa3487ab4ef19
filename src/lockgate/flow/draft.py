"""A transition in the making: events are appended one by one, each enacted on the head that the earlier made."""

from lockgate.flow.enact import enact
from lockgate.flow.head import LEASE_MS, RunHead
from lockgate.model.events import Clocks, Event, Payload, link
from lockgate.model.records import Actor, IntervalRow, Now, Row
from lockgate.model.statuses import AttemptStatus, Clock


class Draft:
    """Holds the head as it becomes, and what the store will write."""

    def __init__(self, head: RunHead, now: Now, actor: Actor) -> None:
        self.head = head
        self.now = now
        self.actor = actor
        self.events: list[Event] = []
        self.rows: list[Row] = []

    @property
    def at(self) -> int:
        """The time of the next event: never before the run's last one, whatever the wall clock did."""
        return max(self.now.wall_ms, self.head.run.last_at)

    def emit(self, type: str, payload: Payload, attempt_id: str | None = None) -> None:
        run = self.head.run
        event = chain(run.chain_head, run.run_id, run.revision + 1, type, self.at, self.actor, attempt_id, payload)
        self.head, rows = enact(self.head, event)
        self.events.append(event)
        self.rows.extend(rows)

    def clocks(self, to: Clock, *, lost: bool = False) -> Clocks:
        """The change of clock at the next event: waiting so far is added, an open interval is closed.

        `lost` closes the interval at the claim's last heartbeat: nobody saw work after it.
        """
        run = self.head.run
        waited = max(0, self.at - run.clock_since) if run.clock is Clock.PERSON else 0
        interval = self.head.interval
        if interval is None or interval.ended_at is not None:
            return Clocks(to=to, waited_ms=waited)
        elapsed = self._worked(interval, lost)
        closed = IntervalRow(
            run_id=interval.run_id,
            attempt_id=interval.attempt_id,
            interval_number=interval.interval_number,
            boot_id=interval.boot_id,
            mono_ms=interval.mono_ms,
            started_at=interval.started_at,
            ended_at=max(interval.started_at, min(self.at, interval.started_at + elapsed) if lost else self.at),
            elapsed_ms=elapsed,
        )
        return Clocks(to=to, waited_ms=waited, elapsed_ms=elapsed, interval=closed)

    def opening(self, attempt_id: str, number: int) -> Clocks:
        """The working clock starts: a new interval of the attempt is open from the next event on."""
        interval = IntervalRow(
            run_id=self.head.run.run_id,
            attempt_id=attempt_id,
            interval_number=number,
            boot_id=self.now.boot_id,
            mono_ms=self.now.mono_ms,
            started_at=self.at,
            ended_at=None,
            elapsed_ms=0,
        )
        return Clocks(to=Clock.ACTIVE, waited_ms=self.clocks(Clock.ACTIVE).waited_ms, interval=interval)

    def resting(self) -> Clock:
        """The clock of a run on which nobody works: paused, waiting for whom its request names, or idle."""
        head = self.head
        if head.run.paused:
            return Clock.PAUSED
        attempt = head.attempt
        if attempt is None or attempt.status is not AttemptStatus.WAITING or head.is_answered:
            return Clock.IDLE
        if head.is_pending and head.request is not None and head.request.kind == "agent":
            return Clock.AGENT
        return Clock.PERSON

    def _worked(self, interval: IntervalRow, lost: bool) -> int:
        queue = self.head.queue
        beat = queue.heartbeat_mono if queue.boot_id == interval.boot_id else None
        if lost or self.now.boot_id != interval.boot_id:
            seen = beat
        elif beat is not None:
            # A holder that fell silent long ago is not credited beyond its lease.
            seen = min(self.now.mono_ms, beat + LEASE_MS)
        else:
            seen = self.now.mono_ms
        return max(0, seen - interval.mono_ms) if seen is not None else 0


def chain(
    head: str, run_id: str, seq: int, type: str, at: int, actor: Actor, attempt_id: str | None, payload: Payload
) -> Event:
    """The event that follows `head` in the run's hash chain; `head` is empty before the first."""
    prev = head or None
    hash = link(
        prev=prev, run_id=run_id, seq=seq, type=type, at=at, actor=actor, attempt_id=attempt_id, payload=payload
    )
    return Event(
        run_id=run_id,
        seq=seq,
        type=type,
        at=at,
        actor=actor,
        attempt_id=attempt_id,
        payload=payload,
        prev_hash=prev,
        hash=hash,
    )
