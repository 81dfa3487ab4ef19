"""The commands that keep a store, as a pipe sees them: what they print, and how they end."""

import grp
import json
import os
import pwd
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

import lockgate as lockgate_package
from lockgate.cli.keeping import duration_ms
from tests.cli.conftest import Command, Said, hold
from tests.store import histories
from tests.store.conftest import Bench

V1 = Path(__file__).resolve().parents[1] / "store" / "data" / "v1.sqlite"


@pytest.fixture
def store(home: Path) -> Path:
    return home / "store" / "state.sqlite"


@pytest.fixture
def run_id(store: Path) -> str:
    """A finished run with an accepted human decision, in a store that nobody uses."""
    store.parent.mkdir(mode=0o700)
    bench = Bench(store)
    found = histories.everything(bench)
    bench.close()
    return found


def change(store: Path, statement: str) -> None:
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute(statement)
    connection.close()


def held(said: Said, name: str, code: int = 0) -> Any:
    assert said.code == code, said
    hold(said.document, name)
    return said.document


# --- audit -------------------------------------------------------------------------------------------------


def test_an_audit_prints_each_decision_with_its_receipt(lockgate: Command, run_id: str) -> None:
    document = held(lockgate("audit", run_id, "--json"), "audit")
    assert (document["ok"], document["difference"]) == (True, None)
    (decision,) = document["decisions"]
    assert (decision["choice"], decision["actor"]) == ("go", {"kind": "human", "id": "ada"})
    said = lockgate("audit", run_id[-8:])
    assert said.code == 0
    for text in ("go by human ada", decision["hash"], decision["digest"], "Everything agrees.", "rewrote whole"):
        assert text in said.out


def test_an_audit_names_the_first_difference(lockgate: Command, store: Path, run_id: str) -> None:
    change(store, "UPDATE runs SET title = 'Another'")
    document = held(lockgate("audit", run_id, "--json"), "audit", 1)
    assert document["difference"] == {
        "table": "runs",
        "key": run_id,
        "column": "title",
        "stored": "Another",
        "expected": "Everything",
    }
    said = lockgate("audit", run_id)
    assert said.code == 1
    assert f"DIFFERS at runs, {run_id}, title:\n  stored    Another\n  expected  Everything\n" in said.out


def test_a_receipt_is_checked_in_each_of_its_forms(lockgate: Command, home: Path, run_id: str) -> None:
    printed = lockgate("audit", run_id, "--json")
    (decision,) = printed.document["decisions"]
    file = home / "receipt.json"
    short = {name: decision[name] for name in ("run_id", "seq", "hash")}
    for content, count in ((printed.document, 2), (decision, 1), ([decision, short], 2), (short, 1)):
        file.write_text(json.dumps(content))
        document = held(lockgate("audit", run_id, "--receipt", str(file), "--json"), "audit")
        assert document["receipts_checked"] == count
    assert "1 kept receipt found in the chain as told." in lockgate("audit", run_id, "--receipt", str(file)).out


def test_a_receipt_that_the_store_denies_fails(lockgate: Command, home: Path, run_id: str) -> None:
    (decision,) = lockgate("audit", run_id, "--json").document["decisions"]
    file = home / "receipt.json"
    for name, value, column in (
        ("hash", "0" * 64, "hash"),
        ("seq", 9_999, "hash"),
        ("choice", "stop", "choice"),
        ("at", "2020-01-01T00:00:00.000Z", "at"),
        ("actor", {"kind": "human", "id": "eve"}, "actor"),
    ):
        file.write_text(json.dumps({**decision, name: value}))
        document = held(lockgate("audit", run_id, "--receipt", str(file), "--json"), "audit", 1)
        assert document["difference"]["column"] == column


@pytest.mark.parametrize(
    ("content", "code", "error"),
    [
        ("{", 2, "invalid_payload"),
        ("[]", 2, "invalid_payload"),
        ("7", 2, "invalid_payload"),
        ('{"run_id": "x", "seq": 1}', 2, "invalid_payload"),
        ('{"run_id": "x", "seq": "1", "hash": "y"}', 2, "invalid_payload"),
        ('{"run_id": "x", "seq": 1, "hash": "y"}', 5, "other_run"),
    ],
)
def test_what_is_no_receipt_is_refused(
    lockgate: Command, home: Path, run_id: str, content: str, code: int, error: str
) -> None:
    (home / "receipt.json").write_text(content)
    said = lockgate("audit", run_id, "--receipt", "receipt.json", "--json")
    assert (said.code, said.error["code"]) == (code, error)


