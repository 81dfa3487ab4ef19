"""A transition at step 10,000 against one at step 10: CPU of the whole commit, at synchronous=OFF."""

import gc
import secrets
import time
from pathlib import Path
from statistics import median

from lockgate import Workflow, compute, edge
from lockgate.engine.checking import described
from lockgate.flow.transitions import AnyProposal, FinishAttempt, StartAttempt
from lockgate.host.starting import new_run
from lockgate.model import ids
from lockgate.model.encoding import sha256, stored
from lockgate.model.records import ClaimToken, Value
from lockgate.model.statuses import Outcome, OwnerKind
from lockgate.store import claims, commands
from lockgate.store.clock import SystemClock
from lockgate.store.commits import commit_proposals
from lockgate.store.openfile import open_file
from lockgate.store.shell import new_key
from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.setting import Setting

LATE, EARLY, SAMPLE, ROUNDS = 10_000, 10, 40, 25


def measure(setting: Setting) -> list[Figure]:
    late = setting.size(LATE, 100)
    with setting.place("history") as place:
        runs = Runs(place)
        try:
            old = Walker(runs)
            old.steps(late)
            pairs = [runs.pair(old) for _ in range(max(3, setting.size(ROUNDS)))]
        finally:
            runs.file.close()
    early, later = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    note = f"CPU of one commit [finishAttempt, startAttempt]; medians of {len(pairs)} alternating samples of {SAMPLE}"
    return [
        Figure(name=f"a step at step {EARLY}", value=median(early), unit="us CPU", note=note),
        Figure(name=f"a step at step {late}", value=median(later), unit="us CPU", note=note),
        middle(f"step {late} / step {EARLY}", [b / a for a, b in pairs], "x", at_most=1.2, note=note),
    ]


class Runs:
    """One store with runs of a loop, written without waiting for the disk: the figure is about the CPU."""

    def __init__(self, place: Path) -> None:
        self.clock = SystemClock()
        self.file = open_file(place / "state.sqlite", self.clock, create=True)
        self.file.connection.execute("PRAGMA synchronous=OFF")
        loop = Workflow(
            "loop", start="work", nodes={"work": compute(_work)}, edges=[edge("work", "work")], max_steps=1_000_000
        )
        self.new, self.actor = new_run(described(loop).definition, b"{}", None)

    def pair(self, old: "Walker") -> tuple[float, float]:
        """CPU microseconds of a step of a young run and of the old one, one sample right after the other."""
        young = Walker(self)
        young.steps(EARLY)
        gc.collect()
        return young.steps(SAMPLE), old.steps(SAMPLE)


class Walker:
    """Takes steps of one run as its claim's holder."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        owner = claims.Owner(kind=OwnerKind.PROCESS, id="bench")

        def begin(tx: object) -> ClaimToken:
            run_id = commands.start(tx, runs.new, actor=runs.actor, key=new_key()).run_id  # type: ignore[arg-type]
            claimed = claims.claim(tx, run_id or "", owner)  # type: ignore[arg-type]
            claims.ready(tx, claimed.claim, runs.new.definition.sources)  # type: ignore[arg-type]
            return claimed.claim

        self._claim = runs.file.write(begin, runs.clock)
        self._attempt, first = self._start()
        self._commit((first,), ())

    def steps(self, count: int) -> float:
        """Takes steps; the CPU microseconds of one."""
        made = []
        for number in range(count):
            content = stored({"n": number})
            value = Value(hash=sha256(content), content=content)
            following, start = self._start()
            finish = FinishAttempt(attempt_id=self._attempt, outcome=Outcome.OK, output_hash=value.hash)
            self._attempt = following
            made.append(((finish, start), (value,)))
        began = time.process_time()
        for proposals, values in made:
            self._commit(proposals, values)
        return (time.process_time() - began) / count * 1e6

    def _start(self) -> tuple[str, StartAttempt]:
        attempt = ids.attempt_id(secrets.token_hex(16))
        return attempt, StartAttempt(attempt_id=attempt, node_id="work")

    def _commit(self, proposals: tuple[AnyProposal, ...], values: tuple[Value, ...]) -> None:
        reply = self._runs.file.write(lambda tx: commit_proposals(tx, self._claim, proposals, values), self._runs.clock)
        assert reply.outcome == "accepted", reply


def _work(ctx: object) -> dict[str, int]:
    return {"n": 1}
