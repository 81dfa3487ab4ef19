"""A launch that cannot work is not tried again by itself: dead at once, changed files, files that do not load."""

import sqlite3
from contextlib import closing

import pytest

from lockgate.host import supervisor
from lockgate.model.records import Run
from lockgate.store import commands
from lockgate.store.doctor import examine
from tests.host.bench import Bench, kill, until

DIES_AT_ONCE = """
if os.environ.get("LOCKGATE_RUN_ID"):
    log("launch")
    print("a last word", file=sys.stderr)
    os._exit(9)
flow = Workflow("dies", start="n", nodes={"n": compute(lambda ctx: {})})
"""

GOES_ON = """
def work(ctx):
    log("worked")
    return {}
flow = Workflow("works", start="n", nodes={"n": compute(work)})
"""


def blocked_by(bench: Bench, run_id: str, code: str) -> Run:
    run = bench.until_blocked(run_id)
    assert run.error_code == code
    assert run.queue == "parked"
    return run


def test_a_launch_that_dies_at_once_is_blocked_after_one_and_resume_allows_one_more(bench: Bench) -> None:
    run_id = bench.start(bench.write(DIES_AT_ONCE))
    other = bench.start(bench.write(GOES_ON, "other.py"))
    with bench.host_here():
        run = blocked_by(bench, run_id, "worker_lost")
        assert run.error_summary == "the worker ended with exit code 9"
        bench.until_status(other, "completed")
        assert bench.log().count("launch") == 1
        assert bench.stderr(run_id) == ["a last word\n"]
        assert bench.command(commands.resume, run_id).outcome == "accepted"
        until(lambda: bench.log().count("launch") == 2, "the second launch")
        blocked_by(bench, run_id, "worker_lost")
        # The host is alive and has looked again: another run goes through, this one stays.
        third = bench.start(bench.write(GOES_ON, "third.py"))
        bench.until_status(third, "completed")
    assert bench.log().count("launch") == 2
    assert bench.events(run_id).count("run_claimed") == 2


def test_changed_files_block_by_name_and_can_be_accepted(bench: Bench) -> None:
    file = bench.write(GOES_ON)
    run_id = bench.start(file)
    file.write_text(file.read_text() + "# changed\n")
    with bench.host_here():
        run = blocked_by(bench, run_id, "source_changed")
        assert str(file) in (run.error_summary or "")
        assert bench.log() == []
        bench.command(commands.resume, run_id)
        until(lambda: bench.events(run_id).count("run_blocked") == 2, "blocked again")
        bench.command(commands.resume, run_id, accept=bench.definition(file))
        bench.until_status(run_id, "completed")
    assert bench.log() == ["worked"]


def test_a_changed_graph_blocks_even_where_the_files_are_the_same(bench: Bench) -> None:
    file = bench.write(
        """
        extra = {"more": compute(lambda ctx: {})} if (HERE / "more").exists() else {}
        flow = Workflow("grows", start="n", nodes={"n": compute(lambda ctx: {}), **extra},
            edges=[edge("n", "more")] if extra else [])
        """
    )
    run_id = bench.start(file)
    bench.touch("more")
    with bench.host_here():
        run = blocked_by(bench, run_id, "graph_changed")
    assert str(file) in (run.error_summary or "")


def test_changed_files_that_make_another_graph_are_told_apart_from_those_that_do_not(bench: Bench) -> None:
    file = bench.write(GOES_ON)
    run_id = bench.start(file)
    file.write_text(file.read_text().replace('"n"', '"renamed"'))
    with bench.host_here():
        blocked_by(bench, run_id, "graph_changed")
        assert bench.command(commands.resume, run_id, accept=bench.definition(file)).reason == "graph_changed"
        assert bench.command(commands.cancel, run_id).outcome == "accepted"
    assert bench.log() == []


def test_a_file_that_does_not_load_any_more_blocks_with_line_and_reason(bench: Bench) -> None:
    file = bench.write("if (HERE / 'broken').exists(): raise RuntimeError('not today')\n" + GOES_ON)
    run_id = bench.start(file)
    bench.touch("broken")
    with bench.host_here():
        run = blocked_by(bench, run_id, "load_failed")
    assert "RuntimeError: not today" in (run.error_summary or "")


