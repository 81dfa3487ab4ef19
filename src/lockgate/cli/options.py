"""The options that every command knows, before and after its name."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lockgate.cli.call import Call

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def common(function: Decorated) -> Decorated:
    """Adds `--db`, `--json` and `--key`; they land in the Call, not in the command's arguments."""
    for option in (
        click.option("--key", metavar="K", expose_value=False, callback=_keep_key, help="The idempotency key."),
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            expose_value=False,
            callback=_keep_json,
            help="Print JSON for programs.",
        ),
        click.option(
            "--db",
            metavar="PATH",
            type=click.Path(),
            expose_value=False,
            callback=_keep_setting,
            help="The store. Default: $LOCKGATE_DB, config.toml, then the user's state directory.",
        ),
    ):
        function = option(function)
    return function


def setting(*names: str, **options: Any) -> Callable[[Decorated], Decorated]:
    """An option that is a setting: where it is not given, the environment and config.toml decide."""
    return click.option(*names, expose_value=False, callback=_keep_setting, default=None, **options)


def command(name: str, **options: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command with the common options whose first argument is the Call."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        made: click.Command = click.command(name, cls=click.Command, **options)(common(click.pass_obj(function)))
        return made

    return decorate


def _call(context: click.Context) -> Call:
    call = context.find_object(Call)
    assert call is not None
    return call


def _keep_setting(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None and parameter.name is not None:
        _call(context).flags[parameter.name] = value


def _keep_json(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        _call(context).as_json = True


def _keep_key(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        _call(context).given_key = value
