"""What the commands that keep a store say: audit, doctor, backup, prune, policy, as documents and as lines."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from lockgate.model.encoding import parsed
from lockgate.model.errors import PayloadError, Refused
from lockgate.view.documents import moment

if TYPE_CHECKING:
    from lockgate.store.audit import Audit, DecisionReceipt, KeptReceipt
    from lockgate.store.audit_chain import Difference
    from lockgate.store.backup import Backup
    from lockgate.store.doctor import Checkup
    from lockgate.store.drill import Drill
    from lockgate.store.policies import PolicyView
    from lockgate.store.prune import Plan, Pruned, Tree

Document = dict[str, Any]
MOST_LISTED = 20
_DURATION = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def counted(number: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def duration_ms(text: str) -> int:
    """`30d`, `12h`, `90m`, `45s` or `2w` in milliseconds. Raises ValueError."""
    fits = _DURATION.fullmatch(text)
    if fits is None:
        raise ValueError(f"a number with s, m, h, d or w, for example 30d, got {text!r}")
    return int(fits[1]) * _UNITS[fits[2]]


# --- audit -------------------------------------------------------------------------------------------------


def audit_document(audited: "Audit", checked: int | None, differs: "Difference | None", limit: str) -> Document:
    """`receipts_checked` is null where no receipt was given; `difference` is the first one of either kind."""
    difference = audited.difference or differs
    return {
        "schema": "lockgate.audit.v1",
        "run_id": audited.run_id,
        "ok": difference is None,
        "pruned": audited.is_pruned,
        "seq": audited.seq,
        "chain_head": audited.chain_head,
        "events": audited.events,
        "rows": audited.rows,
        "values": audited.values,
        "decisions": [receipt_facts(receipt) for receipt in audited.receipts],
        "receipts_checked": checked,
        "difference": None if difference is None else msgspec.to_builtins(difference),
        "limit": limit,
    }


def receipt_facts(receipt: "DecisionReceipt") -> Document:
    facts: Document = msgspec.to_builtins(receipt)
    return {**facts, "at": moment(receipt.at)}


def kept_receipts(text: bytes, run_id: str) -> list["KeptReceipt"]:
    """The receipts of a file: one receipt, a list of them, or what `audit --json` printed.

    Raises PayloadError for what is no receipt, Refused `other_run` for one of another run.
    """
    found = parsed(text)
    if isinstance(found, dict) and "chain_head" in found:
        head = {"run_id": found.get("run_id"), "seq": found.get("seq"), "hash": found["chain_head"]}
        decisions = found.get("decisions")
        found = [head, *(decisions if isinstance(decisions, list) else [])]
    given = found if isinstance(found, list) else [found]
    if not given:
        raise PayloadError("$", "at least one receipt", "none")
    kept = [_kept(item, f"$[{index}]" if isinstance(found, list) else "$") for index, item in enumerate(given)]
    for receipt in kept:
        if receipt.run_id != run_id:
            message = f"the receipt is of run {receipt.run_id}, not of {run_id}"
            raise Refused("other_run", message, run_id=run_id, receipt=receipt.run_id)
    return kept


def _kept(item: Any, path: str) -> "KeptReceipt":
    from lockgate.store.audit import KeptReceipt

    if not isinstance(item, dict):
        raise PayloadError(path, "an object with run_id, seq and hash", type(item).__name__)
    said = dict(item)
    if isinstance(said.get("at"), str):
        try:
            said["at"] = round(datetime.fromisoformat(said["at"]).timestamp() * 1000)
        except ValueError:
            raise PayloadError(f"{path}.at", "a time", repr(said["at"])[:80]) from None
    for name, kind in (("run_id", str), ("seq", int), ("hash", str)):
        if not isinstance(item.get(name), kind):
            raise PayloadError(
                f"{path}.{name}", f"a receipt's {name}", "none" if name not in item else repr(item[name])
            )
    return KeptReceipt(run_id=item["run_id"], seq=item["seq"], hash=item["hash"], said=said)


def audit_lines(audited: "Audit", checked: int | None, differs: "Difference | None", limit: str) -> Iterator[str]:
    what = (
        "pruned, its tombstone"
        if audited.is_pruned
        else f"{counted(audited.rows, 'row')}, {counted(audited.values, 'value')}"
    )
    yield f"{audited.run_id}: {counted(audited.events, 'event')}, {what}"
    for receipt in audited.receipts:
        yield from _receipt_lines(receipt)
    difference = audited.difference or differs
    if difference is None:
        if checked:
            where = "named by the tombstone, place and hash" if audited.is_pruned else "found in the chain as told"
            yield f"{counted(checked, 'kept receipt')} {where}."
        yield f"Everything agrees. The newest event is {audited.seq}, {audited.chain_head}"
    else:
        column = f", {difference.column}" if difference.column is not None else ""
        yield f"DIFFERS at {difference.table}, {difference.key}{column}:"
        yield f"  stored    {_value(difference.stored)}"
        yield f"  expected  {_value(difference.expected)}"
    yield limit


def _receipt_lines(receipt: "DecisionReceipt") -> Iterator[str]:
    choice = receipt.choice if receipt.choice is not None else "withdrawn"
    yield f"decision {receipt.decision_id} of {receipt.node}: {receipt.title}"
    channel = f" at {receipt.channel}" if receipt.channel is not None else ""
    yield f"  {choice} by {receipt.actor.kind} {receipt.actor.id}{channel}, {moment(receipt.at)}, {receipt.provenance}"
    yield f"  digest {receipt.digest}"
    yield f"  receipt seq {receipt.seq}, hash {receipt.hash}"


def _value(value: Any) -> str:
    return "nothing" if value is None else str(value)


# --- doctor ------------------------------------------------------------------------------------------------


def doctor_document(checkup: "Checkup") -> Document:
    return {
        "schema": "lockgate.doctor.v1",
        "store": checkup.path,
        "ok": not checkup.findings,
        "findings": [msgspec.to_builtins(finding) for finding in checkup.findings],
        "remarks": list(checkup.remarks),
        "unknown": list(checkup.unknown),
        "facts": checkup.facts,
        "sample": msgspec.to_builtins(checkup.sample) if checkup.sample is not None else None,
    }


def doctor_lines(checkup: "Checkup") -> Iterator[str]:
    facts = checkup.facts
    if "counts" in facts and "host" in facts:
        counts, host = facts["counts"], facts["host"]["state"]
        held = f"{facts['size']} bytes, {counted(counts['runs'], 'run')}, {counted(counts['events'], 'event')}"
        yield f"{checkup.path}: schema {facts['user_version']}, {held}, host {host}"
    else:
        yield checkup.path
    for finding in checkup.findings:
        yield f"WRONG  {finding.code}: {finding.what}"
        yield f"       where: {finding.where}"
        yield f"       safe:  {finding.action}"
    for remark in checkup.remarks:
        yield f"note   {remark}"
    for line in checkup.unknown:
        yield f"not known: {line}"
    if checkup.sample is not None:
        sample = checkup.sample
        more = "" if sample.runs == sample.of else " (--all compares every run)"
        yield f"{sample.runs} of {counted(sample.of, 'run')} compared with {counted(sample.events, 'event')}{more}"
    count = len(checkup.findings)
    yield ("Nothing is wrong." if not count else f"{counted(count, 'finding')}; nothing was changed.")


# --- backup ------------------------------------------------------------------------------------------------


def backup_document(backup: "Backup") -> Document:
    return {
        "schema": "lockgate.backup.v1",
        "path": backup.path,
        "size": backup.size,
        **_contents(backup),
        "verified": None,
        "problems": [],
    }


def drill_document(drill: "Drill") -> Document:
    verified = {"runs": drill.runs, "events": drill.events, "values": drill.values}
    return {
        "schema": "lockgate.backup.v1",
        "path": drill.path,
        "size": drill.size,
        **_contents(drill),
        "verified": verified,
        "problems": list(drill.problems),
    }


def _contents(of: "Backup | Drill") -> Document:
    held = of.contents
    return {
        "store_id": held.store_id,
        "schema_version": held.version,
        "newest_event": held.newest_event,
        "counts": held.counts,
    }


def drill_lines(drill: "Drill") -> Iterator[str]:
    yield f"{drill.path}: schema {drill.contents.version}, {drill.size} bytes"
    yield f"{counted(drill.runs, 'run')}, {counted(drill.events, 'event')}, {counted(drill.values, 'value')} verified"
    for problem in drill.problems:
        yield f"WRONG  {problem}"
    yield "It would restore." if not drill.problems else "It would not restore as it was."


# --- prune -------------------------------------------------------------------------------------------------


def prune_document(store: str, plan: "Plan", pruned: "Pruned | None") -> Document:
    return {
        "schema": "lockgate.prune.v1",
        "store": store,
        "applied": pruned is not None,
        "cutoff": moment(plan.cutoff),
        "trees": [_tree(tree) for tree in plan.trees],
        "blocked": [
            {**_tree(tree), "blockers": [msgspec.to_builtins(blocker) for blocker in tree.blockers]}
            for tree in plan.blocked
        ],
        "pruned": None if pruned is None else _pruned(pruned),
    }


def _tree(tree: "Tree") -> Document:
    return {
        "root_run_id": tree.root_run_id,
        "runs": [member.run_id for member in tree.members],
        "events": tree.events,
        "decisions": sum(member.decisions for member in tree.members),
    }


def _pruned(pruned: "Pruned") -> Document:
    facts: Document = msgspec.to_builtins(pruned)
    return {**facts, "backup": {"path": pruned.backup.path, "size": pruned.backup.size}}


def plan_lines(plan: "Plan") -> Iterator[str]:
    events = sum(tree.events for tree in plan.trees)
    yield (
        f"{counted(plan.runs, 'run')} in {counted(len(plan.trees), 'tree')} ended before {moment(plan.cutoff)} "
        f"and can go, with {counted(events, 'event')}"
    )
    yield from _some(f"  {tree.root_run_id}, {counted(len(tree.members), 'run')}" for tree in plan.trees)
    if plan.blocked:
        yield f"{counted(len(plan.blocked), 'tree')} kept:"
        yield from _some(
            f"  {blocker.run_id}: {blocker.code}, {blocker.what}" for tree in plan.blocked for blocker in tree.blockers
        )


def pruned_lines(pruned: "Pruned") -> Iterator[str]:
    yield f"backup {pruned.backup.path}, {pruned.backup.size} bytes, verified"
    yield (
        f"pruned {counted(pruned.runs, 'run')} in {counted(pruned.trees, 'tree')}: "
        f"{counted(pruned.events, 'event')}, {counted(pruned.decisions, 'decision')}, "
        f"{counted(pruned.values, 'value')} ({pruned.value_bytes} bytes), {counted(pruned.definitions, 'definition')}"
    )
    for root in pruned.changed:
        yield f"kept {root}: it changed meanwhile"
    kept = pruned.runs > 0 and not pruned.is_compacted
    given_back = "; its free pages are used again, since others have the store open" if kept else ""
    yield f"the file had {pruned.size_before} bytes and has {pruned.size_after}{given_back}"


def _some(lines: Iterable[str]) -> Iterator[str]:
    """The first lines, and how many more there are."""
    more = 0
    for index, line in enumerate(lines):
        if index < MOST_LISTED:
            yield line
        else:
            more += 1
    if more:
        yield f"  and {more} more: --json lists all"


# --- policy ------------------------------------------------------------------------------------------------


def policies_document(policies: Iterable["PolicyView"]) -> Document:
    return {
        "schema": "lockgate.policy.v1",
        "policies": [
            {
                "audience": view.policy.audience,
                "users": list(view.policy.users) if view.policy.users is not None else None,
                "self_approval": view.policy.self_approval,
                "set_by": view.set_by,
                "set_at": moment(view.set_at),
            }
            for view in policies
        ],
    }


def policy_rows(policies: Iterable["PolicyView"]) -> list[tuple[str, ...]]:
    return [
        (
            view.policy.audience,
            ", ".join(view.policy.users) if view.policy.users is not None else "everybody",
            "yes" if view.policy.self_approval else "no",
            view.set_by,
            moment(view.set_at) or "",
        )
        for view in policies
    ]
