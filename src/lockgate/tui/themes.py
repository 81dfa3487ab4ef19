"""The five palettes, as themes for style sheets and as styles for lines.

A palette names one colour for each role; a widget that paints lines looks its styles up in `role_styles`, a
style sheet says `$you`. Both come from the same table. Every colour of dark, light and high contrast is an
exact colour of the 256-colour palette, and nothing is ever dimmed: a terminal may draw that as nothing.
"""

from collections.abc import Mapping
from functools import cache
from typing import get_args

import msgspec
from rich.style import Style
from textual.theme import Theme

from lockgate.view.cells import Role

DARK: Mapping[str, str] = {
    "bg": "#121212",
    "surface": "#1c1c1c",
    "card": "#1c1c1c",
    "field": "#262626",
    "select": "#303030",
    "line": "#444444",
    "text": "#d0d0d0",
    "strong": "#ffffff",
    "muted": "#9e9e9e",
    "accent": "#5fafff",
    "accent-fill": "#5fafff",
    "you": "#ffaf00",
    "you-fill": "#ffaf00",
    "you-bar": "#d78700",
    "bad": "#ff5f5f",
    "bad-select": "#ff8787",
    "run": "#87afd7",
    "work": "#5f87d7",
    "agent": "#5f87af",
    "paused": "#b2b2b2",
    "replay": "#ff87ff",
    "add": "#5fafff",
    "rem": "#ffaf5f",
    "back": "#585858",
    "ink": "#000000",
    "replay-ink": "#000000",
}

LIGHT: Mapping[str, str] = {
    "bg": "#ffffff",
    "surface": "#eeeeee",
    "card": "#ffffff",
    "field": "#eeeeee",
    "select": "#e4e4e4",
    "line": "#bcbcbc",
    "text": "#303030",
    "strong": "#000000",
    "muted": "#585858",
    "accent": "#005faf",
    "accent-fill": "#87d7ff",
    "you": "#875f00",
    "you-fill": "#ffaf00",
    "you-bar": "#d75f00",
    "bad": "#870000",
    "bad-select": "#870000",
    "run": "#005f87",
    "work": "#0087d7",
    "agent": "#5f5faf",
    "paused": "#626262",
    "replay": "#5f00d7",
    "add": "#005faf",
    "rem": "#875f00",
    "back": "#b2b2b2",
    "ink": "#000000",
    "replay-ink": "#ffffff",
}

HIGH_CONTRAST: Mapping[str, str] = {
    "bg": "#000000",
    "surface": "#121212",
    "card": "#121212",
    "field": "#262626",
    "select": "#303030",
    "line": "#8a8a8a",
    "text": "#ffffff",
    "strong": "#ffffff",
    "muted": "#d0d0d0",
    "accent": "#5fd7ff",
    "accent-fill": "#5fd7ff",
    "you": "#ffd700",
    "you-fill": "#ffaf00",
    "you-bar": "#ffaf00",
    "bad": "#ff8787",
    "bad-select": "#ff8787",
    "run": "#afd7ff",
    "work": "#5fafff",
    "agent": "#5f87af",
    "paused": "#ffffff",
    "replay": "#af87ff",
    "add": "#5fd7ff",
    "rem": "#ffd787",
    "back": "#8a8a8a",
    "ink": "#000000",
    "replay-ink": "#000000",
}

# Greys only, for NO_COLOR: the filter that removes colour would turn `bad` into a grey darker than the text.
MONO: Mapping[str, str] = {
    **dict.fromkeys(DARK, "#d0d0d0"),
    "bg": "#121212",
    "surface": "#1c1c1c",
    "card": "#1c1c1c",
    "field": "#262626",
    "select": "#303030",
    "line": "#767676",
    "strong": "#ffffff",
    "muted": "#9e9e9e",
    "accent": "#ffffff",
    "you": "#ffffff",
    "bad": "#ffffff",
    "bad-select": "#ffffff",
    "rem": "#9e9e9e",
    "back": "#585858",
    "ink": "#000000",
    "replay-ink": "#000000",
}

# The user's own sixteen colours; a background is never set, so that theirs shows.
ANSI: Mapping[str, str] = {
    **dict.fromkeys(DARK, "default"),
    "accent": "cyan",
    "accent-fill": "cyan",
    "you-fill": "yellow",
    "you-bar": "yellow",
    "bad": "red",
    "bad-select": "red",
    "work": "blue",
    "agent": "blue",
    "replay": "magenta",
    "add": "cyan",
    "ink": "black",
    "replay-ink": "black",
}

