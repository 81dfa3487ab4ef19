"""Making the big store: how long it takes, and whether audit and doctor find nothing to say about it."""

from lockgate.store.audit import audit
from lockgate.store.doctor import examine
from lockgate.store.once import read_once
from tests.benchmarks.figures import Figure
from tests.benchmarks.fixture import RUNS, make
from tests.benchmarks.setting import Setting

AUDITED = 200
_SAMPLE = """SELECT run_id FROM runs WHERE rowid % (SELECT max(1, count(*) / ?) FROM runs) = 0
UNION SELECT run_id FROM runs WHERE status = 'waiting' OR steps > 100"""


def measure(setting: Setting) -> list[Figure]:
    with setting.place("fixture") as place:
        path = place / "store" / "state.sqlite"
        made = make(path, runs=setting.size(RUNS, 200), long_steps=setting.size(5_000, 20))
        ids = read_once(path, lambda connection: [row[0] for row in connection.execute(_SAMPLE, (AUDITED,)).fetchall()])
        audited = [read_once(path, lambda connection: audit(connection, run_id)) for run_id in ids]  # noqa: B023
        differing = [f"{one.run_id}: {one.difference}" for one in audited if one.difference is not None]
        findings = [finding.what for finding in examine(path).findings]
        size = path.stat().st_size
    about = f"{made.runs} runs, {made.events} events, {size / 1e6:.0f} MB, synced"
    return [
        Figure(name="making the big store", value=made.seconds, unit="s", at_most=90, note=about),
        Figure(
            name="audits that found a difference",
            value=len(differing),
            unit="runs",
            at_most=0,
            note=f"of {len(ids)} audited {differing[:3]}",
        ),
        Figure(name="findings of doctor", value=len(findings), unit="findings", at_most=0, note=f"{findings[:3]}"),
    ]
