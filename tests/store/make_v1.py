"""Writes data/v1.sqlite: a store of schema version 1 with a run in every situation, for the test that migrates it.

It was run once, while version 1 was the present one: `python -m tests.store.make_v1`. It refuses under any other.
"""

import os
import sqlite3
import sys
import tempfile
from pathlib import Path

from lockgate.model.records import Human
from lockgate.store import hosts, opening
from lockgate.store.hosts import Identity
from lockgate.store.outputs import Written, append

from . import histories
from .conftest import Bench

TARGET = Path(__file__).parent / "data" / "v1.sqlite"
ADA = Human(id="ada", uid=1000, host="desk", tty="/dev/pts/1")


def make(path: Path) -> dict[str, str]:
    """Fills a new store at `path`; the run of each kind, by name."""
    bench = Bench(path)
    try:
        host = Identity(host_id="desk-1", pid=4242, process_start="77", capacity=4)
        bench.write(lambda tx: hosts.take_over(tx, host, lambda pid, start: False))
        runs = histories.all_kinds(bench)
        run_id, request_id, digest = bench.at_decision(title="Answered by Ada")
        assert bench.answer(request_id, digest, "again", text="Once more, please", human=ADA).outcome == "accepted"
        bench.answer(request_id, digest, "stop", human=ADA)
        runs["answered"] = run_id
        attempt = bench.read(
            lambda c: c.execute("SELECT attempt_id FROM node_attempts WHERE run_id = ?", (run_id,)).fetchone()
        )
        written = Written(run_id=run_id, attempt_id=attempt[0], stream="stdout", content=b"tests: 12 ok\n")
        bench.write(lambda tx: append(tx, [written]))
        bench.write(
            lambda tx: tx.connection.execute(
                "INSERT INTO policies (audience, users, self_approval, set_by, set_at) VALUES (?, ?, ?, ?, ?)",
                ("operator", '["ada","bo"]', 0, "ada", tx.now.wall_ms),
            )
        )
        return runs
    finally:
        bench.close()


def main() -> None:
    if opening.VERSION != 1:
        sys.exit(f"this code writes schema {opening.VERSION}: version 1 is kept as it was written")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "state.sqlite"
        make(path)
        connection = sqlite3.connect(path, isolation_level=None)
        # One file, without a log beside it.
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
        connection.close()
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_bytes(path.read_bytes())
    os.chmod(TARGET, 0o644)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
