"""No event's payload reaches 4 KiB, whatever is put into titles, policies and names."""

from enum import StrEnum
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from lockgate.flow import transitions as t
from lockgate.flow.choices import Choice, Default
from lockgate.flow.contracts import for_decision
from lockgate.flow.graph import VERSION, Edge, Graph, Mount, NodeSpec, Switch
from lockgate.flow.mounts import MAX_ID_CHARS
from lockgate.flow.presentation import title
from lockgate.flow.switches import MAX_SWITCH_CHARS
from lockgate.model.encoding import canonical, sha256, stored
from lockgate.model.errors import PayloadError, Refused
from lockgate.model.events import PAYLOADS, SUMMARY_CHARS
from lockgate.model.records import Value
from lockgate.model.statuses import Intent, NodeKind, RequestKind
from lockgate.store.commands.starts import MOST_PLACE_BYTES
from lockgate.store.policies import MOST_BYTES, set_policy
from lockgate.store.prune import MOST_RECEIPTS_INLINE

from .conftest import ADA, SHOWN, Bench, definition

AUDIENCE = "a" * 128
CHOICE = "c" * 128
LONGEST_TITLE = "日" * 200
MOUNT = "m" * 100
NODE = f"{MOUNT}/{'n' * (MAX_ID_CHARS - 101)}"


def longest(bench: Bench) -> int | None:
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
    assert 3_800 < (longest(bench) or 0) < 4_096


def test_a_start_from_the_longest_paths_with_the_longest_title(bench: Bench) -> None:
    made = msgspec.structs.replace(definition(long_names()), workflow_ref="/" + "p" * 1_050)
    ask(bench, title="\x1b" * 333, started_by="b" * 128)
    bench.start(made=made, title="\x1b" * 333, started_by="b" * 128)
    assert 3_800 < (longest(bench) or 0) < 4_096


def test_what_would_not_fit_is_refused_with_its_size(bench: Bench) -> None:
    with pytest.raises(PayloadError, match="at most 2000 bytes of JSON, got 3002 bytes"):
        bench.run_id(title="\x1b" * 500)
    users = [f"{'u' * 60}{number:03d}" for number in range(30)]
    with pytest.raises(Refused, match=r"at most 1000 bytes in a decision's event, got 2104"):
        bench.write(lambda tx: set_policy(tx, "operator", users=users, self_approval=True, human=ADA))
    far = msgspec.structs.replace(definition(), workflow_ref="/" + "p" * 1_200)
    with pytest.raises(PayloadError, match=r"the workflow's path: at most 1200 bytes of JSON .*, got 12"):
        bench.start(made=far)
    assert longest(bench) is None
    assert len(stored(LONGEST_TITLE)) == 602
    with pytest.raises(PayloadError, match="at most 200 UTF-16 units, got 201"):
        title(LONGEST_TITLE + ".")


HASH = "f" * 64
RUN = f"{'20261129T140211Z'}-{'w' * 80}-{'0' * 8}"
ATTEMPT = f"attempt-{'f' * 32}"
MADE = "f" * 40
SHORT = "\x1f" * SUMMARY_CHARS
ACTOR = "\U0001f600" * 128
NUMBER = 2**53 - 1

NULL = {
    "RunQueued.clocks",
    "RequestRow.accepted_submission_id",
    "RequestRow.output_hash",
    "RequestRow.settled_at",
    "RequestRow.consumed_at",
}
"""A run that is born has no clocks yet, and the request of an event is one that nobody has answered."""

LONGEST: dict[str, str] = {
    "Birth.title": "\x1b" * 333,
    "actor_id": ACTOR,
    "attempt_id": ATTEMPT,
    "audience": AUDIENCE,
    "boot_id": "b" * 36,
    "cause": "c" * 64,
    "chain_head": HASH,
    "change_id": f"{RUN}:{NODE}:{NUMBER}:{NUMBER}",
    "channel": "c" * 128,
    "choice": CHOICE,
    "code": "c" * 64,
    "decision_id": f"decision-{MADE}",
    "default_choice": CHOICE,
    "detail": SHORT,
    "effect_id": f"effect-{MADE}",
    "effect_type": "e" * 128,
    "error_code": "c" * 64,
    "error_summary": SHORT,
    "exit": "e" * 128,
    "mount_path": NODE,
    "node": NODE,
    "node_id": NODE,
    "outcome": "o" * 64,
    "owner_id": "o" * 128,
    "policy": "u" * (MOST_BYTES - 2),
    "project_dir": "/",
    "resolved_by": ACTOR,
    "scope_id": f"{RUN}:{NODE}:{NUMBER}",
    "source": "s" * 64,
    "started_by": "b" * 128,
    "summary": SHORT,
    "switch_value": "\x1f" * MAX_SWITCH_CHARS,
    "title": LONGEST_TITLE,
    "update_key": "k" * 128,
    "update_type": "t" * 64,
    "workflow": "w" * 80,
    "workflow_ref": "p" * (MOST_PLACE_BYTES - 12 - 128),
}
"""A text of each field as long as its rule lets it be, and of the characters that take most in JSON."""


ENDINGS = {
    "run_id": RUN,
    "attempt_id": ATTEMPT,
    "request_id": f"decision-{MADE}",
    "submission_id": f"submission-{MADE}",
    "update_id": f"update-{'f' * 32}",
    "winner": f"submission-{MADE}",
    "digest": HASH,
    "hash": HASH,
    "hashes": HASH,
}


def text(owner: str, field: str) -> str:
    for name in (f"{owner}.{field}", field):
        if name in LONGEST:
            return LONGEST[name]
    # A field that no rule is known for is one that may have any length.
    return next(made for ending, made in ENDINGS.items() if field.endswith(ending))


def largest(of: Any, owner: str = "", field: str = "") -> Any:
    """A value of this type as large as it may be."""
    if f"{owner}.{field}" in NULL:
        return None
    kinds = [kind for kind in get_args(of) if kind is not type(None)]
    if get_origin(of) is list:
        return [largest(kinds[0], owner, field)] * MOST_RECEIPTS_INLINE
    if kinds:
        return largest(kinds[0], owner, field)
    if issubclass(of, msgspec.Struct):
        return of(**{name: largest(hint, of.__name__, name) for name, hint in get_type_hints(of).items()})
    if issubclass(of, StrEnum):
        return max(of, key=len)
    return {str: lambda: text(owner, field), bool: lambda: False, int: lambda: NUMBER}[of]()


@pytest.mark.parametrize("type", PAYLOADS)
def test_every_event_is_small_with_all_that_is_in_it_at_its_longest(type: str) -> None:
    assert len(stored(largest(PAYLOADS[type]))) < 4_096