def test_a_run_or_a_receipt_that_is_not_there(lockgate: Command, run_id: str) -> None:
    assert lockgate("audit", "nobody").code == 4
    assert lockgate("audit", run_id, "--receipt", "nowhere.json").code == 1


# --- doctor ------------------------------------------------------------------------------------------------


def test_the_doctor_ends_with_0_or_1(lockgate: Command, store: Path, run_id: str) -> None:
    document = held(lockgate("doctor", "--json"), "doctor")
    assert (document["ok"], document["findings"]) == (True, [])
    assert document["sample"]["runs"] == document["sample"]["of"] == 1
    assert lockgate("doctor").out.endswith("Nothing is wrong.\n")
    change(store, "UPDATE runs SET steps = 77")
    document = held(lockgate("doctor", "--json", "--all"), "doctor", 1)
    assert {finding["code"] for finding in document["findings"]} == {"run_sums", "rows_differ"}
    said = lockgate("doctor")
    assert said.code == 1
    assert f"safe:  lockgate audit {run_id}" in said.out
    assert said.out.endswith("2 findings; nothing was changed.\n")


def test_the_doctor_needs_a_patient(lockgate: Command, store: Path) -> None:
    said = lockgate("doctor", "--json")
    assert (said.code, said.error["code"]) == (1, "store_missing")
    assert not store.exists()


# --- backup ------------------------------------------------------------------------------------------------


def test_a_backup_is_made_verified_and_drilled(lockgate: Command, store: Path, run_id: str) -> None:
    document = held(lockgate("backup", "--json"), "backup")
    copy = Path(document["path"])
    assert copy.parent == store.parent
    assert document["counts"]["runs"] == 1
    drilled = held(lockgate("backup", "--verify", str(copy), "--json"), "backup")
    assert (drilled["verified"]["runs"], drilled["problems"]) == (1, [])
    assert "It would restore." in lockgate("backup", "--verify", str(copy)).out
    change(copy, "UPDATE runs SET title = 'Another'")
    drilled = held(lockgate("backup", "--verify", str(copy), "--json"), "backup", 1)
    assert run_id in drilled["problems"][0]


def test_a_backup_overwrites_nothing_and_a_drill_needs_a_copy(lockgate: Command, store: Path, run_id: str) -> None:
    said = lockgate("backup", str(store), "--json")
    assert (said.code, said.error["code"]) == (5, "backup_exists")
    said = lockgate("backup", "--verify", str(store), "--json")
    assert (said.code, said.error["code"]) == (5, "store_active")
    assert lockgate("backup", "--verify", "nowhere.sqlite").code == 4
    assert lockgate("backup", "one.sqlite", "--verify", "other.sqlite").code == 2
    assert lockgate("backup", "no/such/directory/copy.sqlite").code == 1


# --- prune -------------------------------------------------------------------------------------------------


def test_a_prune_is_a_plan_until_it_is_applied(lockgate: Command, home: Path, run_id: str) -> None:
    document = held(lockgate("prune", "--json"), "prune")
    (blocked,) = document["blocked"]
    assert (document["trees"], blocked["blockers"][0]["code"]) == ([], "human_decision")
    wanted = ("prune", "--with-decisions", "--older-than", "1h")
    document = held(lockgate(*wanted, "--json"), "prune")
    assert ([tree["runs"] for tree in document["trees"]], document["applied"]) == ([[run_id]], False)
    assert "nothing was changed" in lockgate(*wanted).out
    assert lockgate("show", run_id).code == 0
    document = held(lockgate(*wanted, "--apply", "--backup", "old.sqlite", "--json"), "prune")
    assert (document["applied"], document["pruned"]["runs"]) == (True, 1)
    assert lockgate("show", run_id).code == 4
    audited = held(lockgate("audit", run_id, "--json"), "audit")
    assert (audited["pruned"], audited["ok"]) == (True, True)
    assert held(lockgate("doctor", "--json"), "doctor")["ok"]
    assert (home / "old.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_receipt_of_a_pruned_run_is_told_for_what_it_still_proves(lockgate: Command, home: Path, run_id: str) -> None:
    (decision,) = lockgate("audit", run_id, "--json").document["decisions"]
    lockgate("prune", "--with-decisions", "--older-than", "1h", "--apply", "--backup", "old.sqlite")
    file = home / "receipt.json"
    # Nothing is left that could say which choice it was: the audit must not sound as if it had looked.
    file.write_text(json.dumps({**decision, "choice": "stop"}))
    said = lockgate("audit", run_id, "--receipt", str(file))
    assert said.code == 0
    assert "1 kept receipt named by the tombstone, place and hash." in said.out
    assert "as told" not in said.out
    assert "is compared with nothing" in said.out
    file.write_text(json.dumps({**decision, "seq": decision["seq"] + 1}))
    held(lockgate("audit", run_id, "--receipt", str(file), "--json"), "audit", 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--apply",),
        ("--backup", "x.sqlite"),
        ("--older-than", "30"),
        ("--older-than", "-1d"),
        ("--older-than", "soon"),
    ],
)
def test_a_prune_is_called_rightly_or_not_at_all(lockgate: Command, run_id: str, arguments: tuple[str, ...]) -> None:
    assert lockgate("prune", *arguments).code == 2
    assert not Path("x.sqlite").exists()