PALETTES: Mapping[str, Mapping[str, str]] = {
    "dark": DARK,
    "light": LIGHT,
    "high-contrast": HIGH_CONTRAST,
    "ansi": ANSI,
    "mono": MONO,
}
"""The palettes by the name that `--theme` and the config take."""

GROUNDS = ("bg", "surface", "card", "field")
FILLS = {
    "you-fill": ("you-fill", "ink"),
    "replay-fill": ("replay", "replay-ink"),
    "button": ("accent-fill", "ink"),
    "field": ("field", "text"),
}
"""The roles that are a background, each with the palette entries of its ground and its ink."""

_BOLD_IN_ANSI = frozenset({"strong", "you", "bad"})


class RoleStyles(msgspec.Struct, frozen=True):
    """The styles of one theme: by role, and by role on the row under the cursor."""

    ink: Mapping[str, Style]
    on_select: Mapping[str, Style]
    ground: Mapping[str, Style]
    """What a widget stands on."""
    select: Style
    """What the row under the cursor stands on."""
    weighted: bool = True
    """Whether bold and underlined text is so."""


def themes() -> tuple[Theme, ...]:
    """Every theme, to be registered with the app; a style sheet sees each role as a variable."""
    return tuple(_theme(name) for name in PALETTES)


def _theme(name: str) -> Theme:
    if name == "ansi":
        return _ansi_theme()
    palette = PALETTES[name]
    return Theme(
        name=name,
        primary=palette["accent"],
        accent=palette["accent"],
        foreground=palette["text"],
        background=palette["bg"],
        surface=palette["surface"],
        panel=palette["field"],
        error=palette["bad"],
        warning=palette["you"],
        success=palette["run"],
        dark=name != "light",
        variables={
            **palette,
            "input-cursor-background": palette["strong"],
            "input-cursor-foreground": palette["bg"],
            "input-selection-background": palette["select"],
            "scrollbar": palette["muted"],
            "scrollbar-hover": palette["muted"],
            "scrollbar-active": palette["strong"],
            "scrollbar-background": palette["card"],
            "scrollbar-background-hover": palette["card"],
            "scrollbar-background-active": palette["card"],
        },
    )


def _ansi_theme() -> Theme:
    return Theme(
        name="ansi",
        primary="ansi_cyan",
        accent="ansi_cyan",
        error="ansi_red",
        warning="ansi_yellow",
        success="ansi_default",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        ansi=True,
        variables={
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            **{role: f"ansi_{colour}" for role, colour in ANSI.items()},
        },
    )


@cache
def role_styles(name: str, *, no_color: bool = False, covered: bool = False) -> RoleStyles:
    """The styles of the theme called `name`.

    With `no_color` no style leans on a colour to say something; `covered` is the page behind an open card,
    where everything has one quiet colour and nothing is filled.
    """
    palette, plain = PALETTES[name], name == "ansi"
    grounds = {role: Style(bgcolor=palette[role]) for role in GROUNDS}
    if covered:
        quiet = dict.fromkeys(get_args(Role), Style(color=palette["back"]))
        return RoleStyles(quiet, quiet, grounds, grounds["bg"], weighted=False)
    ink: dict[str, Style] = {}
    on_select: dict[str, Style] = {}
    for role in get_args(Role):
        if role in FILLS:
            ink[role] = on_select[role] = _fill(palette, role, plain and no_color)
            continue
        bold = True if plain and role in _BOLD_IN_ANSI else None
        ink[role] = Style(color=palette[role], bold=bold)
        on_select[role] = Style(color=palette.get(f"{role}-select", palette[role]), bold=bold)
    return RoleStyles(ink, on_select, grounds, _select(palette, plain, no_color))


def _fill(palette: Mapping[str, str], role: str, reverse: bool) -> Style:
    ground, front = FILLS[role]
    if reverse and role != "field":
        return Style(reverse=True)
    return Style(color=palette[front], bgcolor=palette[ground])


def _select(palette: Mapping[str, str], plain: bool, no_color: bool) -> Style:
    if not plain:
        return Style(bgcolor=palette["select"])
    return Style(bold=True) if no_color else Style(reverse=True)
