"""A worker is small: user code shares its process with neither a database nor a screen."""

import subprocess
import sys

FORBIDDEN = ("sqlite3", "aiosqlite", "jsonschema", "click", "textual", "rfc8785", "lockgate.store", "lockgate.view")


def test_a_worker_loads_no_store_and_no_screen() -> None:
    script = f"import sys, lockgate.host.worker; print([name for name in {FORBIDDEN!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
