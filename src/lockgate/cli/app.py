"""The command line as a whole: which commands there are, and how a call ends."""

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from lockgate.cli import exits
from lockgate.cli.call import Call
from lockgate.cli.options import common, setting
from lockgate.model.errors import LockgateError

COMMANDS = {
    "demo": "demonstrating",
    "host": "hosting",
    "start": "starting",
    "runs": "reading",
    "show": "reading",
    "events": "reading",
    "watch": "watching",
    "decisions": "asking",
    "requests": "asking",
    "answer": "answering",
    "submit": "answering",
    "pause": "steering",
    "resume": "steering",
    "cancel": "steering",
    "restart": "steering",
    "check": "checking",
    "graph": "checking",
    "settings": "settings",
    "set": "settings",
    "effects": "effects",
    "resolve": "effects",
    "config": "storing",
    "init": "keeping",
    "migrate": "keeping",
    "audit": "keeping",
    "doctor": "keeping",
    "backup": "keeping",
    "prune": "keeping",
    "policy": "keeping",
}
"""Every command, in the order of the help, and the module of `lockgate.cli.commands` that has it."""

_NAMES = {"set": "set_settings"}
"""The names of commands that Python uses for something else."""


class Commands(click.Group):
    """The commands, each imported when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        place = importlib.import_module(f"lockgate.cli.commands.{module}")
        found = getattr(place, _NAMES.get(cmd_name, cmd_name))
        assert isinstance(found, click.Command)
        return found


def _print_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"lockgate {version('lockgate')}")
        context.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@common
@setting("--theme", metavar="NAME", help="auto, dark, light, high-contrast, ansi or mono.")
@setting("--ascii", is_flag=True, help="Draw with ASCII characters only.")
@setting("--mouse/--no-mouse", help="Whether the dashboard takes the mouse.")
@click.option("--run", "run_id", metavar="RUN", help="Open the dashboard on this run.")
@click.option("--read-only", is_flag=True, help="Look, and never write.")
@click.option("--once", is_flag=True, help="Print one plain frame and end; needs no terminal.")
@click.option("--size", metavar="COLUMNSxROWS", help="The size of that frame, for example 120x40.")
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version)
@click.pass_context
def lockgate(context: click.Context, run_id: str | None, read_only: bool, once: bool, size: str | None) -> Any:
    """Durable workflows in one SQLite file, watched and decided in a terminal.

    Without a command: the dashboard.
    """
    if context.invoked_subcommand is not None:
        for given, name in ((run_id, "--run"), (read_only, "--read-only"), (once, "--once"), (size, "--size")):
            if given:
                raise click.UsageError(f"{name} belongs to the dashboard, not to {context.invoked_subcommand}")
        return None
    from lockgate.cli.dashboard import open_on, print_once

    if size is not None and not once:
        raise click.UsageError("--size belongs to --once")
    call: Call = context.obj
    if call.as_json and not once:
        raise click.UsageError("the dashboard has no --json: lockgate runs --json lists the runs")
    return print_once(call, size, run_id) if once else open_on(call, run_id, read_only)


def run(arguments: Sequence[str]) -> int:
    """Runs one call and gives its exit code; every failure has been printed."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        return _invoke(Call(), arguments)
    except BrokenPipeError:
        # Whoever read stdout went away; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.OK
    except OSError:
        # The terminal is gone: there is nobody left to tell.
        return exits.FAILURE


def _invoke(call: Call, arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    try:
        _check_text(arguments)
        code = lockgate.main(list(arguments), prog_name="lockgate", obj=call, standalone_mode=False)
        return code if isinstance(code, int) else exits.OK
    except click.UsageError as error:
        hint = error.ctx.command_path if error.ctx is not None else "lockgate"
        fail(call, as_json, "usage", f"{error.format_message()}\n{hint} --help says more", {})
        return exits.USAGE
    except (KeyboardInterrupt, click.Abort):
        return exits.INTERRUPTED
    except LockgateError as error:
        fail(call, as_json, error.code, error.message, dict(error.details))
        return exits.code_of(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        fail(call, as_json, "os_error", f"{place}{error.strerror or error}", {"errno": error.errno})
        return exits.FAILURE
    except Exception as error:
        traceback.print_exc()
        fail(call, as_json, "internal", f"a defect of Lockgate: {type(error).__name__}: {error}", {})
        return exits.FAILURE


def _check_text(arguments: Sequence[str]) -> None:
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise click.UsageError(f"argument {number} is not UTF-8 text: {argument!a}") from None


def fail(call: Call, as_json: bool, code: str, message: str, details: dict[str, Any]) -> None:
    """Says why a call failed: one document on stdout with `--json`, else one sentence on stderr."""
    if as_json or call.as_json:
        call.document({"error": {"code": code, "message": message, "details": details}})
    else:
        call.tell(f"lockgate: {message}")
