"""A store that a group shares, used by two real users of the system; and who may answer, as the store says it."""

import grp
import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.model.errors import NotFound, Refused
from lockgate.model.records import Human
from lockgate.store.audit import audit
from lockgate.store.doctor import examine
from lockgate.store.once import read_once
from lockgate.store.policies import policies, set_policy
from lockgate.store.reads.values import store_facts
from lockgate.store.sharing import closed_ancestor, make_shared

from .conftest import ADA, Bench

SOURCE_ROOT = str(Path(lockgate.__file__).parents[1])
GROUP = grp.getgrgid(os.getegid()).gr_name
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become other users")
MANY = [f"user-{number}" for number in range(201)]
STRANGER_GROUP, SHARED_GROUP = "nogroup", "games"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_shared_store_is_the_groups_to_write(tmp_path: Path) -> None:
    path = tmp_path / "team" / "state.sqlite"
    assert make_shared(path, GROUP)
    assert (mode(path.parent), mode(path)) == (0o2770, 0o660)
    bench = Bench(path)
    bench.run_id()
    assert {mode(file) for file in path.parent.iterdir()} == {0o660}
    assert read_once(path, store_facts).shared_group == GROUP
    assert examine(path, clock=bench.clock).findings == ()
    bench.close()
    assert not make_shared(path, GROUP)


def test_what_is_there_is_not_shared_by_surprise(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is there and is private") as refused:
        make_shared(bench.path, GROUP)
    assert refused.value.code == "store_exists"
    with pytest.raises(NotFound, match="no group"):
        make_shared(tmp_path / "x" / "state.sqlite", "nobody-of-that-name")
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "mine" / "diary").write_text("private")
    with pytest.raises(Refused, match="chmod 2770") as refused:
        make_shared(tmp_path / "mine" / "state.sqlite", GROUP)
    assert refused.value.code == "directory_in_use"
    assert (mode(tmp_path / "mine"), [file.name for file in (tmp_path / "mine").iterdir()]) == (0o700, ["diary"])


def test_the_doctor_sees_a_shared_store_that_closed(tmp_path: Path) -> None:
    path = tmp_path / "team" / "state.sqlite"
    make_shared(path, GROUP)
    path.chmod(0o600)
    assert [finding.code for finding in examine(path).findings][:1] == ["closed_to_group"]
    path.chmod(0o660)
    path.parent.chmod(0o700)
    (finding,) = [found for found in examine(path).findings if found.where == str(path.parent)]
    assert finding.action == f"chgrp {GROUP} {path.parent} && chmod 2770 {path.parent}"


def test_a_directory_above_that_keeps_the_group_out_is_told(tmp_path: Path) -> None:
    path = tmp_path / "team" / "state.sqlite"
    make_shared(path, GROUP)
    tmp_path.chmod(0o700)
    assert closed_ancestor(path, GROUP) == tmp_path
    assert any(f"cannot pass {tmp_path}" in remark for remark in examine(path).remarks)
    tmp_path.chmod(0o710)
    assert closed_ancestor(path, GROUP) != tmp_path


# --- two users of the system -------------------------------------------------------------------------------


STEPS = """
import json, os, sys, tempfile
from pathlib import Path
from lockgate.model.errors import LockgateError
from lockgate.model.records import Human
from lockgate.store.doctor import examine
from tests.store.conftest import Bench

def start(bench):
    bench.numbers = iter(range(os.getpid() * 1_000, 10**15))
    return bench.at_decision(started_by_uid=os.getuid())[0]

def answer(bench):
    row = bench.read(lambda c: c.execute("SELECT request_id, digest FROM requests WHERE status = 'pending'").fetchone())
    human = Human(id="cy", uid=os.getuid(), host="desk", tty="pts/1")
    receipt = bench.answer(*row, human=human, key="answer-key")
    return f"{receipt.outcome} {receipt.reason}"

def doctor(path):
    return " ".join(finding.code for finding in examine(path).findings) or "nothing"

with tempfile.TemporaryDirectory() as directory:
    # Everything is imported before a user can no longer read the interpreter's own files.
    bench = Bench(Path(directory) / "state.sqlite")
    start(bench)
    answer(bench)
    doctor(bench.path)
    bench.close()

for name, uid, gids in json.loads(sys.argv[2]):
    child = os.fork()
    if child == 0:
        os.setgroups(gids)
        os.setgid(gids[0])
        os.setuid(uid)
        try:
            if name == "doctor":
                print(doctor(Path(sys.argv[1])), flush=True)
                os._exit(0)
            bench = Bench(Path(sys.argv[1]))
            print({"start": start, "answer": answer}[name](bench), flush=True)
            bench.close()
        except LockgateError as error:
            print(type(error).__name__, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def by_users(path: Path, *steps: tuple[str, int, tuple[str, ...]]) -> list[str]:
    """Each step (start, answer or doctor) by another user, who belongs to these groups; what each of them said."""
    given = [
        (name, uid, [grp.getgrnam(group).gr_gid for group in (STRANGER_GROUP, *groups)]) for name, uid, groups in steps
    ]
    ran = subprocess.run(
        [sys.executable, "-c", STEPS, str(path), json.dumps(given)],
        env={**os.environ, "PYTHONPATH": f"{SOURCE_ROOT}:{Path(__file__).parents[2]}"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout.splitlines()
    assert len(said) == len(steps), ran.stderr
    return said


@pytest.fixture
def team() -> Iterator[Path]:
    """A shared store below directories that everybody may pass (pytest closes its own to others again and again)."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        path = Path(directory) / "team" / "state.sqlite"
        assert make_shared(path, SHARED_GROUP)
        yield path


