"""What anybody may ask of a run, as transactions with keys and receipts: one function for each command.

Each takes an open `Transaction` and returns a Receipt: accepted, adopted (the key or the state was there
already), rejected (a rule of the law, in `reason`), conflict (somebody else was first) or not_found. Only
accepted, adopted and the losing answers are stored under their key.

The names are resolved when they are first used: who only reads does not load the law.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockgate.store.commands.answers import Submission as Submission
    from lockgate.store.commands.answers import answer as answer
    from lockgate.store.commands.answers import check_submission as check_submission
    from lockgate.store.commands.answers import expire as expire
    from lockgate.store.commands.answers import submit as submit
    from lockgate.store.commands.controls import cancel as cancel
    from lockgate.store.commands.controls import pause as pause
    from lockgate.store.commands.controls import resolve_effect as resolve_effect
    from lockgate.store.commands.controls import resume as resume
    from lockgate.store.commands.settings import MOST_TRIES as MOST_TRIES
    from lockgate.store.commands.settings import change_settings as change_settings
    from lockgate.store.commands.settings import is_overtaken as is_overtaken
    from lockgate.store.commands.settings import patch_settings as patch_settings
    from lockgate.store.commands.starts import NewRun as NewRun
    from lockgate.store.commands.starts import restart as restart
    from lockgate.store.commands.starts import restarted as restarted
    from lockgate.store.commands.starts import start as start
    from lockgate.store.commands.starts import started as started

_HOMES = {
    "answers": "Submission answer check_submission expire submit",
    "controls": "cancel pause resolve_effect resume",
    "settings": "MOST_TRIES change_settings is_overtaken patch_settings",
    "starts": "NewRun restart restarted start started",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found
