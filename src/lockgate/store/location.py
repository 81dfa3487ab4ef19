"""Where a store may lie: on a local file system, owned by its user or shared with a group on purpose."""

import os
import re
import stat
import sys
from pathlib import Path

from lockgate.model.errors import StoreUnsafeLocation

_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "ncpfs", "davfs", "webdav"})
_MOUNTS = Path("/proc/self/mounts")
_OCTAL = re.compile(r"\\([0-7]{3})")
_MNT_LOCAL = 0x1000


def default_path() -> Path:
    """$LOCKGATE_DB, else the user's state directory."""
    named = os.environ.get("LOCKGATE_DB")
    if named:
        return Path(named)
    from platformdirs import user_state_path

    return user_state_path("lockgate") / "state.sqlite"


def true_path(path: str | Path) -> Path:
    """The file itself: SQLite names its log after the file that a link leads to, so that we watch beside that one."""
    return Path(os.path.realpath(path))


def check_location(path: Path) -> None:
    """Raises StoreUnsafeLocation for a network file system, or for a file of somebody else."""
    kind = file_system(path)
    if kind in _REMOTE or kind.startswith("fuse."):
        raise StoreUnsafeLocation(str(path), f"{kind} is a network file system, whose locks cannot be trusted")
    check_owner(path)


def check_owner(path: Path) -> None:
    """The owner must be this user, or the file must be shared with a group that this user belongs to."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return
    if facts.st_uid == os.geteuid():
        return
    shared = stat.S_IMODE(facts.st_mode) & stat.S_IRGRP
    if shared and facts.st_gid in {os.getegid(), *os.getgroups()}:
        return
    raise StoreUnsafeLocation(str(path), f"it belongs to user {facts.st_uid} and is not shared with a group of yours")


def file_system(path: Path) -> str:
    """The type of the file system that holds `path` or its nearest existing parent; empty where unknown."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    place = place.resolve()
    if sys.platform == "darwin":
        return _remote_on_mac(place)
    return _mounted(place)


def _mounted(place: Path) -> str:
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    best, kind = -1, ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _OCTAL.sub(lambda escape: chr(int(escape[1], 8)), fields[1])
        if len(point) >= best and (place == Path(point) or Path(point) in place.parents):
            best, kind = len(point), fields[2]
    return kind


def _remote_on_mac(place: Path) -> str:
    """macOS has no list of mounts to read: statfs says by a flag whether the file system is local."""
    import ctypes
    import ctypes.util

    class Facts(ctypes.Structure):
        _fields_ = (
            ("sizes", ctypes.c_uint32 * 2),
            ("counts", ctypes.c_uint64 * 5),
            ("fsid", ctypes.c_int32 * 2),
            ("owner", ctypes.c_uint32),
            ("type", ctypes.c_uint32),
            ("flags", ctypes.c_uint32),
            ("subtype", ctypes.c_uint32),
            ("name", ctypes.c_char * 16),
            ("rest", ctypes.c_char * 4096),
        )

    libc = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
    statfs = getattr(libc, "statfs$INODE64", None) or libc.statfs
    facts = Facts()
    if statfs(os.fsencode(place), ctypes.byref(facts)) != 0:
        return ""
    name: bytes = facts.name
    return "" if facts.flags & _MNT_LOCAL else f"fuse.{name.decode('ascii', 'replace')}"
