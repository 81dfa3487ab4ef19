"""No event's payload reaches 4 KiB, whatever is put into titles, policies and names."""

from typing import Any

import msgspec
import pytest

from lockgate.flow import transitions as t
from lockgate.flow.choices import Choice, Default
from lockgate.flow.contracts import for_decision
from lockgate.flow.graph import VERSION, Edge, Graph, Mount, NodeSpec, Switch
from lockgate.flow.mounts import MAX_ID_CHARS
from lockgate.flow.presentation import title
from lockgate.model.encoding import canonical, sha256, stored
from lockgate.model.errors import PayloadError, Refused
from lockgate.model.records import Value
from lockgate.model.statuses import Intent, NodeKind, RequestKind
from lockgate.store.policies import set_policy

from .conftest import ADA, SHOWN, Bench, definition

AUDIENCE = "a" * 128
CHOICE = "c" * 128
LONGEST_TITLE = "日" * 200
MOUNT = "m" * 100
NODE = f"{MOUNT}/{'n' * (MAX_ID_CHARS - 101)}"


def longest(bench: Bench) -> int:
    return bench.read(lambda c: c.execute("SELECT max(length(CAST(payload AS BLOB))) FROM events").fetchone()[0])


def policy_sizes(bench: Bench, letter: str) -> int:
    """Sets larger and larger policies, of names made of one letter, until one is refused; how many were taken."""
    for count in range(1, 100):
        users = [f"{letter * 3}{number:02d}" for number in range(count)]
        try:
            bench.write(lambda tx, users=users: set_policy(tx, AUDIENCE, users=users, self_approval=False, human=ADA))
        except Refused:
            return count - 1
    return 99


def long_names() -> Graph:
    """A decision in an include, each of its names as long as it may be."""
    decision = NodeSpec(
        kind=NodeKind.HUMAN_DECISION,
        audience=AUDIENCE,
        choices=(Choice(key=CHOICE, label="Stop", intent=Intent.REJECT),),
        default=Default(choice=CHOICE, after_ms=10**13),
    )
    way_out = f"{MOUNT}.done"
    return Graph(
        version=VERSION,
        name="w" * 80,
        start=MOUNT,
        max_steps=100,
        nodes={
            MOUNT: NodeSpec(kind=NodeKind.COMPUTE),
            NODE: decision,
            f"{MOUNT}/end": NodeSpec(kind=NodeKind.COMPUTE),
            way_out: NodeSpec(kind=NodeKind.COMPUTE),
        },
        edges=(
            Edge(source=MOUNT, to=NODE),
            Edge(source=NODE, switch=Switch(on="$.choice", cases={CHOICE: f"{MOUNT}/end"})),
            Edge(source=f"{MOUNT}/end", to=way_out),
        ),
        mounts={MOUNT: Mount(workflow="v" * 80, max_steps=100, exits={"done": f"{MOUNT}/end"})},
    )


def ask(bench: Bench, **more: Any) -> None:
    """Brings a run with these facts to that decision."""
    claim = bench.claim(bench.run_id(made=definition(long_names()), **more))
    bench.ready(claim)
    bench.step(claim, MOUNT)
    choices = long_names().nodes[NODE].choices
    contract = for_decision(LONGEST_TITLE, SHOWN, choices).encoded()
    parts = [contract, stored(None), canonical(msgspec.to_builtins(SHOWN)), canonical(msgspec.to_builtins(choices))]
    values = tuple(Value(hash=sha256(part), content=part) for part in parts)
    seen, subject, shown, offered = (value.hash for value in values)
    wish = t.DecisionAsk(
        audience=AUDIENCE,
        title=title(LONGEST_TITLE),
        subject_hash=subject,
        presentation_hash=shown,
        choices_hash=offered,
        choices=choices,
        seconds=10**10,
        default=CHOICE,
    )
    wait = t.WaitForInput(attempt_id=bench.begin(claim, NODE), kind=RequestKind.DECISION, contract_hash=seen, ask=wish)
    reply = bench.propose(claim, wait, values=values)
    assert reply.outcome == "accepted", reply


@pytest.mark.parametrize("letter", ["u", '"', "\\"])
def test_a_decision_of_the_longest_names_under_the_largest_policy(bench: Bench, letter: str) -> None:
    assert policy_sizes(bench, letter) < 99
    ask(bench)
    assert 3_800 < longest(bench) < 4_096


def test_a_start_from_the_longest_paths_with_the_longest_title(bench: Bench) -> None:
    made = msgspec.structs.replace(definition(long_names()), workflow_ref="/" + "p" * 1_050)
    ask(bench, title="\x1b" * 333, started_by="b" * 128)
    bench.start(made=made, title="\x1b" * 333, started_by="b" * 128)
    assert 3_800 < longest(bench) < 4_096


def test_what_would_not_fit_is_refused_with_its_size(bench: Bench) -> None:
    with pytest.raises(PayloadError, match="at most 2000 bytes of JSON, got 3002 bytes"):
        bench.run_id(title="\x1b" * 500)
    users = [f"{'u' * 60}{number:03d}" for number in range(30)]
    with pytest.raises(Refused, match=r"at most 1000 bytes in a decision's event, got 2104"):
        bench.write(lambda tx: set_policy(tx, "operator", users=users, self_approval=True, human=ADA))
    far = msgspec.structs.replace(definition(), workflow_ref="/" + "p" * 1_200)
    with pytest.raises(PayloadError, match=r"the workflow's path: at most 1200 bytes of JSON .*, got 12"):
        bench.start(made=far)
    assert len(stored(LONGEST_TITLE)) == 602
    with pytest.raises(PayloadError, match="at most 200 UTF-16 units, got 201"):
        title(LONGEST_TITLE + ".")
