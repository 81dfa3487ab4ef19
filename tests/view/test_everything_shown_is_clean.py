"""Whatever a workflow, a program or a person wrote: no text of a snapshot can make a terminal do anything."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.flow import transitions as t
from lockgate.flow.contracts import for_checkpoint
from lockgate.model.encoding import sha256
from lockgate.model.records import Value
from lockgate.model.statuses import Outcome, RequestKind
from lockgate.store import outputs
from lockgate.view.cells import plain
from lockgate.view.frames import frame
from lockgate.view.info import info_lines
from lockgate.view.lens import Lens
from lockgate.view.output import output_line
from lockgate.view.reading import Reader
from lockgate.view.shown import shown_request, shown_run
from lockgate.view.snapshots import Interest, Snapshot, StoreFact
from lockgate.view.steps import step_lines
from lockgate.view.trace import payload_lines
from tests.store.conftest import Bench, value
from tests.view.picture import requests, runs

ATTACK = "job \x1b]52;c;cm0gLXJm\x07 \x1b]2;PWNED\x1b\\ \x1b[2J \x9b31m [/red] \u202ebo\u2066 \x00 \x1b]"
BAD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text inside a snapshot, with where it stands."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list | tuple | frozenset):
        for index, item in enumerate(value):
            yield from texts(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, f"{path}.{key}")
    elif isinstance(value, msgspec.Struct):
        yield from texts(msgspec.structs.asdict(value), path)


def dirty(value: Any) -> list[str]:
    return [path for path, text in texts(value) if BAD.search(text)]


@pytest.fixture
def bench(tmp_path: Path):  # type: ignore[no-untyped-def]
    made = Bench(tmp_path / "state.sqlite")
    yield made
    made.close()


def hostile_run(bench: Bench) -> str:
    """A run that has the attack in its title, its values, its error, its output, its updates and its question."""
    run_id = bench.run_id(title=ATTACK.replace("\x00", ""), started_by=ATTACK)
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    update, output = value({"label": ATTACK, "status": ATTACK}), value({ATTACK: [ATTACK]})
    wish = t.PublishUpdate(
        attempt_id=attempt, update_id="update-1", update_type="note", update_key="k", data_hash=update.hash
    )
    bench.propose(claim, wish, values=(update,))
    part = outputs.Written(
        run_id=run_id, attempt_id=attempt, stream="stderr", content=ATTACK.encode("utf-8", "replace")
    )
    bench.write(lambda tx: outputs.append(tx, [part]))
    ended = t.FinishAttempt(
        attempt_id=attempt,
        outcome=Outcome.OK,
        output_hash=output.hash,
        error_hash=output.hash,
        error_summary=ATTACK,
        prompt_hash=output.hash,
    )
    assert bench.propose(claim, ended, values=(output,)).outcome == "accepted"
    bench.finish(claim, bench.begin(claim, "send"), 2)
    contract = for_checkpoint(ATTACK, {"type": "object", "title": ATTACK, "required": ["n"]}).encoded()
    ask = t.WaitForInput(
        attempt_id=bench.begin(claim, "ask"), kind=RequestKind.CHECKPOINT, contract_hash=sha256(contract)
    )
    assert bench.propose(claim, ask, values=(Value(hash=sha256(contract), content=contract),)).outcome == "accepted"
    return run_id


@pytest.mark.parametrize("tab", ["trace", "steps", "output", "info"])
def test_a_hostile_run_is_clean_on_every_tab(bench: Bench, tab: str) -> None:
    run_id = hostile_run(bench)
    now = bench.clock.now()
    shown: Snapshot = bench.read(
        lambda connection: Reader(whole=True).read(
            connection, Interest(run_id=run_id, tab=tab, decided=True), StoreFact("s.sqlite"), now
        )
    )
    assert dirty(shown) == []
    lens = Lens(now, 200, 50)
    lines = frame(shown, lens)
    detail = shown.detail
    assert detail is not None
    for event in detail.trace.rows:
        lines += payload_lines(event, 100, lens)
    for step in detail.steps:
        lines += step_lines(step, detail.step, 100, lens)
    lines += [output_line(line, 100, lens) for line in (detail.output.lines if detail.output else ())]
    lines += info_lines(detail.info, 100, lens) if detail.info else []
    text = "\n".join(plain(line) for line in lines)
    assert not BAD.search(text)
    assert "[/red]" in text


def test_hostile_requests_and_runs_are_clean() -> None:
    texts_of = {"title": ATTACK, "audience": ATTACK, "started_by": ATTACK, "run_title": ATTACK, "workflow": ATTACK}
    blocks = [
        {"kind": "paragraph", "text": ATTACK},
        {"kind": "section", "title": ATTACK},
        {"kind": "bullets", "items": [ATTACK]},
        {"kind": "fields", "items": [{"label": ATTACK, "value": ATTACK}]},
        {"kind": "preformatted", "text": ATTACK},
        {"kind": "unknown", "of": ATTACK},
    ]
    for request in requests():
        made = msgspec.structs.replace(
            request,
            presentation={"summary": ATTACK, "blocks": blocks},
            contract={"title": ATTACK},
            consequences={"publish": ATTACK},
            **texts_of,
        )
        assert dirty(shown_request(made, text=ATTACK)) == []
    for run in runs():
        made_run = msgspec.structs.replace(
            run, title=ATTACK, workflow=ATTACK, error_summary=ATTACK, default_label=ATTACK, started_by=ATTACK
        )
        assert dirty(shown_run(made_run)) == []
