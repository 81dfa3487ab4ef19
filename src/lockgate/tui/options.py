"""How one dashboard was asked to look and behave, in one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lockgate.config.errors import SettingError
from lockgate.config.settings import Settings
from lockgate.view.glyphs import ASCII, UNICODE, Glyphs


@dataclass(frozen=True, slots=True)
class Options:
    """`keys` maps the id of a binding to its keys; `theme` is one of `themes.PALETTES`, or `auto`."""

    theme: str = "auto"
    ascii: bool = False
    mouse: bool = True
    bell: bool = True
    read_only: bool = False
    run_id: str | None = None
    zone: tzinfo | None = None
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def glyphs(self) -> Glyphs:
        return ASCII if self.ascii else UNICODE

    @property
    def zone_or_local(self) -> tzinfo:
        """The one zone of every time on the screen."""
        local = self.zone or datetime.now().astimezone().tzinfo
        assert local is not None
        return local


def options_from(settings: Settings, *, read_only: bool, run_id: str | None) -> Options:
    """The options that the settings ask for.

    Raises SettingError for a time zone that this machine does not know.
    """
    return Options(
        theme=settings.theme,
        ascii=settings.ascii,
        mouse=settings.mouse,
        bell=settings.bell,
        read_only=read_only,
        run_id=run_id,
        zone=_zone(settings),
        keys=settings.keys,
    )


def _zone(settings: Settings) -> tzinfo | None:
    if settings.zone is None:
        return None
    try:
        return ZoneInfo(settings.zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise SettingError("zone", settings.found["zone"].origin, f"no such time zone: {error}") from error
