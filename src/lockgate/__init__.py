"""Lockgate runs durable workflows in one SQLite file and stops them where a person has to decide.

The names below are the public API. They are resolved when they are first used, so that a workflow file which
imports the authoring names loads neither the store nor a screen.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.engine.context import Context as Context
    from lockgate.engine.person import human_here as human_here
    from lockgate.flow.authoring.blocks import bullets as bullets
    from lockgate.flow.authoring.blocks import fields as fields
    from lockgate.flow.authoring.blocks import paragraph as paragraph
    from lockgate.flow.authoring.blocks import preformatted as preformatted
    from lockgate.flow.authoring.blocks import section as section
    from lockgate.flow.authoring.constructors import action as action
    from lockgate.flow.authoring.constructors import agent as agent
    from lockgate.flow.authoring.constructors import checkpoint as checkpoint
    from lockgate.flow.authoring.constructors import compute as compute
    from lockgate.flow.authoring.constructors import human_decision as human_decision
    from lockgate.flow.authoring.constructors import notify as notify
    from lockgate.flow.authoring.constructors import shell as shell
    from lockgate.flow.authoring.edges import decision_edge as decision_edge
    from lockgate.flow.authoring.edges import edge as edge
    from lockgate.flow.authoring.edges import switch_edge as switch_edge
    from lockgate.flow.authoring.effects import happened as happened
    from lockgate.flow.authoring.effects import idempotent as idempotent
    from lockgate.flow.authoring.effects import manual as manual
    from lockgate.flow.authoring.effects import not_happened as not_happened
    from lockgate.flow.authoring.effects import verified as verified
    from lockgate.flow.authoring.includes import exit_at as exit_at
    from lockgate.flow.authoring.includes import include as include
    from lockgate.flow.authoring.offers import Ask as Ask
    from lockgate.flow.authoring.offers import choice as choice
    from lockgate.flow.authoring.offers import text_input as text_input
    from lockgate.flow.authoring.settings import allow as allow
    from lockgate.flow.authoring.settings import settings as settings
    from lockgate.flow.authoring.workflow import Workflow as Workflow
    from lockgate.host.host import Host as Host
    from lockgate.host.inline import execute as execute
    from lockgate.host.starting import restart as restart
    from lockgate.host.starting import start_run as start_run
    from lockgate.model.errors import ClaimLost as ClaimLost
    from lockgate.model.errors import DefinitionError as DefinitionError
    from lockgate.model.errors import KeyConflict as KeyConflict
    from lockgate.model.errors import LockgateError as LockgateError
    from lockgate.model.errors import NotFound as NotFound
    from lockgate.model.errors import PayloadError as PayloadError
    from lockgate.model.errors import Refused as Refused
    from lockgate.model.errors import RouteError as RouteError
    from lockgate.model.errors import SourceChanged as SourceChanged
    from lockgate.model.errors import StoreBusy as StoreBusy
    from lockgate.model.errors import StoreDamaged as StoreDamaged
    from lockgate.model.errors import StoreDetached as StoreDetached
    from lockgate.model.errors import StoreError as StoreError
    from lockgate.model.errors import StoreForeign as StoreForeign
    from lockgate.model.errors import StoreMissing as StoreMissing
    from lockgate.model.errors import StoreReadOnly as StoreReadOnly
    from lockgate.model.errors import StoreTooNew as StoreTooNew
    from lockgate.model.errors import StoreTooOld as StoreTooOld
    from lockgate.model.errors import StoreUnsafeLocation as StoreUnsafeLocation
    from lockgate.model.errors import WorkflowError as WorkflowError
    from lockgate.model.records import Actor as Actor
    from lockgate.model.records import EventView as EventView
    from lockgate.model.records import Human as Human
    from lockgate.model.records import Receipt as Receipt
    from lockgate.model.records import RequestView as RequestView
    from lockgate.model.records import Run as Run
    from lockgate.model.records import RunDetail as RunDetail
    from lockgate.model.records import Wake as Wake
    from lockgate.model.statuses import ActorKind as ActorKind
    from lockgate.model.statuses import AttemptStatus as AttemptStatus
    from lockgate.model.statuses import EffectStatus as EffectStatus
    from lockgate.model.statuses import Intent as Intent
    from lockgate.model.statuses import Outcome as Outcome
    from lockgate.model.statuses import QueueStatus as QueueStatus
    from lockgate.model.statuses import RequestKind as RequestKind
    from lockgate.model.statuses import RunStatus as RunStatus
    from lockgate.model.statuses import Word as Word
    from lockgate.store.reads import Page as Page
    from lockgate.store.reads import RunQuery as RunQuery
    from lockgate.store.shell import Store as Store
    from lockgate.store.shell import open_store as open_store

_HOMES = {
    "engine.context": "Context",
    "engine.person": "human_here",
    "flow.authoring.blocks": "bullets fields paragraph preformatted section",
    "flow.authoring.constructors": "action agent checkpoint compute human_decision notify shell",
    "flow.authoring.edges": "decision_edge edge switch_edge",
    "flow.authoring.effects": "happened idempotent manual not_happened verified",
    "flow.authoring.includes": "exit_at include",
    "flow.authoring.offers": "Ask choice text_input",
    "flow.authoring.settings": "allow settings",
    "flow.authoring.workflow": "Workflow",
    "host.host": "Host",
    "host.inline": "execute",
    "host.starting": "restart start_run",
    "model.errors": (
        "ClaimLost DefinitionError KeyConflict LockgateError NotFound PayloadError Refused RouteError"
        " SourceChanged StoreBusy StoreDamaged StoreDetached StoreError StoreForeign StoreMissing StoreReadOnly"
        " StoreTooNew StoreTooOld StoreUnsafeLocation WorkflowError"
    ),
    "model.records": "Actor EventView Human Receipt RequestView Run RunDetail Wake",
    "model.statuses": ("ActorKind AttemptStatus EffectStatus Intent Outcome QueueStatus RequestKind RunStatus Word"),
    "store.reads": "Page RunQuery",
    "store.shell": "Store open_store",
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'lockgate' has no attribute {name!r}")
    found = getattr(import_module(f"lockgate.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
