"""Where a store lies and who may touch it, by stat() alone: the live file is never opened by hand."""

import grp
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from lockgate.store.doctor_rows import Finding
from lockgate.store.location import file_system
from lockgate.store.sharing import closed_ancestor

_VANISHES = frozenset({"tmpfs", "ramfs"})


def check_place(path: Path, shared_group: str | None) -> tuple[list[Finding], list[str], list[str]]:
    """Findings, remarks, and what cannot be known about file system, owner and modes."""
    findings = [*_modes(path, shared_group), *_directory(path, shared_group)]
    remarks, unknown = [], []
    kind = file_system(path)
    if not kind:
        unknown.append("the type of the file system: this system does not tell")
    elif kind in _VANISHES:
        remarks.append(f"the store lies on {kind}: it does not survive a restart of the machine")
    closed = _closed(path, shared_group)
    if closed is not None:
        remarks.append(f"the group {shared_group} cannot pass {closed}, so only its owner reaches the store")
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        remarks.append("this user may not write the store: only reading commands work")
    return findings, remarks, unknown


def _modes(path: Path, shared_group: str | None) -> list[Finding]:
    findings = []
    allowed = 0o660 if shared_group is not None else 0o600
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        try:
            facts = file.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(facts.st_mode)
        if mode & ~allowed:
            said = f"mode {mode:04o}, at most {allowed:04o} is right for a {_kind(shared_group)} store"
            action = f"chmod {allowed:04o} {file}"
            findings.append(Finding(code="open_to_others", what=said, where=str(file), action=action))
        elif shared_group is not None and mode & 0o060 != 0o060:
            said = f"mode {mode:04o}: the group {shared_group} cannot write"
            findings.append(
                Finding(code="closed_to_group", what=said, where=str(file), action=f"chmod {allowed:04o} {file}")
            )
        if shared_group is not None and _group(facts.st_gid) != shared_group:
            said = f"it belongs to the group {_group(facts.st_gid)}, the store is shared with {shared_group}"
            findings.append(
                Finding(code="wrong_group", what=said, where=str(file), action=f"chgrp {shared_group} {file}")
            )
    return findings


def _directory(path: Path, shared_group: str | None) -> list[Finding]:
    """Whoever may write the directory may replace the store in it."""
    facts = path.parent.stat()
    mode = stat.S_IMODE(facts.st_mode)
    sticky = bool(mode & stat.S_ISVTX)
    right = "0700" if shared_group is None else "2770"
    action = f"chmod {right} {path.parent}"
    if mode & (0o022 if shared_group is None else 0o002) and not sticky:
        said = f"mode {mode:04o}: others may replace the files of a {_kind(shared_group)} store"
        return [Finding(code="open_directory", what=said, where=str(path.parent), action=action)]
    if shared_group is not None and (mode & 0o2070 != 0o2070 or _group(facts.st_gid) != shared_group):
        said = f"mode {mode:04o}, group {_group(facts.st_gid)}: new files would not be shared with {shared_group}"
        action = f"chgrp {shared_group} {path.parent} && {action}"
        return [Finding(code="closed_to_group", what=said, where=str(path.parent), action=action)]
    return []


def _closed(path: Path, shared_group: str | None) -> Path | None:
    if shared_group is None:
        return None
    with suppress(KeyError, OSError):
        return closed_ancestor(path, shared_group)
    return None


def _kind(shared_group: str | None) -> str:
    return "private" if shared_group is None else "shared"


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


# --- processes that have the files open --------------------------------------------------------------------


def lost_files(path: Path) -> tuple[list[Finding], list[str]]:
    """Processes that still use a file of the store which is no longer under its name (Linux), and what is unknown."""
    if sys.platform != "linux":
        return [], ["which processes have the store open: Linux tells, this system does not"]
    real = os.path.realpath(path)
    gone = {f"{real}{end} (deleted)": f"{path}{end}" for end in ("", "-wal", "-shm")}
    findings, closed = [], 0
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        links = _open_links(pid)
        if links is None:
            closed += 1
            continue
        for link in sorted(links & gone.keys()):
            said = f"process {named(pid)} uses a file that was deleted or replaced: what it writes is lost"
            action = f"stop process {pid}, then start it again; compare with the newest backup"
            findings.append(Finding(code="lost_file", what=said, where=gone[link], action=action))
    return findings, [f"which files the processes of other users have open ({closed} of them)"] if closed else []


def _open_links(pid: int) -> set[str] | None:
    """What the descriptors of a process point at; None where this user may not look."""
    links = set()
    try:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError):
                links.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    except PermissionError:
        return None
    except OSError:
        # It ended while it was looked at.
        return set()
    return links


def named(pid: int) -> str:
    """`4242 (lockgate)`, or the pid alone where its name cannot be read; 0 is one that this system hides."""
    if pid <= 0:
        return "0 (hidden: of another container)"
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return str(pid)
    return f"{pid} ({name})" if name else str(pid)
