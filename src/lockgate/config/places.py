"""Where things live when nobody says otherwise: the platform's own directories."""

from pathlib import Path

import platformdirs

APP = "lockgate"


def default_store() -> Path:
    """The store of this user: in the state directory, which is private to one OS user."""
    return platformdirs.user_state_path(APP) / "state.sqlite"


def default_config() -> Path:
    return platformdirs.user_config_path(APP) / "config.toml"


def user_data() -> Path:
    """Its `workflows` are found by name from every directory."""
    return platformdirs.user_data_path(APP)


def demo_dir(stamp: str) -> Path:
    """A new directory for one demo; `stamp` is a compact UTC time."""
    return user_data() / f"demo-{stamp}"
