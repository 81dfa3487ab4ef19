"""A reader that keeps its snapshot for long sees one moment, holds up nobody, and lets the log shrink when it goes."""

import subprocess
import sys
from pathlib import Path

from lockgate.store import commands, reads
from lockgate.store.openfile import open_file

from .conftest import USER, Bench

COMMITS = 2_000
AFTERWARDS = 1_200


def test_a_long_snapshot_holds_up_nobody(bench: Bench) -> None:
    run_id = bench.run_id()
    log = Path(f"{bench.path}-wal")
    reader = open_file(bench.path, bench.clock, read_only=True)
    reader.connection.execute("BEGIN")
    before = reader.connection.execute("SELECT count(*), max(event_seq) FROM events").fetchone()
    turn(bench, run_id, COMMITS)
    held = log.stat().st_size
    assert reader.connection.execute("SELECT count(*), max(event_seq) FROM events").fetchone() == before
    assert bench.read(lambda connection: reads.run(connection, run_id)).row.revision == COMMITS + 1
    reader.end_reading()
    # The next checkpoint comes to the end of the log, and the log begins anew inside the space that it has.
    turn(bench, run_id, AFTERWARDS)
    assert log.stat().st_size <= held + 8 * 4_152
    assert frames_in_use(log) < 1_000 + 64
    assert reader.read(lambda connection: connection.execute("SELECT count(*) FROM events").fetchone()) == (
        1 + COMMITS + AFTERWARDS,
    )
    reader.close()


def turn(bench: Bench, run_id: str, commits: int) -> None:
    """So many small commits: the run is paused and resumed."""
    for number in range(commits):
        act = commands.resume if number % 2 else commands.pause
        receipt = bench.write(lambda tx, act=act: act(tx, run_id, actor=USER, key=bench.key()))
        assert receipt.outcome == "accepted"


def frames_in_use(log: Path) -> int:
    """How many frames carry the salt of the log's header: what a reader who opens now has to look through.

    Read by another process: opening the live file by hand in this one would drop SQLite's locks.
    """
    script = (
        "import sys; data = open(sys.argv[1], 'rb').read(); salt = data[16:24]; "
        "print(sum(data[at + 8 : at + 16] == salt for at in range(32, len(data), 4096 + 24)))"
    )
    told = subprocess.run([sys.executable, "-c", script, str(log)], check=True, capture_output=True, text=True)
    return int(told.stdout)
