"""Making a store that a group shares: its directory hands the group on, its files are the group's to write."""

import grp
import os
import stat
import uuid
from pathlib import Path

from lockgate.model.errors import NotFound, Refused, StoreReadOnly
from lockgate.store import opening
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.location import true_path
from lockgate.store.once import read_once
from lockgate.store.openfile import errors_of_the_store
from lockgate.store.patience import Patience
from lockgate.store.reads.values import store_facts

DIRECTORY, FILE = 0o2770, 0o660


def make_shared(path: Path, group: str, clock: Clock | None = None) -> bool:
    """Makes a store for the members of a group; False where exactly that store is there already.

    Raises NotFound for an unknown group, Refused `store_exists` for a store that is shared otherwise or not at
    all, Refused `directory_in_use` for a directory that is not the group's, StoreReadOnly where it may not be made.
    """
    path, clock = true_path(path), clock or SystemClock()
    try:
        gid = grp.getgrnam(group).gr_gid
    except KeyError:
        raise NotFound("group", group) from None
    if path.exists() and path.stat().st_size > 0:
        _refuse_unless_shared(path, group)
        return False
    with errors_of_the_store(path):
        try:
            _share_directory(path.parent, group, gid)
            opening.new_file(path)
            os.chown(path, -1, gid)
            path.chmod(FILE)
        except FileExistsError:
            raise Refused("store_exists", f"{path} is being made by somebody else", path=str(path)) from None
        except PermissionError as error:
            why = f"{error.filename or path.parent} cannot be given to the group {group}: {error.strerror}"
            raise StoreReadOnly(str(path), why) from error
        opening.create(
            path, Patience(str(path)), store_id=str(uuid.uuid4()), at=clock.now().wall_ms, shared_group=group
        )
    return True


def closed_ancestor(path: Path, group: str) -> Path | None:
    """The nearest directory above a store's own that keeps members of the group out; None where they get through."""
    gid = grp.getgrnam(group).gr_gid
    for directory in true_path(path).parent.parents:
        facts = directory.stat()
        through = facts.st_mode & stat.S_IXOTH or (facts.st_gid == gid and facts.st_mode & stat.S_IXGRP)
        if not through:
            return directory
    return None


def _refuse_unless_shared(path: Path, group: str) -> None:
    known = read_once(path, store_facts).shared_group
    if known != group:
        said = "is private" if known is None else f"is shared with {known}"
        raise Refused("store_exists", f"the store {path} is there and {said}", path=str(path), shared_group=known)


def _share_directory(directory: Path, group: str, gid: int) -> None:
    """Makes the directory, or takes one that is empty; one that holds something must be the group's already."""
    try:
        directory.mkdir(parents=True)
    except FileExistsError:
        facts = directory.stat()
        if facts.st_gid == gid and stat.S_IMODE(facts.st_mode) & DIRECTORY == DIRECTORY:
            return
        if any(directory.iterdir()):
            how = f"chgrp {group} {directory} && chmod 2770 {directory}"
            message = f"{directory} holds other files and is not shared with {group}: {how}"
            raise Refused("directory_in_use", message, path=str(directory)) from None
    os.chown(directory, -1, gid)
    directory.chmod(DIRECTORY)
