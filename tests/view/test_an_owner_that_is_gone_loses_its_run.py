"""A run whose host or process was killed is lost at once, not when its lease is over."""

import pytest

from lockgate.flow.words import word
from lockgate.model.records import ClaimView, HostView
from lockgate.model.statuses import OwnerKind
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


def test_the_word_follows_at_once() -> None:
    driver = Driver().run_up()
    driver.begin("work")
    run = driver.view()
    assert run.claim is not None
    assert word(run, driver.clock) == "running"
    dead = informed(driver.clock, [run.claim], host(), exists=lambda pid: False)
    assert word(run, dead) == "lost"
