"""Rows of the timeline: attempts one by one, or the finished repeats of a node in one row."""

from collections.abc import Sequence

import msgspec

from lockgate.view.snapshots import ShownAttempt

LEAST_REPEATS = 3


class Fold(msgspec.Struct, frozen=True):
    """One row: one attempt, or several finished ones of a node; `words` says how the several ended."""

    attempts: tuple[ShownAttempt, ...]
    words: str = ""

    @property
    def node(self) -> str:
        return self.attempts[-1].node


def folded(attempts: Sequence[ShownAttempt], room: int) -> list[Fold]:
    """One fold per attempt while they have room; else nodes with three or more finished attempts share a row.

    A folded row stands where the node's first attempt stood; what is not finished is never folded.
    """
    if len(attempts) <= room:
        return [Fold((attempt,)) for attempt in attempts]
    repeats: dict[str, list[ShownAttempt]] = {}
    for attempt in attempts:
        if attempt.ended_at is not None:
            repeats.setdefault(attempt.node, []).append(attempt)
    rows: list[Fold] = []
    done: set[str] = set()
    for attempt in attempts:
        tries = repeats.get(attempt.node, [])
        if attempt.ended_at is None or len(tries) < LEAST_REPEATS:
            rows.append(Fold((attempt,)))
        elif attempt.node not in done:
            done.add(attempt.node)
            rows.append(Fold(tuple(tries), _how(tries)))
    return rows


def _how(tries: Sequence[ShownAttempt]) -> str:
    failed = sum(attempt.mark in ("failed", "timed_out") for attempt in tries)
    return f"{len(tries)} tries" + (f", {failed} failed" if failed else "")
