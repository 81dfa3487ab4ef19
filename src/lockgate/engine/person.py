"""The person at this terminal, who alone may decide."""

import os
import pwd
import socket
import sys

from lockgate.model.errors import Refused
from lockgate.model.records import Human


def human_here() -> Human:
    """The person at the controlling terminal, with login name, uid, host and terminal.

    Raises Refused `no_terminal` when there is none: /dev/tty must open, stdin and stderr must be terminals.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError as problem:
        raise _no_terminal(f"/dev/tty does not open ({problem.strerror})") from None
    try:
        for stream, name in ((sys.__stdin__, "stdin"), (sys.__stderr__, "stderr")):
            if stream is None or stream.closed or not stream.isatty():
                raise _no_terminal(f"{name} is not a terminal")
        uid = os.getuid()
        return Human(id=login_name(uid), uid=uid, host=socket.gethostname(), tty=_terminal_name(terminal), test=False)
    finally:
        os.close(terminal)


def _terminal_name(terminal: int) -> str:
    # /dev/tty is an alias: the name of stdin is the terminal that a colleague would recognise.
    for descriptor in (0, 2, terminal):
        try:
            return os.ttyname(descriptor)
        except OSError:
            continue
    return "/dev/tty"


def login_name(uid: int) -> str:
    """The login name of a user, the number where there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _no_terminal(why: str) -> Refused:
    return Refused("no_terminal", f"a person must answer at a terminal: {why}", why=why)
