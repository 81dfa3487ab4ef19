"""A worker is small: user code shares its process with neither a database nor a screen."""

import subprocess
import sys

import pytest

FORBIDDEN = ("sqlite3", "aiosqlite", "jsonschema", "click", "textual", "rfc8785", "lockgate.store", "lockgate.view")


@pytest.mark.parametrize("module", ["worker", "zygote"])
def test_a_worker_and_what_forks_it_load_no_store_and_no_screen(module: str) -> None:
    script = f"import sys, lockgate.host.{module}; print([name for name in {FORBIDDEN!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
