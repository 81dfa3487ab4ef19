"""`config`: how Lockgate is set."""

from lockgate.cli.call import Call
from lockgate.cli.options import command


@command("config", short_help="Print every setting and where it comes from.")
def config(call: Call) -> None:
    """Print the settings as this call has them: flag, LOCKGATE_*, config.toml or default."""
    found = call.settings
    if call.as_json:
        settings = [
            {"name": name, "value": setting.value, "origin": setting.origin} for name, setting in found.found.items()
        ]
        call.document({"schema": "lockgate.config.v1", "file": str(found.file), "settings": settings})
        return
    from lockgate.cli.tables import table

    rows = [(name, _written(setting.value), setting.origin) for name, setting in found.found.items()]
    call.say(table(("setting", "value", "from"), rows))
    call.say(f"config.toml is {found.file}{'' if found.file.exists() else ' (not there)'}")


def _written(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ", ".join(f"{name}={text}" for name, text in value.items()) or "-"
    return str(value)
