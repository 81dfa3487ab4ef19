"""How one dashboard was asked to look and behave, in one frozen value."""

from collections.abc import Mapping
from datetime import UTC, tzinfo

import msgspec

from lockgate.config.settings import Settings
from lockgate.config.zones import zone
from lockgate.view.glyphs import ASCII, UNICODE, Glyphs


class Options(msgspec.Struct, frozen=True):
    """`keys` maps the id of a binding to its keys; `theme` is one of `themes.PALETTES`, or `auto`."""

    theme: str = "auto"
    ascii: bool = False
    mouse: bool = True
    bell: bool = True
    read_only: bool = False
    run_id: str | None = None
    zone: tzinfo = UTC
    keys: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def glyphs(self) -> Glyphs:
        return ASCII if self.ascii else UNICODE


def options_from(settings: Settings, *, read_only: bool, run_id: str | None) -> Options:
    """The options that the settings ask for."""
    return Options(
        theme=settings.theme,
        ascii=settings.ascii,
        mouse=settings.mouse,
        bell=settings.bell,
        read_only=read_only,
        run_id=run_id,
        zone=zone(settings.zone),
        keys=settings.keys,
    )
