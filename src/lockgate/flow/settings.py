"""The law's rules for live settings: a change is one event, each attempt keeps what it saw, a route sees the newest."""

from typing import Any

from msgspec.structs import replace

from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft
from lockgate.flow.head import Facts, RunHead
from lockgate.flow.proposals import require_attempt
from lockgate.model import events as ev
from lockgate.model import ids
from lockgate.model.errors import Refused
from lockgate.model.records import SettingsChangeRow, SettingsRow


def change(draft: Draft, wish: t.ChangeSettings, facts: Facts) -> dict[str, Any]:
    """Commits a patch that was applied to exactly the present settings; else `stale`, and it is applied anew."""
    run = draft.head.run
    if run.status.is_terminal:
        raise Refused("run_closed", f"the run is {run.status} already", status=str(run.status))
    settings = declared(draft.head, wish.mount, wish.invocation)
    ids.match(ids.WORD, wish.source, "a source")
    if wish.expected_change != settings.change_number or wish.before_hash != settings.current_hash:
        raise Refused(
            "stale",
            f"the settings were seen at change {wish.expected_change}, they are at {settings.change_number}",
            seen=wish.expected_change,
            change=settings.change_number,
        )
    if wish.after_hash == settings.current_hash:
        return {"change_number": settings.change_number}
    number = settings.change_number + 1
    changed = replace(settings, current_hash=wish.after_hash, change_number=number, updated_at=draft.at)
    row = SettingsChangeRow(
        change_id=f"{settings.scope_id}:{number}",
        scope_id=settings.scope_id,
        run_id=run.run_id,
        change_number=number,
        actor_kind=draft.actor.kind,
        actor_id=draft.actor.id,
        source=wish.source,
        patch_hash=wish.patch_hash,
        before_hash=settings.current_hash,
        after_hash=wish.after_hash,
        accepted_at=draft.at,
    )
    draft.emit("settings_changed", ev.SettingsChanged(settings=changed, change=row))
    return {"change_number": number}


def retry_route(draft: Draft, wish: t.RetryRoute, facts: Facts) -> dict[str, Any]:
    """Binds the same attempt of a settings route to the newest settings; nothing that was done is done again."""
    attempt = require_attempt(draft.head, wish.attempt_id)
    settings = declared(draft.head, draft.head.scopes[-1].mount)
    if not draft.head.graph.is_settings_route(attempt.node_id):
        raise Refused("no_route", f"{attempt.node_id!r} is not a settings route")
    if attempt.settings_change is None or attempt.settings_change == settings.change_number:
        raise Refused("settings_seen", f"the attempt {attempt.attempt_id} saw the newest settings")
    payload = ev.SettingsRouteRetried(
        scope_id=settings.scope_id,
        previous_change=attempt.settings_change,
        settings_change=settings.change_number,
        settings_hash=settings.current_hash,
    )
    draft.emit("settings_route_retried", payload, attempt.attempt_id)
    return {"settings_hash": settings.current_hash}


def declared(head: RunHead, mount: str, invocation: int | None = None) -> SettingsRow:
    """The settings of an invocation that goes on; without a number, of the one that does. Raises Refused."""
    if mount != ids.ROOT_MOUNT and mount not in head.graph.mounts:
        known = ", ".join([ids.ROOT_MOUNT, *head.graph.mounts])
        raise Refused("no_scope", f"the run has no settings scope {mount[:80]!r}: {known}", given=mount[:200])
    if head.graph.settings_of(mount) is None:
        workflow = head.run.workflow if mount == ids.ROOT_MOUNT else head.graph.mounts[mount].workflow
        others = [path for path in (ids.ROOT_MOUNT, *head.graph.mounts) if head.graph.settings_of(path) is not None]
        more = f", a scope that has some is {', '.join(others)}" if others else ""
        raise Refused("no_settings", f"the workflow {workflow!r} declares no settings{more}")
    scope = next((scope for scope in head.scopes if scope.mount == mount), None)
    if scope is None or scope.settings is None or invocation not in (None, scope.invocation):
        now = "is not entered" if scope is None else f"is in its invocation {scope.invocation}"
        wanted = mount if invocation is None else f"{mount}#{invocation}"
        raise Refused("scope_closed", f"the settings of {wanted} cannot be changed: {mount!r} {now}", scope=wanted)
    return scope.settings