def test_durations() -> None:
    assert [duration_ms(text) for text in ("0s", "45s", "90m", "12h", "30d", "2w")] == [
        0,
        45_000,
        5_400_000,
        43_200_000,
        2_592_000_000,
        1_209_600_000,
    ]


# --- policy, migrate, init ---------------------------------------------------------------------------------


def test_a_policy_needs_a_person(lockgate: Command, run_id: str) -> None:
    said = lockgate("policy", "set", "operator", "--users", "ada", "--json")
    assert (said.code, said.error["code"]) == (2, "no_terminal")
    assert held(lockgate("policy", "show", "--json"), "policy")["policies"] == []
    assert "No policy for operator" in lockgate("policy", "show", "operator").out


def test_a_policy_is_set_and_shown(lockgate: Command, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from lockgate.model.records import Human

    monkeypatch.setattr("lockgate.cli.commands.keeping.person", lambda what: Human.for_test("ada"))
    wish = ("policy", "set", "operator", "--users", "ada, bo", "--self-approval", "no")
    made = held(lockgate(*wish, "--json"), "policy")
    shown = held(lockgate("policy", "show", "--json"), "policy")
    assert made == shown
    (policy,) = shown["policies"]
    assert (policy["users"], policy["self_approval"], policy["set_by"]) == (["ada", "bo"], False, "ada")
    assert "ada, bo" in lockgate("policy", "show").out
    said = lockgate("policy", "set", "two words", "--json")
    assert (said.code, said.error["code"]) == (5, "invalid_id")
    assert lockgate("policy", "set", "operator", "--users", "").code == 5


def test_a_policy_is_set_by_the_person_at_a_terminal(lockgate: Command, store: Path, run_id: str) -> None:
    output = pexpect.run(
        f"{sys.executable} -m lockgate policy set operator --users ada --self-approval no",
        env={**os.environ, "PYTHONPATH": str(Path(lockgate_package.__file__).parents[1])},
        withexitstatus=True,
    )
    assert output == (b"operator: ada may answer; approving what one started: no\r\n", 0)
    (policy,) = held(lockgate("policy", "show", "--json"), "policy")["policies"]
    assert policy["set_by"] == pwd.getpwuid(os.getuid()).pw_name


def test_an_old_store_is_migrated_when_it_is_asked_for(lockgate: Command, store: Path) -> None:
    store.parent.mkdir(mode=0o700)
    shutil.copy(V1, store)
    store.chmod(0o600)
    said = lockgate("runs", "--json")
    assert (said.code, said.error["code"]) == (1, "store_too_old")
    finding = held(lockgate("doctor", "--json"), "doctor", 1)["findings"][0]
    assert finding["action"].startswith("lockgate migrate")
    document = held(lockgate("migrate", "--json"), "migrate")
    assert (document["before"], document["changed"]) == (1, True)
    assert Path(document["backup"]).exists()
    assert not held(lockgate("migrate", "--json"), "migrate")["changed"]
    assert len(lockgate("runs", "--json").document["runs"]) == 14
    assert held(lockgate("doctor", "--json", "--all"), "doctor")["findings"] == []


def test_a_shared_store_is_made_for_a_group_that_is_there(lockgate: Command, store: Path) -> None:
    group = grp.getgrgid(os.getegid()).gr_name
    document = held(lockgate("init", "--shared", group, "--json"), "init")
    assert (document["made_store"], document["shared_group"]) == (True, group)
    assert store.stat().st_mode & 0o777 == 0o660
    again = held(lockgate("init", "--shared", group, "--json"), "init")
    assert not again["made_store"]
    assert lockgate("init", "--shared", "no-such-group").code == 4


def test_a_private_store_is_not_shared_by_surprise(lockgate: Command, run_id: str) -> None:
    said = lockgate("init", "--shared", grp.getgrgid(os.getegid()).gr_name, "--json")
    assert (said.code, said.error["code"]) == (5, "store_exists")
