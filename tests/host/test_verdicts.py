"""What the end of a launch means for its run: released, lost and counted, lost for no fault, or blocked."""

import pytest

from lockgate.flow.transitions import Block, Lose, Release
from lockgate.host.verdict import Ending, command_for, lost
from lockgate.model.statuses import BlockCode, WorkerStatus


@pytest.mark.parametrize(
    "ending",
    [
        Ending(exit_code=0, exiting="waiting"),
        Ending(exit_code=0, exiting="paused", answered="paused"),
        Ending(exit_code=1, answered="paused"),
        Ending(signal=9, answered="claim_lost", progressed=True),
        Ending(signal=9, stopped="timeout", timed_out=True),
    ],
)
def test_a_worker_that_was_done_releases_the_run(ending: Ending) -> None:
    assert command_for(ending) == Release()


@pytest.mark.parametrize("progressed", [True, False])
def test_a_worker_that_died_is_a_counted_loss(progressed: bool) -> None:
    assert command_for(Ending(signal=9, progressed=progressed)) == Lose(
        cause="signal", counted=True, progressed=progressed, signal=9
    )
    assert command_for(Ending(exit_code=3, progressed=progressed)) == Lose(
        cause="exit", counted=True, progressed=progressed, exit_code=3
    )


def test_a_worker_whose_end_nobody_saw_is_not_counted() -> None:
    assert command_for(Ending(progressed=True)) == Lose(cause="unseen", counted=False, progressed=True)
    assert command_for(Ending(exiting="waiting")) == Release()


@pytest.mark.parametrize("cause", ["host_stopped", "claim_ended", "pause_now"])
def test_a_loss_that_the_host_caused_never_counts(cause: str) -> None:
    command = command_for(Ending(signal=9, stopped=cause, progressed=True))
    assert isinstance(command, Lose)
    assert not command.counted


def test_a_worker_that_was_told_to_go_never_counts_even_where_its_attempt_still_runs() -> None:
    assert not lost(Ending(exit_code=1, answered="paused", progressed=True), "exit").counted


def test_a_worker_past_its_limit_counts_where_its_timeout_could_not_be_committed() -> None:
    command = command_for(Ending(signal=9, stopped="timeout", progressed=True))
    assert isinstance(command, Lose)
    assert command.counted


def test_changed_files_block_by_name() -> None:
    command = command_for(Ending(exit_code=0, files=("/p/a.py", "/p/b.py")))
    assert command == Block(code=BlockCode.SOURCE_CHANGED, detail="/p/a.py, /p/b.py")


def test_files_that_make_another_graph_say_so() -> None:
    command = command_for(Ending(exit_code=0, files=("/p/a.py",), graph_changed=True))
    assert command == Block(code=BlockCode.SOURCE_CHANGED, detail="/p/a.py", graph_changed=True)


def test_a_workflow_that_does_not_load_blocks_with_its_reason() -> None:
    command = command_for(Ending(exit_code=0, load_error="x" * 1_000))
    assert isinstance(command, Block)
    assert command.code is BlockCode.LOAD_FAILED
    assert command.detail is not None
    assert len(command.detail) == 300


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (Ending(exit_code=0, exiting="waiting"), WorkerStatus.EXITED),
        (Ending(exiting="waiting"), WorkerStatus.EXITED),
        (Ending(), WorkerStatus.CRASHED),
        (Ending(exit_code=1), WorkerStatus.CRASHED),
        (Ending(signal=9), WorkerStatus.CRASHED),
        (Ending(signal=15, stopped="claim_ended"), WorkerStatus.STOPPED),
    ],
)
def test_the_worker_row_says_how_it_ended(ending: Ending, status: WorkerStatus) -> None:
    assert ending.worker_status is status
