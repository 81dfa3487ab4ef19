"""`config`, `init` and `migrate`: how Lockgate is set, and the store itself."""

from pathlib import Path

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


@command("init", short_help="Make a store, and a first workflow file here.")
def init(call: Call) -> None:
    """Make the store unless it is there, and .lockgate/workflows/hello.py in this directory."""
    from lockgate.demo.first_file import write_first_workflow

    made_store = not call.db.exists()
    call.write(lambda tx: None, create=True)
    workflow, made_workflow = write_first_workflow(Path.cwd())
    if call.as_json:
        call.document(
            {
                "schema": "lockgate.init.v1",
                "store": str(call.db),
                "made_store": made_store,
                "workflow": str(workflow),
                "made_workflow": made_workflow,
            }
        )
        return
    call.say(f"{'made' if made_store else 'found'} the store {call.db}")
    call.say(f"{'made' if made_workflow else 'found'} the workflow {workflow}")
    call.say("next: lockgate start hello, lockgate host, lockgate")


@command("migrate", short_help="Bring the store to this version's schema.")
def migrate(call: Call) -> None:
    """Bring an older store to the schema of this version. There is one schema yet, so nothing has to change."""
    from lockgate.store.opening import VERSION

    call.write(lambda tx: None)
    if call.as_json:
        call.document(
            {"schema": "lockgate.migrate.v1", "store": str(call.db), "schema_version": VERSION, "changed": False}
        )
    else:
        call.say(f"{call.db} has schema {VERSION} already")


def _written(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ", ".join(f"{name}={text}" for name, text in value.items()) or "-"
    return str(value)
