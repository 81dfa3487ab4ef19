"""Whatever a power cut leaves of the commit that was under way, the store opens, fully old or fully new, and sound.

The default run takes a sample whose seed it prints (LOCKGATE_TEST_SEED repeats it); `-m slow` takes every cut.
"""

import os
import random
from pathlib import Path

import pytest

from lockgate.store.doctor import examine
from lockgate.store.openfile import open_file

from .conftest import HandClock
from .crashing import Dump, check_whole, dump
from .losing_power import Cut, Disk, acknowledged, cuts, frames

SEED = int(os.environ.get("LOCKGATE_TEST_SEED") or random.randrange(1 << 30))
SAMPLED = 40


class Lab:
    """Lays files out as the power cut left them, and looks at what they are then."""

    def __init__(self, room: Path, disks: list[Disk]) -> None:
        self.path = room / "cut" / "state.sqlite"
        self.path.parent.mkdir(mode=0o700)
        self.disks = disks
        self._known: dict[int, Dump] = {}

    def rows(self, at: int) -> Dump:
        """What was acknowledged at this moment."""
        if at not in self._known:
            self._known[at] = self.opened(self.disks[at])
        return self._known[at]

    def opened(self, disk: Disk) -> Dump:
        for left in self.path.parent.iterdir():
            left.unlink()
        self.path.write_bytes(disk.main)
        self.path.chmod(0o600)
        self.path.with_name("state.sqlite-wal").write_bytes(disk.log)
        open_file(self.path, HandClock()).close()
        return dump(self.path)

    def examine(self, cut: Cut) -> None:
        """A commit is there if every byte of it is; the log of a checkpoint holds what the main file may lack."""
        disk, after = cut.lay(), self.disks[cut.at + 1]
        wanted = self.rows(cut.at + 1 if disk.log == after.log else cut.at)
        assert self.opened(disk) == wanted, f"LOCKGATE_TEST_SEED={SEED} {cut}"
        check_whole(self.path)
        assert examine(self.path, every_run=True).findings == (), cut


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Disk, int | None]]:
    return acknowledged(tmp_path_factory.mktemp("written"))


@pytest.fixture
def lab(told: list[tuple[Disk, int | None]], tmp_path: Path) -> Lab:
    return Lab(tmp_path, [disk for disk, _ in told])


def test_the_story_is_one_of_two_logs_and_every_commit_of_it_is_there(
    lab: Lab, told: list[tuple[Disk, int | None]]
) -> None:
    assert len({disk.log[16:24] for disk, _ in told if disk.log}) == 2
    last, at_restart = lab.disks[-1], next(at for at, disk in enumerate(lab.disks) if disk.main != lab.disks[0].main)
    count, size = frames(last.log)
    assert len(last.log) > 32 + count * size, "the second log is written over the end of the first"
    for at in (0, at_restart, at_restart + 1, len(told) - 1):
        events = [row[0] for row in lab.rows(at)["events"]]
        assert max(events, default=None) == told[at][1]


def test_a_sample_of_the_cuts(lab: Lab) -> None:
    print(f"LOCKGATE_TEST_SEED={SEED}")
    every = list(cuts(lab.disks))
    kinds = {cut.name: cut for cut in every}
    for cut in (*kinds.values(), *random.Random(SEED).sample(every, SAMPLED)):
        lab.examine(cut)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_every_cut(lab: Lab) -> None:
    for cut in cuts(lab.disks):
        lab.examine(cut)