@ROOT
def test_two_users_of_a_group_write_one_store(team: Path) -> None:
    one, two = (40_001, (SHARED_GROUP,)), (40_002, (SHARED_GROUP,))
    run_id, answered, again, stranger = by_users(
        team, ("start", *one), ("answer", *two), ("start", *one), ("start", 40_003, ())
    )
    assert by_users(team, ("doctor", *two), ("doctor", 40_003, ())) == ["nothing", "store_read_only"]
    assert answered == "accepted None"
    assert again != run_id
    # Who is not in the group is kept out by the directory.
    assert stranger == "StoreReadOnly"
    audited = read_once(team, lambda connection: audit(connection, run_id))
    assert audited.difference is None
    assert [receipt.actor.id for receipt in audited.receipts] == ["cy"]
    assert examine(team).findings == ()


@ROOT
def test_the_user_who_started_it_may_not_approve_it(team: Path) -> None:
    bench = Bench(team)
    bench.write(lambda tx: set_policy(tx, "operator", users=None, self_approval=False, human=ADA))
    bench.close()
    one, two = (40_001, (SHARED_GROUP,)), (40_002, (SHARED_GROUP,))
    _, own, other = by_users(team, ("start", *one), ("answer", *one), ("answer", *two))
    assert own == "rejected not_allowed"
    assert other == "accepted None"


# --- policies ----------------------------------------------------------------------------------------------


def test_a_policy_is_set_and_shown(bench: Bench) -> None:
    def setting(**more: Any) -> Any:
        return bench.write(lambda tx: set_policy(tx, "operator", human=ADA, **more))

    assert bench.read(policies) == ()
    setting(users=["ada", "bo", "ada"], self_approval=False)
    (view,) = bench.read(policies)
    assert (view.policy.users, view.policy.self_approval, view.set_by) == (("ada", "bo"), False, "ada")
    assert view.set_at == bench.clock.wall_ms
    setting(users=None, self_approval=True)
    (view,) = bench.read(policies)
    assert (view.policy.users, view.policy.self_approval) == (None, True)


@pytest.mark.parametrize(
    ("audience", "users"),
    [
        ("two words", None),
        ("", None),
        ("ops", []),
        ("ops", [""]),
        ("ops", ["a b"]),
        ("ops", ["a\n"]),
        ("ops", MANY),
    ],
)
def test_bad_policies_are_refused_before_anything_is_written(bench: Bench, audience: str, users: Any) -> None:
    with pytest.raises(Refused):
        bench.write(lambda tx: set_policy(tx, audience, users=users, self_approval=True, human=ADA))
    assert bench.read(policies) == ()


def test_the_policy_at_the_question_counts_not_the_one_at_the_answer(bench: Bench) -> None:
    bench.write(lambda tx: set_policy(tx, "operator", users=["cy"], self_approval=True, human=ADA))
    run_id, request_id, digest = bench.at_decision()
    bench.write(lambda tx: set_policy(tx, "operator", users=["ada"], self_approval=True, human=ADA))
    refused = bench.answer(request_id, digest)
    assert (refused.outcome, refused.reason) == ("rejected", "not_allowed")
    assert bench.answer(request_id, digest, human=Human.for_test("cy")).outcome == "accepted"
    assert bench.read(lambda connection: audit(connection, run_id)).difference is None
