"""A process that does anything to a store that hosts, workers and people do, without end, until it is killed.

`python -m tests.store.roaming PATH SEED`: it prints a line for each hundred transactions. Several roam one store; each
works on runs that it claims, takes claims from the others as if they had died, and answers, pauses and cancels.
"""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lockgate.flow import transitions as t
from lockgate.model import records as r
from lockgate.model.errors import ClaimLost, NotFound, Refused
from lockgate.model.statuses import EffectStatus, Outcome, OwnerKind, Recovery, RunStatus
from lockgate.store import claims, commands, heads, reads
from lockgate.store.claims import Owner
from lockgate.store.clock import SystemClock
from lockgate.store.graphs import graph_of

from .conftest import ADA, USER, Bench, change_settings, value

MOST_OPEN = 5


class Roamer(Bench):
    def __init__(self, path: Path, seed: int) -> None:
        super().__init__(path)
        self.clock = SystemClock()  # type: ignore[assignment]
        self.dice = random.Random(seed)
        self.seed = seed
        self.owner = Owner(kind=OwnerKind.PROCESS, id=f"process:{seed}:1")
        self.tokens: dict[str, r.ClaimToken] = {}

    def key(self) -> str:
        return f"{self.seed}-{super().key()}"

    def new_attempt(self) -> str:
        return f"attempt-{self.dice.getrandbits(128):032x}"

    def turn(self) -> None:
        open_ones = self.read(lambda connection: reads.open_runs(connection, 2 * MOST_OPEN))
        if len(open_ones) < MOST_OPEN:
            self.run_id()
            return
        run = self.dice.choice(open_ones)
        act: Callable[[r.Run], Any] = self.dice.choices(
            (self.work, self.work, self.decide_it, self.command_it), (6, 6, 3, 2)
        )[0]
        try:
            act(run)
        except (Refused, ClaimLost, NotFound):
            self.tokens.pop(run.run_id, None)

    def work(self, run: r.Run) -> None:
        token = self.tokens.get(run.run_id)
        if run.queue == "queued":
            self.tokens[run.run_id] = self.claim(run.run_id, self.owner)
        elif token is None or run.claim is None or run.claim.owner_id != self.owner.id:
            if run.claim is not None and self.dice.random() < 0.2:
                self.take_away(run)
        elif run.queue == "starting":
            self.ready(token)
        else:
            self.go_on(token)

    def take_away(self, run: r.Run) -> None:
        detail = self.read(lambda connection: heads.head(connection, run.run_id))
        facts: dict[str, Any] = {"cause": "signal", "counted": self.dice.random() < 0.3, "progressed": True}
        generation = detail.queue.generation
        self.write(lambda tx: claims.lose(tx, run.run_id, generation, actor=self.owner.actor, **facts))

    def go_on(self, token: r.ClaimToken) -> None:
        detail = self.read(lambda connection: reads.run(connection, token.run_id))
        active = next((each for each in detail.attempts if each.finished_at is None), None)
        if active is None or active.status == "interrupted":
            self.start_next(token, detail)
            return
        asked = next((each for each in detail.requests if each.attempt_id == active.attempt_id), None)
        effect = next((e for e in detail.effects if (e.node_id, e.visit) == (active.node_id, active.visit)), None)
        if active.node_id == "send" and (effect is None or effect.status != "applied"):
            if effect is not None and effect.attempt_id == active.attempt_id and effect.status == "applying":
                status = self.dice.choice((EffectStatus.APPLIED, EffectStatus.APPLIED, EffectStatus.AMBIGUOUS))
                told = t.SettleEffect(attempt_id=active.attempt_id, effect_id=effect.effect_id, status=status)
                self.propose(token, told)
            else:
                wish = t.ReserveEffect(attempt_id=active.attempt_id, effect_type="send", recovery=Recovery.MANUAL)
                self.propose(token, wish)
        elif active.node_id == "ask" and asked is None:
            self.ask(token, active.attempt_id)
        elif active.node_id == "decide" and asked is None:
            self.decide(token, active.attempt_id)
        else:
            self.end_attempt(token, active, asked)

    def start_next(self, token: r.ClaimToken, detail: r.RunDetail) -> None:
        done = [each for each in detail.attempts if each.step_index is not None]
        graph = self.read(lambda connection: graph_of(connection, detail.row.definition_digest))
        last = done[-1] if done else None
        node = graph.next(last.node_id, last.outcome, last.switch_value) if last is not None else graph.start
        if node is None and last is not None:
            status = RunStatus.COMPLETED if last.outcome == "ok" else RunStatus.FAILED
            self.propose(token, t.Finish(status=status, output_hash=last.output_hash))
        elif node is not None:
            self.propose(token, t.StartAttempt(attempt_id=self.new_attempt(), node_id=node))

    def end_attempt(self, token: r.ClaimToken, active: r.AttemptRow, asked: r.RequestRow | None) -> None:
        made = value({"at": active.ordinal})
        output, switch = made.hash, None
        if asked is not None and asked.output_hash is not None:
            output, named = asked.output_hash, asked.output_hash
            if active.node_id == "decide":
                switch = json.loads(self.read(lambda connection: reads.value(connection, named)))["choice"]
        ended = t.FinishAttempt(
            attempt_id=active.attempt_id, outcome=Outcome.OK, output_hash=output, switch_value=switch
        )
        self.propose(token, ended, values=(made,))

    def decide_it(self, run: r.Run) -> None:
        if run.request_id is None:
            return
        request = self.read(lambda connection: reads.request(connection, run.request_id))
        if request.kind == "checkpoint":
            checked = self.read(lambda connection: commands.check_submission(connection, request.request_id, {"n": 1}))
            self.write(lambda tx: commands.submit(tx, checked, actor=USER, key=self.key()))
        else:
            choice = self.dice.choice(("again", "again", "go", "stop"))
            text = "because" if choice == "again" else None
            self.answer(request.request_id, request.digest, choice, text=text)

    def command_it(self, run: r.Run) -> None:
        name = self.dice.choices(("pause", "resume", "cancel", "resolve", "set"), (3, 6, 1, 6, 2))[0]
        if name == "resolve":
            detail = self.read(lambda connection: reads.run(connection, run.run_id))
            for effect in detail.effects:
                facts: dict[str, Any] = {"happened": self.dice.random() < 0.5, "output": b"1", "human": ADA}
                self.write(
                    lambda tx, id=effect.effect_id, facts=facts: commands.resolve_effect(
                        tx, id, key=self.key(), **facts
                    )
                )
        elif name == "set":
            patch = [{"op": "replace", "path": "/pace", "value": self.dice.randrange(9)}]
            self.write(lambda tx: change_settings(tx, run.run_id, patch, actor=USER, key=self.key()))
        else:
            act = getattr(commands, name)
            self.write(lambda tx: act(tx, run.run_id, actor=USER, key=self.key()))


def main(path: Path, seed: int) -> None:
    roamer = Roamer(path, seed)
    while True:
        for _ in range(100):
            roamer.turn()
        print("a hundred", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
