"""`python -m lockgate`: the same as the `lockgate` command, for whoever starts it from Python."""

from lockgate.cli import main

if __name__ == "__main__":
    main()
