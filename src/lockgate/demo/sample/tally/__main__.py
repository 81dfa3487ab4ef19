"""`python -m tally FILE...` prints one row a file, and a sum."""

import sys
from pathlib import Path

from tally.counting import Tally, tally


def main(names: list[str]) -> None:
    total = Tally()
    for name in names:
        counts = tally(Path(name).read_text(encoding="utf-8"))
        total += counts
        print(f"{counts.lines:>8} {counts.words:>8} {counts.letters:>8} {name}")
    print(f"{total.lines:>8} {total.words:>8} {total.letters:>8} total")


if __name__ == "__main__":
    main(sys.argv[1:])
