"""What a new host does before it claims anything: the processes of the one before it must be gone.

Their claims are ended already, so nothing that they still do can be committed; but two workers of one run must
not work in one directory at the same time.
"""

import asyncio
from collections.abc import Sequence

from lockgate.host.ledger import Orphan
from lockgate.host.processes import ProcessIdentity, end_recorded, kill_descendants


async def clear_away(orphans: Sequence[Orphan]) -> None:
    """Kills the recorded groups whose start time matches, and whatever carries the mark of their attempts."""
    if orphans:
        await asyncio.gather(*(asyncio.to_thread(_end, orphan) for orphan in orphans))


def _end(orphan: Orphan) -> None:
    session = None
    if orphan.pid is not None and orphan.process_start is not None:
        identity = ProcessIdentity(pid=orphan.pid, start=orphan.process_start)
        session = orphan.pid if end_recorded(identity) else None
    kill_descendants(session, orphan.attempt_ids)
