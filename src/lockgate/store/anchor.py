"""The self-check against the lock trap: is the file under the path still the one that we write?

Another process that opens and closes the file by hand can make SQLite unlink the write-ahead log under a live
connection; commits into it would be acknowledged and vanish. Who removes the shared memory beside it parts the
writers: each then has an index and locks of its own, and one overwrites what the other committed. stat() alone
shows all of it, and is safe.
"""

import os

from lockgate.model.errors import StoreDetached

Identity = tuple[int, int] | None

_BESIDE = (("-wal", "cut off from its write-ahead log"), ("-shm", "cut off from its shared memory"))


class Anchor:
    """The identities of the main file, of its write-ahead log and of the log's shared memory, as they were when the
    connection was opened. The latter two may come later, but never change while somebody uses them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._main = identity(path)
        self._beside = {ending: identity(path + ending) for ending, _ in _BESIDE}

    def check(self) -> None:
        """Raises StoreDetached if any of the files was removed or replaced since."""
        if identity(self.path) != self._main:
            raise StoreDetached(self.path, "removed or replaced")
        for ending, lost in _BESIDE:
            found, known = identity(self.path + ending), self._beside[ending]
            if known is None:
                self._beside[ending] = found
            elif found != known:
                raise StoreDetached(self.path, lost)

    def is_replaced(self) -> bool:
        """Whether others have a log or its shared memory of their own where ours was."""
        return any(
            known is not None and identity(self.path + ending) not in (None, known)
            for ending, known in self._beside.items()
        )


def identity(path: str) -> Identity:
    """Device and inode, or None where there is no file."""
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return None
    return (facts.st_dev, facts.st_ino)
