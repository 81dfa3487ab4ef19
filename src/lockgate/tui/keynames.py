"""The keys that are in force, as people write them: help is made from the bindings, so it cannot be wrong."""

from collections.abc import Iterable

from textual.binding import ActiveBinding, Binding
from textual.dom import DOMNode
from textual.screen import Screen

from lockgate.view.help import Keys

_NAMES = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "enter": "Enter",
    "escape": "esc",
    "tab": "Tab",
    "shift+tab": "S-Tab",
    "slash": "/",
    "question_mark": "?",
    "comma": ",",
    "colon": ":",
    "plus": "+",
    "minus": "-",
    "space": "Space",
}
_SECOND_NAMES = frozenset({"home", "end", "ctrl+q", "shift+tab", "ctrl+c"})
_OF_A_PANE = frozenset({"decide", "filter", "match.next", "match.previous", "sort", "copy.id", "copy.json"})
_ASCII = {"↑": "Up", "↓": "Down", "←": "Left", "→": "Right"}


def key_name(key: str, *, ascii: bool = False) -> str:
    """`slash` is written `/`, `ctrl+p` stays."""
    name = _NAMES.get(key, key)
    return _ASCII.get(name, name) if ascii else name


def written(keys: str, *, ascii: bool) -> str:
    """Keys as a pane words them, `← →`, for a terminal that may have no arrows."""
    return " ".join(_ASCII.get(key, key) if ascii else key for key in keys.split(" "))


def action_ids(*nodes: type[DOMNode]) -> frozenset[str]:
    """The ids by which the config may name the actions of these screens and widgets."""
    bindings = (each for node in nodes for each in node.__dict__.get("BINDINGS", ()))
    return frozenset(each.id for each in bindings if isinstance(each, Binding) and each.id)


def groups(screen: Screen[None], *, ascii: bool) -> list[tuple[str, Keys]]:
    """The keys of the focused pane, of the run under the cursor, and of everywhere."""
    active = list(screen.active_bindings.values())
    run = [each for each in active if _id(each).startswith("run.")]
    own = [each for each in active if each.node not in (screen, screen.app)]
    own += [each for each in active if _id(each) in _OF_A_PANE]
    rest = [each for each in active if each not in run and each not in own]
    named = (("In this pane", own), ("The run under the cursor", run), ("Everywhere", rest))
    return [(title, _pairs(each, ascii)) for title, each in named if each]


def _id(active: ActiveBinding) -> str:
    return active.binding.id or ""


def _pairs(active: Iterable[ActiveBinding], ascii: bool) -> list[tuple[str, str]]:
    """Keys of one description together, letters before named keys; second names of a key are left out."""
    keys: dict[str, list[str]] = {}
    for each in active:
        words = _family(each)
        if words and each.binding.key not in _SECOND_NAMES:
            keys.setdefault(words, []).append(key_name(each.binding.key, ascii=ascii))
    return [(" ".join(sorted(names, key=_letters_first)), words) for words, names in keys.items()]


def _letters_first(name: str) -> tuple[bool, bool]:
    return (not name.isascii(), len(name) > 1)


def _family(active: ActiveBinding) -> str:
    """Bindings that are one thing to people share a line."""
    families = {
        "list.down": "move",
        "list.up": "move",
        "list.first": "first, last",
        "list.last": "first, last",
        "list.page_down": "a page on or back",
        "list.page_up": "a page on or back",
        "match.next": "next, previous match",
        "match.previous": "next, previous match",
        "pane.next": "next, previous pane",
        "pane.previous": "next, previous pane",
        "copy.id": "copy the id, as JSON",
        "copy.json": "copy the id, as JSON",
        "timeline.in": "zoom in, out",
        "timeline.out": "zoom in, out",
        "timeline.left": "earlier, later",
        "timeline.right": "earlier, later",
        "tab.next": "next, previous tab",
        "tab.previous": "next, previous tab",
        **{f"pane.{number}": "go to a pane" for number in range(1, 5)},
    }
    return families.get(_id(active), active.binding.description if active.binding.id else "")
