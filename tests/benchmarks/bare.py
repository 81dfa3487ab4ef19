"""The yardstick: how many one-row transactions a second this disk takes at synchronous=FULL, with nothing else."""

import sqlite3
import time
from pathlib import Path


def commits_per_second(directory: Path, seconds: float) -> float:
    """BEGIN IMMEDIATE, one INSERT of a small row, COMMIT, in a tight loop on a file of its own."""
    path = directory / "bare.sqlite"
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=512)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS facts (id INTEGER PRIMARY KEY, fact TEXT NOT NULL)")
        began, made = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO facts (fact) VALUES (?)", ("a step was taken",))
            connection.execute("COMMIT")
            made += 1
        return made / (time.perf_counter() - began)
    finally:
        connection.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
