"""A setting comes from the flag, else the environment, else config.toml, else the default; each says from where."""

from pathlib import Path

import pytest

from lockgate.config.errors import ConfigFileError, SettingError
from lockgate.config.settings import SETTINGS, Settings, read


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def settings(file: Path, flags: dict[str, object] | None = None, **environ: str) -> Settings:
    if file.exists():
        environ["LOCKGATE_CONFIG"] = str(file)
    return read(flags or {}, {"LOCKGATE_CONFIG": "", **environ})


def test_without_anything_every_value_is_the_default(file: Path) -> None:
    found = settings(file).found
    assert set(found) == set(SETTINGS)
    assert {setting.origin for setting in found.values()} == {"default"}


def test_the_flag_beats_the_environment_which_beats_the_file(file: Path) -> None:
    file.write_text('db = "/in/file"\ntheme = "light"\nascii = true\n')
    found = settings(file, {"db": "/in/flag"}, LOCKGATE_DB="/in/env", LOCKGATE_THEME="mono").found
    assert (found["db"].value, found["db"].origin) == ("/in/flag", "--db")
    assert (found["theme"].value, found["theme"].origin) == ("mono", "LOCKGATE_THEME")
    assert (found["ascii"].value, found["ascii"].origin) == (True, str(file))


def test_a_relative_store_is_made_absolute_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings(tmp_path / "none", {"db": "state.sqlite"}).db == tmp_path / "state.sqlite"


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("LOCKGATE_ASCII", "yes", True),
        ("LOCKGATE_MOUSE", "off", False),
        ("LOCKGATE_MAX_WORKERS", "64", 64),
        ("LOCKGATE_FORK_SERVER", "0", False),
        ("LOCKGATE_KEYS", "quit=Q,decide=e", {"quit": "Q", "decide": "e"}),
        ("LOCKGATE_ZONE", "Asia/Kolkata", "Asia/Kolkata"),
    ],
)
def test_the_environment_speaks_text(file: Path, name: str, given: str, value: object) -> None:
    setting = name.removeprefix("LOCKGATE_").lower()
    assert settings(file, None, **{name: given}).found[setting].value == value


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("LOCKGATE_ASCII", "perhaps"),
        ("LOCKGATE_THEME", "pink"),
        ("LOCKGATE_MAX_WORKERS", "0"),
        ("LOCKGATE_MAX_WORKERS", "65"),
        ("LOCKGATE_MAX_WORKERS", "many"),
        ("LOCKGATE_ZONE", "Nowhere/Land"),
        ("LOCKGATE_KEYS", "quit"),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_origin(file: Path, name: str, given: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings(file, None, **{name: given})
    assert name in caught.value.message
    assert caught.value.details["origin"] == name


def test_a_misspelt_setting_is_not_silently_the_default(file: Path) -> None:
    file.write_text('thme = "light"\n')
    with pytest.raises(SettingError, match="thme"):
        settings(file)


def test_a_file_that_is_no_toml_is_named_with_the_line(file: Path) -> None:
    file.write_text("db = \n")
    with pytest.raises(ConfigFileError, match="line 1"):
        settings(file)


def test_a_config_file_that_was_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match="no such file"):
        read({}, {"LOCKGATE_CONFIG": str(tmp_path / "missing.toml")})
