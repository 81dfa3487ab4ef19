"""A reader that reads only what changed shows what one shows that reads everything anew."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockgate.store import commands
from lockgate.view.reading import Reader
from lockgate.view.snapshots import Interest, Snapshot, StoreFact
from tests.store.conftest import USER, Bench

FACT = StoreFact("state.sqlite")
INTERESTS = (
    Interest(),
    Interest(filter="state:open"),
    Interest(filter="state:overdue"),
    Interest(sort="state", descending=False),
    Interest(sort="title", first=1, count=2),
    Interest(filter="!state:waiting title", tab="steps", decided=True),
    Interest(tab="info"),
)


class World:
    """Runs in every stage of their life, moved on by chance."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.runs: list[str] = []
        self.asked: list[tuple[str, str, str]] = []

    def act(self, what: str, which: int) -> None:
        bench = self.bench
        if what == "start":
            self.runs.append(bench.run_id(title=f"title {len(self.runs)}"))
        elif what == "ask":
            run_id, request_id, digest = bench.at_decision(title=f"title {len(self.runs)}")
            self.runs.append(run_id)
            self.asked.append((run_id, request_id, digest))
        elif what == "answer" and self.asked:
            run_id, request_id, digest = self.asked[which % len(self.asked)]
            if bench.answer(request_id, digest).outcome == "accepted" and which % 2:
                bench.complete(run_id)
        elif what in ("pause", "resume", "cancel") and self.runs:
            command = getattr(commands, what)
            run_id = self.runs[which % len(self.runs)]
            bench.write(lambda tx: command(tx, run_id, actor=USER, key=bench.key()))
        elif what == "pass":
            bench.clock.pass_ms((which + 1) * 9_000)


def look(bench: Bench, reader: Reader, interest: Interest) -> Snapshot:
    shown: Snapshot = bench.read(lambda connection: reader.read(connection, interest, FACT, bench.clock.now()))
    return msgspec.structs.replace(shown, runs=msgspec.structs.replace(shown.runs, ids=None))


steps = st.tuples(
    st.sampled_from(["start", "ask", "answer", "pause", "resume", "cancel", "pass", "pass"]), st.integers(0, 9)
)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rounds=st.lists(st.lists(steps, min_size=1, max_size=3), min_size=1, max_size=6),
    interest=st.sampled_from(INTERESTS),
)
def test_a_reader_never_shows_what_is_not_so(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, int]]], interest: Interest
) -> None:
    bench = Bench(Path(tmp_path_factory.mktemp("world")) / "state.sqlite")
    bench.file.connection.execute("PRAGMA synchronous=OFF")
    try:
        world, reader = World(bench), Reader(whole=True)
        look(bench, reader, interest)
        for changes in rounds:
            for what, which in changes:
                world.act(what, which)
            shown, fresh = look(bench, reader, interest), look(bench, Reader(whole=True), interest)
            for name in Snapshot.__struct_fields__:
                assert getattr(shown, name) == getattr(fresh, name), name
    finally:
        bench.close()
