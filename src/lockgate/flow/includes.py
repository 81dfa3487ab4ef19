"""The law's part in entering and leaving an included workflow.

An include is no run of its own: its nodes are compiled into the parent's graph (flow.mounts), so that routes, waits,
losses and limits are those of any other node. Its two passages are steps like others, too: the entry's output is the
child's input, an exit's output {exit, output} is what the parent sees. What they do besides is here: the step that
enters opens a scope, with settings of its own where the child declares any, the step that leaves closes it. A scope
goes on exactly between the two; its invocation number is the visit of its entry, since an entry that fails ends the
run. So the scopes of a head follow from its last step, and nothing else has to be remembered.
"""

from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft
from lockgate.flow.mounts import exit_of
from lockgate.model import events as ev
from lockgate.model.errors import Refused
from lockgate.model.records import AttemptRow


def pass_through(draft: Draft, attempt: AttemptRow, wish: t.FinishAttempt) -> None:
    """Says that an include was entered or left, where the attempt that ended ok is a passage."""
    mount = draft.head.graph.mounts.get(attempt.node_id)
    if mount is not None:
        _enter(draft, attempt, wish)
    elif wish.settings_hash is not None:
        raise Refused("no_settings", f"{attempt.node_id!r} enters no include: it has no first settings")
    elif (exit := exit_of(attempt.node_id)) is not None:
        _leave(draft, attempt, wish, exit)


def _enter(draft: Draft, attempt: AttemptRow, wish: t.FinishAttempt) -> None:
    mount = draft.head.graph.mounts[attempt.node_id]
    if (wish.settings_hash is None) != (mount.settings is None):
        wanted = "no settings" if mount.settings is None else "first settings"
        raise Refused("wrong_settings", f"the step into {attempt.node_id!r} has to name {wanted}")
    assert wish.output_hash is not None
    payload = ev.IncludeEntered(
        mount_path=attempt.node_id,
        workflow=mount.workflow,
        invocation=attempt.visit,
        input_hash=wish.output_hash,
        settings_hash=wish.settings_hash,
    )
    draft.emit("include_entered", payload, attempt.attempt_id)


def _leave(draft: Draft, attempt: AttemptRow, wish: t.FinishAttempt, exit: str) -> None:
    scope = draft.head.scopes[-1]
    assert wish.output_hash is not None
    payload = ev.IncludeExited(
        mount_path=scope.mount,
        workflow=draft.head.graph.mounts[scope.mount].workflow,
        invocation=scope.invocation,
        exit=exit,
        output_hash=wish.output_hash,
    )
    draft.emit("include_exited", payload, attempt.attempt_id)
