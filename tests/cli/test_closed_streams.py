"""A caller may close the streams: the store's file never gets their number, and nothing ends in a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_no_defect_and_no_way_into_the_file(tmp_path: Path, closed: str) -> None:
    store = tmp_path / "state.sqlite"
    environment = {**os.environ, "LOCKGATE_DB": str(store)}
    for command in ("init", "runs", "doctor"):
        line = f'"{sys.executable}" -m lockgate {command} {closed}'
        ran = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, (command, ran.stderr)
        assert "Traceback" not in ran.stderr
    assert store.read_bytes().startswith(b"SQLite format 3\0")
