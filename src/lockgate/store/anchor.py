"""The self-check against the lock trap: is the file under the path still the one that we write?

Another process that opens and closes the file by hand can make SQLite unlink the write-ahead log under a live
connection; commits into it would be acknowledged and vanish. stat() alone shows it, and is safe.
"""

import os

from lockgate.model.errors import StoreDetached

Identity = tuple[int, int] | None


class Anchor:
    """The identities of the main file and of its write-ahead log as they were when the connection was opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._wal_path = f"{path}-wal"
        self._main = identity(path)
        self._wal = identity(self._wal_path)

    def check(self) -> None:
        """Raises StoreDetached if either file was removed or replaced since."""
        if identity(self.path) != self._main:
            raise StoreDetached(self.path, "removed or replaced")
        wal = identity(self._wal_path)
        if self._wal is None:
            self._wal = wal
        elif wal != self._wal:
            raise StoreDetached(self.path, "cut off from its write-ahead log")


def identity(path: str) -> Identity:
    """Device and inode, or None where there is no file."""
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return None
    return (facts.st_dev, facts.st_ino)
