"""Progress: the newest of each key, at most four commits a second, and the last one always."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from lockgate.engine.updates import Updates
from lockgate.model.errors import PayloadError
from lockgate.model.records import Value


class Kept:
    """What was committed, in order."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, Any]] = []

    async def __call__(self, type: str, key: str, data: Value) -> None:
        self.seen.append((type, key, msgspec.json.decode(data.content)))


async def turns() -> None:
    """Lets the loop do all that is ready."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
async def updates(kept: Kept) -> AsyncIterator[Updates]:
    made = Updates(kept)
    yield made
    await made.stop()


async def test_the_first_is_committed_at_once(updates: Updates, kept: Kept) -> None:
    updates.publish("progress", "overall", {"completed": 1, "unit": "files"})
    await turns()
    assert kept.seen == [("progress", "overall", {"status": "running", "completed": 1, "unit": "files"})]


async def test_the_newest_wins_and_the_last_is_flushed(updates: Updates, kept: Kept) -> None:
    for number in range(100):
        updates.publish("count", "overall", {"completed": number})
        await asyncio.sleep(0)
    await updates.flush()
    assert [data["completed"] for _, _, data in kept.seen][-1] == 99
    assert len(kept.seen) == 2


async def test_keys_do_not_displace_each_other(updates: Updates, kept: Kept) -> None:
    for key in ("a", "b", "a"):
        updates.publish("count", key, {"key": key})
    await updates.flush()
    assert [(key, data["key"]) for _, key, data in kept.seen] == [("a", "a"), ("b", "b")]


async def test_at_most_four_commits_a_second(monkeypatch: pytest.MonkeyPatch, kept: Kept) -> None:
    pauses: list[float] = []
    real = asyncio.sleep

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    monkeypatch.setattr(asyncio, "sleep", pause)
    made = Updates(kept)
    for number in range(3):
        made.publish("count", "overall", {"completed": number})
        for _ in range(10):
            await real(0)
    assert len(kept.seen) == 3
    assert pauses == [0.25, 0.25, 0.25]
    await made.stop()


async def test_any_thread_may_publish(updates: Updates, kept: Kept) -> None:
    thread = threading.Thread(target=updates.publish, args=("count", "overall", {"completed": 1}))
    thread.start()
    await asyncio.to_thread(thread.join)
    await updates.flush()
    assert len(kept.seen) == 1


async def test_nothing_is_committed_after_the_flush(updates: Updates, kept: Kept) -> None:
    updates.publish("progress", "overall", {"completed": 1, "unit": "files"})
    await updates.flush()
    await turns()
    assert len(kept.seen) == 1


async def test_a_commit_that_fails_is_told_to_the_node_and_to_the_flush() -> None:
    async def fail(type: str, key: str, data: Value) -> None:
        raise RuntimeError("the claim is lost")

    made, told = Updates(fail), asyncio.Event()
    made.on_failure = told.set
    made.publish("count", "overall", {"completed": 1})
    await asyncio.wait_for(told.wait(), 5)
    made.publish("count", "overall", {"completed": 2})
    with pytest.raises(RuntimeError):
        await made.flush()


@pytest.mark.parametrize(
    ("type", "key", "data"),
    [
        ("Progress", "k", {}),
        ("a" * 65, "k", {}),
        ("count", "", {}),
        ("count", "a b", {}),
        ("count", "k", [1]),
        ("count", "k", {"x": float("nan")}),
        ("count", "k", {"x": "y" * 70_000}),
        ("progress", "k", {"done": 1}),
        ("progress", "k", {"completed": -1, "unit": "files"}),
        ("progress", "k", {"completed": 3, "total": 2, "unit": "files"}),
        ("progress", "k", {"total": 0, "unit": "files"}),
        ("progress", "k", {"completed": "1", "unit": "files"}),
        ("progress", "k", {"status": "fine"}),
        ("progress", "k", {"label": "x" * 201}),
    ],
)
async def test_what_does_not_fit_is_refused(updates: Updates, type: str, key: str, data: Any) -> None:
    with pytest.raises(PayloadError):
        updates.publish(type, key, data)


async def test_an_attempt_has_at_most_1024_keys(updates: Updates) -> None:
    for number in range(1024):
        updates.publish("count", f"k{number}", {})
    with pytest.raises(PayloadError, match="1024"):
        updates.publish("count", "another", {})
    updates.publish("count", "k0", {"again": True})
