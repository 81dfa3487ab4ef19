"""What is wrong with a setting: which one, where it was set, and what it may be."""

from lockgate.model.errors import LockgateError


class SettingError(LockgateError):
    """A setting cannot be used; nothing was done. The command that reads it ends as a usage error."""

    code = "invalid_setting"

    def __init__(self, name: str, origin: str, reason: str) -> None:
        super().__init__(f"{name} from {origin}: {reason}", name=name, origin=origin, reason=reason)


class ConfigFileError(LockgateError):
    """config.toml cannot be read as TOML, or not at all."""

    code = "invalid_config_file"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}", path=path, reason=reason)
