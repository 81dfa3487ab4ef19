"""`python -m tests.benchmarks [name ...]`: runs the named benchmarks, or all, and prints a JSON document for each."""

import argparse
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from tests.benchmarks import catalogue
from tests.benchmarks.figures import Report
from tests.benchmarks.machine import Around
from tests.benchmarks.setting import PEERS, Setting


def main(arguments: list[str] | None = None) -> int:
    """0 when every budget holds, 1 when one is missed or a benchmark failed, 2 for an unknown name."""
    asked = _parser().parse_args(arguments)
    if asked.list:
        for name, about in catalogue.ABOUT.items():
            print(f"{name:12} {about}")
        return 0
    names = asked.names or list(catalogue.ABOUT)
    unknown = [name for name in names if name not in catalogue.ABOUT]
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(catalogue.ABOUT)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="lockgate-bench-", dir=asked.dir) as directory:
        setting = Setting(
            directory=Path(directory).resolve(),
            pairs=asked.pairs,
            share=asked.share,
            peers=_peers(asked.peers),
            big=Path(asked.big).absolute() if asked.big else None,
        )
        documents = [_run(name, setting) for name in names]
    if asked.json:
        Path(asked.json).write_text(json.dumps(documents, indent=2) + "\n", encoding="utf-8")
    return 0 if all(document["pass"] for document in documents) else 1


def _run(name: str, setting: Setting) -> dict[str, Any]:
    around = Around()
    try:
        figures = catalogue.load(name)(setting)
        document = Report(name, tuple(figures), around.document()).document()
    except Exception as error:
        traceback.print_exc()
        failure = {"pass": False, "figures": [], "failure": f"{type(error).__name__}: {error}"}
        document = {"benchmark": name, **failure, "machine": around.document()}
    if setting.share != 1.0:
        document["share"] = setting.share
    print(json.dumps(document), flush=True)
    return document


def _peers(given: str | None) -> Path | None:
    named = given or os.environ.get(PEERS)
    return Path(named).absolute() if named else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="which benchmarks; all without one")
    parser.add_argument("--json", metavar="FILE", help="also write all documents as one JSON array")
    parser.add_argument("--pairs", type=int, default=5, help="alternating rounds of each ratio (5)")
    parser.add_argument("--share", type=float, default=1.0, help="scale of all sizes, to try a benchmark out (1.0)")
    parser.add_argument("--peers", metavar="PYTHON", help=f"the python of an environment with [bench]; else ${PEERS}")
    parser.add_argument("--dir", metavar="DIR", help="where stores are made; the file system is part of the figures")
    parser.add_argument("--big", metavar="FILE", help="a big store made before, instead of making one")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
