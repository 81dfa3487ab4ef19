"""What is practised before the first fork leaves no thread, no descriptor and no loop behind."""

import subprocess
import sys

LEAVES = """
import asyncio, os, sys, threading
from lockgate.host.practice import practise
before = sorted(os.listdir("/dev/fd"))
practise()
assert sorted(os.listdir("/dev/fd")) == before, (before, os.listdir("/dev/fd"))
assert threading.active_count() == 1
assert asyncio._get_running_loop() is None
print([name for name in sys.modules if name.startswith(("lockgate.store", "sqlite3", "aiosqlite"))])
"""


def test_practice_leaves_nothing() -> None:
    command = [sys.executable, "-W", "error", "-X", "dev", "-c", LEAVES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")
