"""Three processes race for the same decisions: approve, reject, and the deadline's default. One winner each.

Afterwards every decision must have one resolution, one event that says the same, and receipts that agree with it.
"""

import json
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lockgate.store.once import read_once
from tests.benchmarks.figures import Figure
from tests.benchmarks.fixture import make
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import companion, line_of

DECISIONS, APART_MS, WEEK_S = 3_000, 5, 7 * 86_400
WHO = ("approve", "reject", "expire")
_WINNERS = "SELECT decision_id, provenance, actor_id FROM human_decision_resolutions"
_EVENTS = """SELECT e.payload FROM events e WHERE e.type = 'decision_accepted'"""
_OPEN = "SELECT count(*) FROM requests WHERE status = 'pending'"


def measure(setting: Setting) -> list[Figure]:
    decisions = setting.size(DECISIONS, 20)
    with setting.place("contest") as place:
        path = place / "store" / "state.sqlite"
        make(path, runs=decisions, waiting=decisions, long_steps=0, deadline_s=WEEK_S)
        told = _race(path)
        won = {row[0]: _who(row[1], row[2]) for row in _ask(path, _WINNERS)}
        said = [_winner_of(json.loads(row[0])) for row in _ask(path, _EVENTS)]
        pending = _ask(path, _OPEN)[0][0]
    wrong = _disagreements(won, dict(said), told) + (len(said) - len(dict(said)))
    wins = Counter(won.values())
    note = f"wins {', '.join(f'{who} {wins[who]}' for who in WHO)}, one decision every {APART_MS} ms"
    return [
        Figure(name="decisions with one winner", value=len(won), unit="decisions", at_least=decisions, note=note),
        Figure(name="disagreements", value=wrong, unit="decisions", at_most=0, note="of row, event and receipts"),
        Figure(name="decisions left open", value=pending, unit="decisions", at_most=0),
    ]


def _race(path: Path) -> dict[str, dict[str, list[Any]]]:
    """What each process was told about each decision."""
    with ExitStack() as stack:
        racers = {who: stack.enter_context(companion("deciding", str(path), who)) for who in WHO}
        for racer in racers.values():
            assert line_of(racer) == "ready"
        start = time.monotonic_ns() + 200_000_000
        for racer in racers.values():
            assert racer.stdin is not None
            racer.stdin.write(f"{start} {APART_MS * 1_000_000}\n")
            racer.stdin.flush()
        told = {who: json.loads(line_of(racer)) for who, racer in racers.items()}
    return {who: {row[0]: row[1:] for row in rows} for who, rows in told.items()}


def _ask(path: Path, question: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = read_once(path, lambda connection: connection.execute(question).fetchall())
    return found


def _who(provenance: str, actor: str) -> str:
    return actor if provenance == "human" else "expire"


def _winner_of(payload: dict[str, Any]) -> tuple[str, str]:
    resolution = payload["resolution"]
    return resolution["decision_id"], _who(resolution["provenance"], resolution["actor_id"])


def _disagreements(won: dict[str, str], said: dict[str, str], told: dict[str, dict[str, list[Any]]]) -> int:
    """Decisions about which the row, the event and the three receipts do not say the same."""
    wrong = 0
    for decision, winner in won.items():
        accepted = [who for who in WHO if told[who][decision][0] == "accepted"]
        losers = [told[who][decision] for who in WHO if who != winner]
        heard = all(outcome == "conflict" and reason == "already_resolved" for outcome, reason, _ in losers)
        wrong += not (said.get(decision) == winner and accepted == [winner] and heard)
    return wrong
