"""Commits to a store from another process, in a rhythm: one line on stdin `COUNT LEAST_MS MOST_MS` for each series.

usage: writing.py STORE. Each commit is one `pause` or `resume` of a run in turn. For each series it prints, as one line
of JSON, the event number and the CLOCK_MONOTONIC nanoseconds right after COMMIT of every commit.
"""

import json
import random
import sys
import time
from collections import deque
from pathlib import Path

from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store import commands
from lockgate.store.clock import SystemClock
from lockgate.store.openfile import OpenFile, Transaction, open_file
from lockgate.store.shell import new_key

ACTOR = Actor(kind=ActorKind.USER, id="writer")


class Toggler:
    """Pauses and resumes runs in turn: one transaction, one event each."""

    def __init__(self, file: OpenFile, runs: int) -> None:
        self._file = file
        self._clock = SystemClock()
        wanted = "SELECT run_id, paused FROM runs WHERE status = 'waiting' ORDER BY created_at DESC LIMIT ?"
        self._turns = deque(file.connection.execute(wanted, (runs,)).fetchall())

    def toggle(self) -> int:
        """One commit; the number of its event."""
        run_id, is_paused = self._turns.popleft()
        command = commands.resume if is_paused else commands.pause
        self._turns.append((run_id, not is_paused))

        def change(tx: Transaction) -> int:
            receipt = command(tx, run_id, actor=ACTOR, key=new_key())
            assert receipt.outcome == "accepted", receipt
            return tx.event_seqs[-1]

        return self._file.write(change, self._clock)


def series(toggler: Toggler, count: int, least_ms: float, most_ms: float) -> list[tuple[int, int]]:
    commits = []
    due = time.monotonic()
    for _ in range(count):
        due += random.uniform(least_ms, most_ms) / 1000
        time.sleep(max(0.0, due - time.monotonic()))
        seq = toggler.toggle()
        commits.append((seq, time.monotonic_ns()))
    return commits


def main() -> None:
    file = open_file(Path(sys.argv[1]), SystemClock())
    try:
        toggler = Toggler(file, 8)
        print("ready", flush=True)
        for line in sys.stdin:
            count, least, most = line.split()
            print(json.dumps(series(toggler, int(count), float(least), float(most))), flush=True)
    finally:
        file.close()


if __name__ == "__main__":
    main()
