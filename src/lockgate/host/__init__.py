"""Who acts: a host claims runs, launches one worker process for each, supervises it and commits its proposals.

A worker never holds the database: it proposes over a private socket, and its host commits with the claim's
token, which never leaves the host. Losing either process loses nothing that was committed, and a new host
takes over at once. `python -m lockgate.host.worker` must stay free of SQLite, so the public names of this
room are resolved lazily.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.host.host import Host as Host
    from lockgate.host.host import run_host as run_host
    from lockgate.host.inline import execute as execute

__all__ = ["Host", "execute", "run_host"]

_HOMES = {
    "Host": "lockgate.host.host",
    "run_host": "lockgate.host.host",
    "execute": "lockgate.host.inline",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(home), name)
