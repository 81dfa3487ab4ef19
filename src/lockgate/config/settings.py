"""The settings, their kinds and defaults, and the one function that reads them all.

`SETTINGS` is the whole list: a name, how its text or TOML value becomes a value, and its default. The
variable of `max_workers` is `LOCKGATE_MAX_WORKERS`; in config.toml the same name stands at the top level.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lockgate.config import places
from lockgate.config.errors import ConfigFileError, SettingError

PREFIX = "LOCKGATE_"
CONFIG_VARIABLE = "LOCKGATE_CONFIG"
THEMES = ("auto", "dark", "light", "high-contrast", "ansi", "mono")
MAX_WORKERS = 64


class Setting(msgspec.Struct, frozen=True):
    """One value and where it came from: `--db`, `LOCKGATE_DB`, the path of config.toml, or `default`."""

    value: Any
    origin: str


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting of one command. `keys` maps an action of the dashboard to its key."""

    file: Path
    found: Mapping[str, Setting]

    @property
    def db(self) -> Path:
        return Path(self.found["db"].value)

    @property
    def theme(self) -> str:
        return str(self.found["theme"].value)

    @property
    def ascii(self) -> bool:
        return bool(self.found["ascii"].value)

    @property
    def mouse(self) -> bool:
        return bool(self.found["mouse"].value)

    @property
    def bell(self) -> bool:
        return bool(self.found["bell"].value)

    @property
    def zone(self) -> str | None:
        """The name of the time zone on every screen; None is the system's."""
        zone: str | None = self.found["zone"].value
        return zone

    @property
    def max_workers(self) -> int:
        return int(self.found["max_workers"].value)

    @property
    def fork_server(self) -> bool:
        """Whether a host has its workers forked, where the system allows it."""
        return bool(self.found["fork_server"].value)

    @property
    def keys(self) -> Mapping[str, str]:
        keys: Mapping[str, str] = self.found["keys"].value
        return keys


def read(flags: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """The settings from flags (those that are not None), the environment and config.toml.

    Raises SettingError for a value that is none, ConfigFileError for a file that cannot be read; a setting
    that does not exist is refused by name, so that a misspelt one is not silently the default.
    """
    file = Path(environ.get(CONFIG_VARIABLE) or places.default_config()).expanduser()
    filed = _filed(file, required=bool(environ.get(CONFIG_VARIABLE)))
    found = {name: _find(name, flags, environ, filed, str(file)) for name in SETTINGS}
    return Settings(file=file, found=found)


def _find(
    name: str, flags: Mapping[str, Any], environ: Mapping[str, str], filed: Mapping[str, Any], file: str
) -> Setting:
    parse, default = SETTINGS[name]
    variable = PREFIX + name.upper()
    if flags.get(name) is not None:
        given, origin = flags[name], f"--{name.replace('_', '-')}"
    elif environ.get(variable):
        given, origin = environ[variable], variable
    elif name in filed:
        given, origin = filed[name], file
    else:
        return Setting(default() if callable(default) else default, "default")
    try:
        return Setting(parse(given), origin)
    except ValueError as error:
        raise SettingError(name, origin, str(error)) from error


def _filed(file: Path, *, required: bool) -> Mapping[str, Any]:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        if required:
            raise ConfigFileError(str(file), f"named by {CONFIG_VARIABLE}, but there is no such file") from None
        return {}
    except OSError as error:
        raise ConfigFileError(str(file), error.strerror or str(error)) from error
    try:
        filed = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigFileError(str(file), str(error)) from error
    unknown = sorted(set(filed) - set(SETTINGS))
    if unknown:
        raise SettingError(unknown[0], str(file), f"no such setting; there are {', '.join(SETTINGS)}")
    return filed


def _path(given: Any) -> str:
    if not isinstance(given, str | Path) or not str(given).strip() or "\0" in str(given):
        raise ValueError(f"a path, got {given!r}")
    return str(Path(given).expanduser().absolute())


def _flag(given: Any) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given.lower() in words:
        return words[given.lower()]
    raise ValueError(f"true or false, got {given!r}")


def _theme(given: Any) -> str:
    if given not in THEMES:
        raise ValueError(f"one of {', '.join(THEMES)}, got {given!r}")
    return str(given)


def _zone(given: Any) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(given)
    except (ZoneInfoNotFoundError, TypeError, ValueError, OSError):
        raise ValueError(f"the name of a time zone such as Europe/Berlin, got {given!r}") from None
    return str(given)


def _workers(given: Any) -> int:
    try:
        number = int(given) if isinstance(given, str) else given
    except ValueError:
        number = None
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_WORKERS:
        raise ValueError(f"1 to {MAX_WORKERS}, got {given!r}")
    return number


def _words(given: Any) -> Mapping[str, str]:
    """A table of texts; in the environment `name=text`, comma separated."""
    pairs = given
    if isinstance(given, str):
        parts = [pair.strip().partition("=") for pair in given.split(",")]
        pairs = {name: text if equals else None for name, equals, text in parts}
    if not isinstance(pairs, Mapping) or not all(isinstance(text, str) for text in pairs.values()):
        raise ValueError(f"a table of names and texts, got {given!r}")
    return dict(pairs)


SETTINGS: Mapping[str, tuple[Callable[[Any], Any], Any]] = {
    "db": (_path, lambda: str(places.default_store())),
    "theme": (_theme, "auto"),
    "ascii": (_flag, False),
    "mouse": (_flag, True),
    "bell": (_flag, True),
    "zone": (_zone, None),
    "max_workers": (_workers, 4),
    "fork_server": (_flag, True),
    "keys": (_words, dict),
}
"""Name -> (how a given value becomes a value, the default or a function that makes it)."""
