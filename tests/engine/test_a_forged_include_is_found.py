"""A history of includes that the law never makes is found by the audit, though its chain was linked anew."""

from typing import Any

import pytest

from lockgate.store.audit import audit
from tests.engine.bench import Bench
from tests.engine.test_each_include_has_its_own_settings import change, twice
from tests.store.test_audit_and_kept_receipts import relink


@pytest.mark.parametrize(
    ("told", "skip", "at"),
    [
        (lambda text: text, "include_entered", "settings_changed"),
        (lambda text: text.replace('"mount_path":"part"', '"mount_path":"gone"'), "", "include_entered"),
        (lambda text: text.replace('"exit":"out","invocation":1', '"exit":"out","invocation":2'), "", "include_exited"),
        (
            lambda text: text.replace('"mount_path":"part","run_id"', '"mount_path":"gone","run_id"'),
            "",
            "settings_changed",
        ),
    ],
    ids=["never entered", "elsewhere", "another invocation left", "settings of nowhere"],
)
async def test_a_way_in_or_out_that_cannot_be(bench: Bench, told: Any, skip: str, at: str) -> None:
    await bench.go(twice())
    assert change(bench, 2, "a", "part").outcome == "accepted"
    bench.submit(None)
    await bench.work()
    assert bench.read(lambda connection: audit(connection, bench.run_id)).difference is None
    bench.write(lambda tx: relink(tx.connection, bench.run_id, told, skip=skip))
    found = bench.read(lambda connection: audit(connection, bench.run_id)).difference
    assert found is not None
    assert (found.table, found.column, found.stored, found.expected) == (
        "events",
        "type",
        at,
        "an event that can follow",
    )
