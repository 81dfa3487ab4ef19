"""The self-check against the lock trap: is the file under the path still the one that we write?

Another process that opens and closes the file by hand can make SQLite unlink the write-ahead log under a live
connection; commits into it would be acknowledged and vanish. Who removes the shared memory beside it parts the
writers: each then has an index and locks of its own, and one overwrites what the other committed. stat() alone
shows all of it, and is safe.

None of the files comes, goes or is replaced without its directory's change time moving, so that one stat() of a
directory that has rested for a while stands for those beside the main file: the check is made twice in every
transaction.
"""

import os
import time

from lockgate.model.errors import StoreDetached

Identity = tuple[int, int] | None

REST_NS = 1_000_000_000
"""How long a directory must have rested before its change time is trusted: two changes may share a tick of it."""

COARSE_REST_NS = 3_000_000_000
"""As long where the change time is of whole seconds: a tick of FAT lasts two."""

_BESIDE = (("-wal", "cut off from its write-ahead log"), ("-shm", "cut off from its shared memory"))


class Anchor:
    """The identities of the main file, of its write-ahead log and of the log's shared memory, as they were when the
    connection was opened. The latter two may come later, but never change while somebody uses them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._directory = os.path.dirname(path) or os.curdir
        self._resting: tuple[int, int, int] | None = None
        self.main, self._written = _look(path)
        self._beside = {ending: identity(path + ending) for ending, _ in _BESIDE}

    def check(self) -> None:
        """Raises StoreDetached if any of the files was removed or replaced since."""
        # Looked at before the files: what happens to them in between moves it on, and the next check sees that.
        directory = _moment(self._directory)
        main, written = _look(self.path)
        if main != self.main:
            raise StoreDetached(self.path, "removed or replaced")
        if directory is None or directory != self._resting:
            self._check_beside()
            self._resting = directory if directory is not None and _has_rested(directory[2]) else None
        self._written = written

    def _check_beside(self) -> None:
        for ending, lost in _BESIDE:
            found, known = identity(self.path + ending), self._beside[ending]
            if known is None:
                self._beside[ending] = found
            elif found != known:
                raise StoreDetached(self.path, lost)

    def is_cut_off(self) -> bool:
        """Whether others have a log or its shared memory of their own where ours was, or had until they went and left
        what they wrote in the file. A lost log after which nobody wrote has the only copy of what it has."""
        found = {ending: identity(self.path + ending) for ending, known in self._beside.items() if known is not None}
        if any(now not in (None, self._beside[ending]) for ending, now in found.items()):
            return True
        main, written = _look(self.path)
        return None in found.values() and main == self.main and written != self._written


def _has_rested(changed_ns: int) -> bool:
    return time.time_ns() - changed_ns > (REST_NS if changed_ns % 1_000_000_000 else COARSE_REST_NS)


def _moment(directory: str) -> tuple[int, int, int] | None:
    """Which directory it is, and when its entries last changed, in ns; None where nobody can say."""
    try:
        facts = os.stat(directory)
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino, facts.st_ctime_ns)


def _look(path: str) -> tuple[Identity, int | None]:
    """Which file it is, and when it was last written to, in ns; Nones where there is none, or none can be reached."""
    try:
        facts = os.stat(path)
    except OSError:
        return None, None
    return (facts.st_dev, facts.st_ino), facts.st_mtime_ns


def identity(path: str) -> Identity:
    """Device and inode, or None where there is no file, or none that can be reached."""
    return _look(path)[0]
