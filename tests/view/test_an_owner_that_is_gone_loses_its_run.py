"""A run whose host or process was killed is lost at once, not when its lease is over."""

import os
import subprocess
import sys

import pytest

from lockgate.flow.words import word
from lockgate.model.records import ClaimView, HostView
from lockgate.model.statuses import OwnerKind
from lockgate.store.living import pid_exists, process_exists
from lockgate.view.owners import informed
from tests.flow.driver import Driver


def claim(kind: OwnerKind, owner: str) -> ClaimView:
    return ClaimView(owner_kind=kind, owner_id=owner, host_epoch=1, boot_id="boot-1", heartbeat_mono=0, heartbeat_at=0)


def host(host_id: str | None = "host-1", pid: int | None = 77) -> HostView:
    return HostView(
        epoch=1,
        host_id=host_id,
        pid=pid,
        boot_id="boot-1",
        process_start="5",
        started_at=0,
        heartbeat_at=0,
        heartbeat_mono=0,
        capacity=4,
    )


@pytest.mark.parametrize(
    ("held", "living", "gone"),
    [
        (claim(OwnerKind.HOST, "host-1"), {77}, set()),
        (claim(OwnerKind.HOST, "host-1"), set(), {"host-1"}),
        (claim(OwnerKind.HOST, "another"), set(), set()),
        (claim(OwnerKind.PROCESS, "process:31:7"), {31}, set()),
        (claim(OwnerKind.PROCESS, "process:31:7"), {77}, {"process:31:7"}),
    ],
)
def test_owners_are_looked_for_by_their_processes(held: ClaimView, living: set[int], gone: set[str]) -> None:
    now = informed(Driver().clock, [held], host(), exists=living.__contains__)
    assert now.gone == gone


def test_a_killed_owner_that_nobody_has_reaped_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"]) as child:
        held = claim(OwnerKind.PROCESS, f"process:{child.pid}:7")
        assert informed(Driver().clock, [held], host()).gone == frozenset()
        child.kill()
        # It has ended and is kept for its parent to ask about: nothing of it runs any more.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert informed(Driver().clock, [held], host()).gone == {held.owner_id}
        assert not pid_exists(child.pid, "7")


def test_a_process_of_somebody_else_is_there() -> None:
    assert process_exists(1)


def test_the_word_follows_at_once() -> None:
    driver = Driver().run_up()
    driver.begin("work")
    run = driver.view()
    assert run.claim is not None
    assert word(run, driver.clock) == "running"
    dead = informed(driver.clock, [run.claim], host(), exists=lambda pid: False)
    assert word(run, dead) == "lost"
