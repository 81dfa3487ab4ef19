"""What the disk may hold after a power cut: between two acknowledged commits, every way to have written only a part.

The store is written by a process of its own (`python -m tests.store.losing_power PATH`), which says each commit that
was acknowledged and waits: the files are copied by a process that has never opened them. A commit has synced all that
came before it, so only what its successor wrote may be torn; a new header of the log is synced before its frames are.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from lockgate.store import hosts

from .conftest import Bench, value
from .histories import everything

REPOSITORY = Path(__file__).resolve().parents[2]
HEADER = 32
FRAME_HEADER = 24
SECTOR = 512
MIXED = 40


class Disk(NamedTuple):
    """The two files, as whoever copied them found them."""

    main: bytes
    log: bytes


class Cut(NamedTuple):
    """One way to have lost power on the way from the acknowledged `Disk` number `at` to the next; `place` is the byte.

    `lay` makes the files as they are then.
    """

    name: str
    at: int
    place: int
    lay: Callable[[], Disk]


class Story(Bench):
    """Says after each commit that it was acknowledged, and goes on when it is told to."""

    def write(self, fn: Any) -> Any:
        done = super().write(fn)
        self.tell()
        return done

    def tell(self) -> None:
        event = self.file.connection.execute("SELECT max(event_seq) FROM events").fetchone()[0]
        print(json.dumps({"acknowledged": event}), flush=True)
        sys.stdin.readline()


def tell_story(path: Path) -> None:
    """Two generations of the log, the second over what is left of the first; killed in the end, not closed."""
    story = Story(path)
    story.file.connection.execute("PRAGMA synchronous=FULL")
    story.tell()
    host = hosts.Identity(host_id="host-1", pid=1, process_start="1", capacity=4)
    story.write(lambda tx: hosts.take_over(tx, host, lambda pid, start: True))
    everything(story)
    story.file.connection.execute("PRAGMA wal_checkpoint(RESTART)")
    story.tell()
    run_id = story.run_id(title="Long")
    claim = story.claim(run_id)
    story.ready(claim)
    story.step(claim, "work", value("x" * 50_000).content.decode())
    story.clock.pass_ms(10)
    _, request_id, digest = story.at_decision()
    story.answer(request_id, digest)
    os._exit(0)


def acknowledged(room: Path) -> list[tuple[Disk, int | None]]:
    """The files at each acknowledged moment, and the newest event then."""
    path = room / "written.sqlite"
    roads = os.pathsep.join(str(REPOSITORY / part) for part in ("src", "."))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.losing_power", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": roads},
    )
    found: list[tuple[Disk, int | None]] = []
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            main, log = path.read_bytes(), path.with_name(path.name + "-wal").read_bytes()
            known = found[-1][0].main if found else main
            found.append((Disk(known if known == main else main, log), json.loads(line)["acknowledged"]))
            process.stdin.write("\n")
            process.stdin.flush()
    assert process.returncode == 0
    return found


def cuts(disks: list[Disk]) -> Iterator[Cut]:
    """Every cut of every step of the story."""
    for at, (before, after) in enumerate(pairwise(disks)):
        if before.main != after.main:
            yield from _cuts_of_checkpoint(at, before, after)
        if before.log[:HEADER] != after.log[:HEADER]:
            yield from _cuts_of_header(at, before, after)
        if before.log != after.log:
            yield from _cuts_of_frames(at, before, after)


def frames(log: bytes) -> tuple[int, int]:
    """How many frames of the log belong to its header, and the size of each."""
    size = FRAME_HEADER + int.from_bytes(log[8:12], "big")
    count = 0
    while log[HEADER + count * size + 8 : HEADER + count * size + 16] == log[16:24] != b"":
        count += 1
    return count, size


def _cuts_of_checkpoint(at: int, before: Disk, after: Disk) -> Iterator[Cut]:
    """The log is whole while its pages are copied into the main file, in any order."""
    length = len(after.main)

    def mixed(number: int) -> Disk:
        old, dice = before.main.ljust(length, b"\0"), random.Random(number)
        places = range(0, length, SECTOR)
        parts = [(after.main if dice.random() < number / MIXED else old)[place : place + SECTOR] for place in places]
        return Disk(b"".join(parts), before.log)

    def short(place: int) -> Disk:
        return Disk(after.main[:place], before.log)

    for number in range(MIXED):
        yield Cut("a checkpoint, mixed", at, number, partial(mixed, number))
    for place in range(len(before.main), length, 4 * SECTOR):
        yield Cut("a checkpoint, cut", at, place, partial(short, place))


def _cuts_of_header(at: int, before: Disk, after: Disk) -> Iterator[Cut]:
    def torn(place: int, rest: bytes) -> Disk:
        return Disk(before.main, after.log[:place] + rest + before.log[HEADER:])

    for place in range(0, HEADER + 1, 4):
        yield Cut("a header of the log, then as it was", at, place, partial(torn, place, before.log[place:HEADER]))
        yield Cut("a header of the log, then zero", at, place, partial(torn, place, bytes(HEADER - place)))


def _cuts_of_frames(at: int, before: Disk, after: Disk) -> Iterator[Cut]:
    """Written up to a byte, with what was there before behind it, or zeros, or anything; or all but a hole."""
    count, size = frames(after.log)
    known = frames(before.log)[0] if before.log[:HEADER] == after.log[:HEADER] else 0
    begin, end = HEADER + known * size, HEADER + count * size

    def as_it_was(place: int) -> Disk:
        return Disk(after.main, after.log[:place] + before.log[place:])

    def torn(place: int, rest: Callable[[int], bytes]) -> Disk:
        return Disk(after.main, after.log[:place] + rest(end - place) + before.log[end:])

    def hole(first: int, last: int) -> Disk:
        old = before.log[first:last].ljust(last - first, b"\0")
        return Disk(after.main, after.log[:first] + old + after.log[last:])

    for start in range(begin, end, size):
        for place in (start, start + 8, start + FRAME_HEADER + SECTOR, start + size - 1):
            yield Cut("a commit, then as it was", at, place, partial(as_it_was, place))
            yield Cut("a commit, then zero", at, place, partial(torn, place, bytes))
            yield Cut("a commit, then anything", at, place, partial(torn, place, random.Random(place).randbytes))
        yield Cut("a commit but a frame", at, start, partial(hole, start, start + size))
        yield Cut("a commit but a header", at, start, partial(hole, start, start + FRAME_HEADER))
        yield Cut("a commit but half a page", at, start, partial(hole, start + size // 2, start + size))
    yield Cut("a commit", at, end, lambda: after)


if __name__ == "__main__":
    tell_story(Path(sys.argv[1]))
