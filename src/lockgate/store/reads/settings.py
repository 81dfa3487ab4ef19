"""The live settings of a run and how they came to be."""

import sqlite3

from lockgate.model.records import SettingsChangeRow, SettingsRow
from lockgate.store.rows import read_rows
from lockgate.store.statements import load

_SETTINGS = load("settings")


def settings(connection: sqlite3.Connection, run_id: str) -> tuple[SettingsRow, ...]:
    """Every settings scope of a run; none where neither its workflow nor an include declares settings."""
    return read_rows(SettingsRow, connection.execute(_SETTINGS["settings_of"], {"run_id": run_id}).fetchall())


def newest_settings(connection: sqlite3.Connection, run_id: str) -> tuple[SettingsRow, ...]:
    """The newest settings scope of the root and of each mount."""
    return read_rows(SettingsRow, connection.execute(_SETTINGS["newest_settings_of"], {"run_id": run_id}).fetchall())


def setting_changes(connection: sqlite3.Connection, run_id: str, limit: int = 500) -> tuple[SettingsChangeRow, ...]:
    """The accepted changes of a run's settings, oldest first."""
    named = {"run_id": run_id, "limit": limit}
    return read_rows(SettingsChangeRow, connection.execute(_SETTINGS["changes_of"], named).fetchall())
