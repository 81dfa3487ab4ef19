"""Lockgate runs durable workflows in one SQLite file and stops them where a person has to decide.

The names below are the public API. They are resolved when they are first used, so that a workflow file which
imports the authoring names loads neither the store nor a screen.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.engine.context import Context as Context
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
    from lockgate.flow.authoring.offers import Ask as Ask
    from lockgate.flow.authoring.offers import choice as choice
    from lockgate.flow.authoring.offers import text_input as text_input
    from lockgate.flow.authoring.workflow import Workflow as Workflow

_HOMES = {
    "engine.context": ("Context",),
    "flow.authoring.blocks": ("bullets", "fields", "paragraph", "preformatted", "section"),
    "flow.authoring.constructors": (
        "action",
        "agent",
        "checkpoint",
        "compute",
        "human_decision",
        "notify",
        "shell",
    ),
    "flow.authoring.edges": ("decision_edge", "edge", "switch_edge"),
    "flow.authoring.effects": ("happened", "idempotent", "manual", "not_happened", "verified"),
    "flow.authoring.offers": ("Ask", "choice", "text_input"),
    "flow.authoring.workflow": ("Workflow",),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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
