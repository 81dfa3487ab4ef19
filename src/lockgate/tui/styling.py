"""Which styles a widget paints with now: the app's theme decides, computed once for each."""

from textual.app import App
from textual.dom import DOMNode

from lockgate.tui.themes import PALETTES, RoleStyles, role_styles


def styles_of(node: DOMNode) -> RoleStyles:
    """The role styles of the theme in force; a theme that is not ours is painted as dark."""
    app: App[object] = node.app
    name = app.theme if app.theme in PALETTES else "dark"
    return role_styles(name, no_color=app.no_color, covered=node.screen.has_class("-covered"))
