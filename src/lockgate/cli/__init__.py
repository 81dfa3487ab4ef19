"""How Lockgate is called: click commands that parse, open, call and print; no rule of the house lives here.

A command imports what it needs when it runs, so that reading a list never pays for the dashboard. Every
command knows `--db`, `--json` and `--key`, before or after its name. With `--json` exactly one document (or
one a line) goes to stdout, a failure too; people's sentences go to stderr.
"""

import sys


def main() -> None:
    """The `lockgate` command: runs the arguments of this process and exits with the command's code."""
    from lockgate.cli.app import run

    sys.exit(run(sys.argv[1:]))
