"""One of the processes that race for the same decisions: `approve`, `reject`, or `expire` (the deadline's default).

usage: deciding.py STORE WHO. Says `ready`; a line `START_NS APART_NS` on stdin (CLOCK_MONOTONIC) begins the race; in
the end it prints one line of JSON: for each decision, in the order of the race, what it was told.
"""

import json
import sys
import time
from pathlib import Path

from lockgate.model.records import Human, Now, Receipt
from lockgate.store import commands
from lockgate.store.clock import SystemClock
from lockgate.store.openfile import Transaction, open_file
from lockgate.store.shell import new_key


class Ahead:
    """A clock on which every deadline is over: who takes defaults is late by a month."""

    def now(self) -> Now:
        now = SystemClock().now()
        return Now(wall_ms=now.wall_ms + 30 * 86_400_000, boot_id=now.boot_id, mono_ms=now.mono_ms)


def decide(tx: Transaction, who: str, request_id: str, digest: str) -> Receipt:
    if who == "expire":
        return commands.expire(tx, request_id)
    choice = "go" if who == "approve" else "stop"
    return commands.answer(tx, request_id, choice, text=None, digest=digest, human=Human.for_test(who), key=new_key())


def main() -> None:
    path, who = Path(sys.argv[1]), sys.argv[2]
    clock = Ahead() if who == "expire" else SystemClock()
    file = open_file(path, clock)
    try:
        asked = "SELECT request_id, digest FROM requests WHERE status = 'pending' ORDER BY request_id"
        pending = file.connection.execute(asked).fetchall()
        print("ready", flush=True)
        start, apart = (int(number) for number in sys.stdin.readline().split())
        told = []
        for place, (request_id, digest) in enumerate(pending):
            time.sleep(max(0, start + place * apart - time.monotonic_ns()) / 1e9)
            receipt = file.write(lambda tx: decide(tx, who, request_id, digest), clock)  # noqa: B023
            told.append([request_id, receipt.outcome, receipt.reason, receipt.winner])
        print(json.dumps(told, default=str), flush=True)
    finally:
        file.close()


if __name__ == "__main__":
    main()
