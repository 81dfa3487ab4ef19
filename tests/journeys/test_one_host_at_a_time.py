"""A host says that it is one once the store is its own; a second one is told who holds it, and says nothing else."""

import subprocess

from tests.journeys.conftest import COMMAND, Home, until


def ended(home: Home, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [*COMMAND, "--db", str(home.store), "host", *arguments]
    nothing = subprocess.DEVNULL
    return subprocess.run(
        command, cwd=home.directory, env=home.environment, stdin=nothing, capture_output=True, text=True
    )


def test_a_second_host_is_refused_before_it_calls_itself_one(home: Home) -> None:
    alone = ended(home, "--drain")
    assert alone.returncode == 0
    assert alone.stderr == f"host of {home.store}, 4 runs at once, until nothing can be claimed\n"
    with home.host() as first:
        until(lambda: home.host_pid() == first.pid, "the first holds the store")
        second = ended(home)
    assert (second.returncode, second.stdout) == (5, "")
    assert second.stderr == f"lockgate: host pid {first.pid} holds this store\n"
