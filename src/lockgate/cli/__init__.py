"""How Lockgate is called: click commands that parse, open, call and print; no rule of the house lives here.

A command imports what it needs when it runs, so that reading a list never pays for the dashboard. Every
command knows `--db`, `--json` and `--key`, before or after its name. With `--json` exactly one document (or
one a line) goes to stdout, a failure too; people's sentences go to stderr.
"""

import os
import sys


def open_closed_streams() -> None:
    """Gives a caller's closed stdin, stdout or stderr to /dev/null: a file that is opened later, the store's too,
    would else get its number, and whatever is printed would be written into it."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number, inheritable=True)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode, closefd=False, encoding="utf-8"))


def main() -> None:
    """The `lockgate` command: runs the arguments of this process and exits with the command's code."""
    from lockgate.cli.app import run

    open_closed_streams()
    sys.exit(run(sys.argv[1:]))
