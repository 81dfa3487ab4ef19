"""Who calls: the user of this process, and the person at its terminal."""

import os
import pwd

from lockgate.cli.exits import NoTerminal
from lockgate.model.errors import Refused
from lockgate.model.records import Actor, Human
from lockgate.model.statuses import ActorKind


def login() -> str:
    """The login name of this process's user."""
    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def user() -> Actor:
    """Whoever typed the command: nothing says that it was a person."""
    return Actor(kind=ActorKind.USER, id=login())


def speaker() -> Actor | Human:
    """The person at this terminal where there is one, else the user of this process."""
    from lockgate.engine.person import human_here

    try:
        return human_here()
    except Refused:
        return user()


def person(what: str) -> Human:
    """The person at this terminal. Raises NoTerminal with advice where there is none."""
    from lockgate.engine.person import human_here

    try:
        return human_here()
    except Refused as refused:
        raise NoTerminal(what, f"{refused.details.get('why', refused.message)}; run it where a person types") from None
