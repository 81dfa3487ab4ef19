"""A store is looked at, copied and audited while its host works, after kill -9 of everything, and after recovery."""

import os
from pathlib import Path

import pytest

from lockgate.host.processes import is_alive
from lockgate.model.errors import Refused
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store import migrations, opening
from lockgate.store.audit import audit
from lockgate.store.backup import back_up
from lockgate.store.doctor import Checkup, examine
from lockgate.store.drill import drill
from lockgate.store.migrations import migrate
from lockgate.store.once import read_once
from lockgate.store.prune import prune
from tests.host.bench import Bench, kill, until

SLOW = """
def slow(ctx):
    log(f"slow {os.getpid()}")
    wait_for("go")
    return {"n": 1}

flow = Workflow("slow", start="first", nodes={"first": compute(lambda ctx: 1), "slow": compute(slow)},
    edges=[edge("first", "slow")])
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    tmp_path.chmod(0o700)
    return Bench(tmp_path)


def looked_at(bench: Bench) -> Checkup:
    found = examine(bench.store, every_run=True, is_alive=is_alive)
    assert found.findings == ()
    return found


def all_agree(bench: Bench, runs: list[str]) -> None:
    for run_id in runs:
        assert read_once(bench.store, lambda connection, r=run_id: audit(connection, r)).difference is None


def test_a_store_is_kept_through_a_kill(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = bench.write(SLOW)
    runs = [bench.start(file) for _ in range(3)]
    with bench.host() as host:
        until(lambda: len(bench.log()) == 3, "three slow steps")
        assert looked_at(bench).facts["host"]["state"] == "live"
        all_agree(bench, runs)
        working = back_up(bench.store, tmp_path / "working.sqlite")
        with monkeypatch.context() as next_version:
            # As the next version of Lockgate would find it: there is something to migrate, and a host.
            next_version.setattr(opening, "SCHEMA_DIGEST", "0" * 64)
            next_version.setattr(migrations, "KNOWN_VERSION", migrations.KNOWN_VERSION + 1)
            with pytest.raises(Refused, match="stop it first") as refused:
                migrate(bench.store, is_alive=is_alive)
            assert refused.value.code == "host_alive"
        workers = [int(line.split()[1]) for line in bench.log()]
        for pid in (host.pid, *workers):
            kill(pid)
        host.wait()
        dead = looked_at(bench)
        assert dead.facts["host"]["state"] == "stale"
        assert any("lockgate host takes over" in remark for remark in dead.remarks)
        all_agree(bench, runs)
    bench.touch("go")
    with bench.host(drain=True) as host:
        host.wait(timeout=20)
    for run_id in runs:
        bench.until_status(run_id, "completed")
    assert looked_at(bench).facts["host"]["state"] == "none"
    all_agree(bench, runs)
    assert drill(Path(working.path), bench.store).problems == ()
    actor = Actor(kind=ActorKind.USER, id="keeper")
    result = prune(bench.store, 2**53, tmp_path / "all.sqlite", actor=actor)
    assert (result.runs, result.changed) == (3, ())
    looked_at(bench)
    assert drill(tmp_path / "all.sqlite", bench.store).problems == ()
    assert os.stat(tmp_path / "all.sqlite").st_mode & 0o777 == 0o600