def test_a_project_that_is_gone_blocks(bench: Bench) -> None:
    file = bench.write(GOES_ON)
    run_id = bench.start(file)
    bench.project.rename(bench.project.with_name("elsewhere"))
    with bench.host_here():
        run = blocked_by(bench, run_id, "load_failed")
    assert str(bench.project) in (run.error_summary or "")


def test_a_file_that_hangs_while_it_is_loaded_blocks_and_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOAD_LIMIT_S", 0.5)
    file = bench.write("while (HERE / 'hangs').exists(): time.sleep(0.01)\n" + GOES_ON)
    run_id = bench.start(file)
    bench.touch("hangs")
    with bench.host_here():
        run = blocked_by(bench, run_id, "load_failed")
    assert run.error_summary == "the workflow was not loaded within 30 s"


def test_a_definition_that_cannot_be_read_blocks_its_run_and_holds_up_no_other(bench: Bench) -> None:
    broken = bench.start(bench.write(DIES_AT_ONCE))
    sound = bench.start(bench.write(GOES_ON, "other.py"))
    with closing(sqlite3.connect(bench.store, isolation_level=None)) as connection:
        connection.execute("UPDATE definitions SET document = x'7b7d' WHERE name = 'dies'")
    with bench.host(drain=True) as host:
        assert host.wait(timeout=15) == 0
    assert bench.run(sound).status == "completed"
    assert blocked_by(bench, broken, "load_failed").status == "queued"


def test_a_run_that_cannot_be_read_is_told_once_and_holds_up_nobody(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    broken = bench.start(bench.write(GOES_ON))
    with closing(sqlite3.connect(bench.store)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("UPDATE runs SET clock = 'never' WHERE run_id = ?", (broken,))
        connection.commit()
    with bench.host_here():
        for name in ("second.py", "third.py"):
            bench.until_status(bench.start(bench.write(GOES_ON, name)), "completed")
    told = [record.getMessage() for record in caplog.records if broken in record.getMessage()]
    assert len(told) == 1
    assert "cannot be read and is left alone" in told[0]
    (finding,) = (one for one in examine(bench.store).findings if broken in one.where)
    assert finding.code == "rows_differ"


WAITS = """
def work(ctx):
    log("begun")
    wait_for("go")
    return {}
flow = Workflow("waits", start="n", nodes={"n": compute(work)})
"""

DAMAGES = (
    "UPDATE runs SET clock = 'never' WHERE run_id = ?",
    "UPDATE node_attempts SET status = 'never' WHERE run_id = ?",
    "UPDATE run_queue SET owner_kind = 'never' WHERE run_id = ?",
    "UPDATE runs SET revision = revision - 1 WHERE run_id = ?",
)


def test_runs_that_are_damaged_while_they_are_executed_are_named_and_end_no_host(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    file = bench.write(WAITS)
    broken = [bench.start(file) for _ in DAMAGES]
    sound = bench.write(GOES_ON, "sound.py")
    with bench.host_here():
        bench.until_logged("begun", len(DAMAGES))
        with closing(sqlite3.connect(bench.store)) as connection:
            connection.execute("PRAGMA ignore_check_constraints=ON")
            for damage, run_id in zip(DAMAGES, broken, strict=True):
                connection.execute(damage, (run_id,))
            connection.commit()
        # One of them dies, the others finish.
        kill(bench.worker_pid(broken[0]))
        bench.touch("go")
        until(lambda: all(run_id in caplog.text for run_id in broken), lambda: caplog.text)
        bench.until_status(bench.start(sound), "completed")
        until(lambda: not bench.rows("SELECT 1 FROM run_workers WHERE finished_at IS NULL"), "every launch ended")
    with bench.host_here():
        bench.until_status(bench.start(bench.write(GOES_ON, "next.py")), "completed")


def test_a_drained_store_has_no_run_left_that_only_waits_for_its_next_try(bench: Bench) -> None:
    damaged = bench.start(bench.write(GOES_ON))
    body = """
    def dies(ctx):
        log("tried")
        if len((HERE / "log").read_text().splitlines()) < 3:
            os._exit(3)
        return {}
    flow = Workflow("dies", start="n", nodes={"n": compute(dies)})
    """
    tried = bench.start(bench.write(body, "dies.py"))
    with closing(sqlite3.connect(bench.store)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("UPDATE runs SET clock = 'never' WHERE run_id = ?", (damaged,))
        connection.commit()
    with bench.host(drain=True, quiet=True) as host:
        assert host.wait(timeout=15) == 0
    assert bench.run(tried).status == "completed"
