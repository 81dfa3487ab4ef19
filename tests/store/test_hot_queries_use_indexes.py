"""The plans of hot queries: none walks a table whose size is history, and pages are read in index order."""

import re

import pytest

from lockgate.store.statements import load

from .conftest import Bench

SMALL = {"host_state", "meta", "policies", "definitions", "mounts"}

HOT = [
    ("runs", "head"),
    ("runs", "by_ids"),
    ("runs", "ids_newest"),
    ("runs", "ids_newest_of_status"),
    ("runs", "ids_newest_of_workflow"),
    ("runs", "ids_before"),
    ("runs", "close_run"),
    ("runs", "close_changed_run"),
    ("runs", "close_queue"),
    ("runs", "child"),
    ("runs", "ids_of_short"),
    ("attempts", "has_attempt"),
    ("attempts", "newest_of_node"),
    ("attempts", "latest_of_node"),
    ("attempts", "entered"),
    ("attempts", "visits_before"),
    ("attempts", "last_step"),
    ("attempts", "last_attempts"),
    ("attempts", "intervals"),
    ("attempts", "newest_update"),
    ("attempts", "newest_updates"),
    ("attempts", "has_update_pair"),
    ("attempts", "durations"),
    ("requests", "due"),
    ("requests", "next_deadline"),
    ("requests", "of_run"),
    ("requests", "pending_of_run"),
    ("requests", "view"),
    ("requests", "decided"),
    ("effects", "of_run"),
    ("effects", "unsettled"),
    ("events", "after"),
    ("events", "of_run"),
    ("events", "last_of_run"),
    ("events", "newest_seq"),
    ("hosts", "next_answered"),
    ("hosts", "next_queued"),
    ("hosts", "claims"),
    ("hosts", "claims_of"),
    ("hosts", "renew_claims"),
    ("hosts", "newest_worker"),
    ("outputs", "end_of_output"),
    ("outputs", "chunks"),
    ("settings", "newest_settings_of"),
    ("commands", "command"),
    ("values", "value"),
]
SORTED = {
    ("runs", "by_ids"),
    ("requests", "of_run"),
    ("hosts", "claims"),
    ("effects", "of_run"),
    ("hosts", "next_answered"),
    ("settings", "newest_settings_of"),
}
"""Queries that sort a handful of rows: those of one page or run, or those that are claimed now."""


def plan(bench: Bench, noun: str, name: str) -> list[str]:
    text = load(noun)[name]
    named = dict.fromkeys(re.findall(r":([a-z_]+)", text))
    rows = bench.file.connection.execute(f"EXPLAIN QUERY PLAN {text}", named).fetchall()
    return [row[3] for row in rows]


@pytest.mark.parametrize(("noun", "name"), HOT, ids=lambda part: part)
def test_a_hot_query_never_scans_history(bench: Bench, noun: str, name: str) -> None:
    steps = plan(bench, noun, name)
    scans = [step for step in steps if step.startswith("SCAN") and " USING " not in step]
    allowed = ("SCAN j VIRTUAL", "SCAN json_each", "SCAN CONSTANT")
    assert [s for s in scans if not s.startswith(allowed) and s.split()[1] not in SMALL] == [], steps
    sorts = [step for step in steps if "TEMP B-TREE FOR ORDER BY" in step]
    assert not sorts or (noun, name) in SORTED, steps


@pytest.mark.parametrize("name", ["head", "by_ids"])
def test_the_active_attempt_is_one_look_into_an_index(bench: Bench, name: str) -> None:
    steps = plan(bench, "runs", name)
    assert any(step.startswith("SEARCH a USING INDEX node_attempts_one_active") for step in steps), steps


def test_the_pending_queue_reads_pending_requests_only(bench: Bench) -> None:
    steps = plan(bench, "requests", "pending")
    assert any("requests_pending" in step or "requests_due" in step or "requests_one_pending" in step for step in steps)


def test_counting_statuses_reads_one_covering_index(bench: Bench) -> None:
    assert plan(bench, "runs", "counts") == ["SCAN runs USING COVERING INDEX runs_by_status"]
