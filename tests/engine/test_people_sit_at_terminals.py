"""`human_here` finds a person only where one can be."""

import os
import pty
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"

CODE = """
from lockgate.engine.person import human_here
from lockgate.model.errors import Refused
try:
    human = human_here()
except Refused as problem:
    print("refused", problem.code, problem.message)
else:
    print("human", human.id, human.uid, human.tty, human.test)
"""


def answer(*, stdin: bool, stderr: bool) -> str:
    """What the code says as the leader of a session whose terminal is a new one."""
    reader, writer = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:
        os.dup2(writer, 1)
        null = os.open(os.devnull, os.O_RDWR)
        if not stdin:
            os.dup2(null, 0)
        if not stderr:
            os.dup2(null, 2)
        os.execve(sys.executable, [sys.executable, "-c", CODE], {**os.environ, "PYTHONPATH": str(SRC)})
    os.close(writer)
    with os.fdopen(reader) as said:
        text = said.read().strip()
    os.close(terminal)
    os.waitpid(pid, 0)
    return text


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
class TestWithATerminal:
    def test_a_person_is_found_with_name_and_terminal(self) -> None:
        name = pwd.getpwuid(os.getuid()).pw_name
        assert answer(stdin=True, stderr=True).startswith(f"human {name} {os.getuid()} /dev/")

    def test_a_pipe_on_stdin_is_no_person(self) -> None:
        assert answer(stdin=False, stderr=True).startswith("refused no_terminal")

    def test_a_file_on_stderr_is_no_person(self) -> None:
        assert "stderr is not a terminal" in answer(stdin=True, stderr=False)


def test_without_a_terminal_there_is_nobody() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", CODE],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )
    assert ran.stdout.startswith("refused no_terminal a person must answer at a terminal: /dev/tty")
