"""When a workflow's files count as changed since its run started."""

from collections.abc import Mapping


def changed(recorded: Mapping[str, str], found: Mapping[str, str]) -> tuple[str, ...]:
    """The paths, sorted, whose hash differs from the recorded one or which were not recorded at all.

    A recorded file that is no longer loaded does not count by itself: what stopped loading it does.
    """
    return tuple(sorted(path for path, digest in found.items() if recorded.get(path) != digest))
