"""How the ids of a compiled graph say where a node belongs.

An included workflow stands under its mount: `review/draft` is the node `draft` of what is included at `review`,
`a/b/draft` lies one deeper. Two nodes of a mount are its passages. The entry has the mount's own id, `review`, and
belongs to the parent, who makes the child's input; an exit is called `review.done` and belongs to the child, whose
output it takes out.
"""

from lockgate.model.ids import ROOT_MOUNT

MAX_ID_CHARS = 200
"""Of a compiled id: an event names it several times."""


def exit_id(mount: str, exit: str) -> str:
    return f"{mount}.{exit}"


def exit_of(node_id: str) -> str | None:
    """The exit that a node is, None for any other node: no author's id has a dot."""
    _, dot, name = node_id.rpartition(".")
    return name if dot else None


def mount_of(node_id: str) -> str:
    """The mount of the workflow that a node belongs to, `$root` for the outermost."""
    inside, dot, _ = node_id.rpartition(".")
    return inside if dot else node_id.rpartition("/")[0] or ROOT_MOUNT


def local_id(node_id: str) -> str:
    """The id by which the workflow itself calls its node; a passage is known to its parent by the mount."""
    return node_id.rpartition("/")[2].partition(".")[0]


def line_of(mount: str) -> tuple[str, ...]:
    """The mounts that lead to a mount, itself last; none for the root: `a/b` -> (`a`, `a/b`)."""
    if mount == ROOT_MOUNT:
        return ()
    parts = mount.split("/")
    return tuple("/".join(parts[:count]) for count in range(1, len(parts) + 1))
