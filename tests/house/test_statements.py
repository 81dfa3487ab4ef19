"""Every named statement is used, prepares on the real schema, and is written nowhere else."""

import re
import sqlite3
from pathlib import Path

import pytest

STORE = Path(__file__).resolve().parents[2] / "src" / "lockgate" / "store"
NOUNS = sorted(path.stem for path in (STORE / "sql").glob("*.sql") if path.stem != "schema")
_NAME = re.compile(r"^-- ([a-z][a-z0-9_]*): .+$", re.MULTILINE)


def named(noun: str) -> list[str]:
    return _NAME.findall((STORE / "sql" / f"{noun}.sql").read_text(encoding="utf-8"))


def statement(noun: str, name: str) -> str:
    from lockgate.store.statements import load

    return load(noun)[name]


@pytest.fixture(scope="module")
def code() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in STORE.rglob("*.py"))


def test_there_are_statements() -> None:
    assert NOUNS


@pytest.mark.parametrize("noun", NOUNS)
def test_every_statement_is_used(noun: str, code: str) -> None:
    assert [name for name in named(noun) if f'"{name}"' not in code] == []


@pytest.mark.parametrize("noun", NOUNS)
def test_every_statement_prepares(noun: str) -> None:
    from lockgate.store.statements import schema

    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(schema())
        for name in named(noun):
            text = statement(noun, name)
            values = dict.fromkeys(re.findall(r"[:@$]([A-Za-z_][A-Za-z0-9_]*)", text))
            # EXPLAIN compiles the statement and runs nothing of it.
            connection.execute(f"EXPLAIN {text}", values or (None,) * text.count("?")).fetchall()
    finally:
        connection.close()


OPENING = {"store/opening.py", "store/openfile.py"}
"""What asks a file whether it is a store at all cannot rely on the statements for stores."""


def test_sql_is_written_in_sql_files_only() -> None:
    verbs = re.compile(r"\b(SELECT .+ FROM|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM) ", re.IGNORECASE)
    rooms = STORE.parent
    offenders = [
        f"{path.relative_to(rooms)}:{number}"
        for path in rooms.rglob("*.py")
        if path.relative_to(rooms).as_posix() not in OPENING
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if verbs.search(line) and path.relative_to(rooms).parts[0] != "demo"
    ]
    assert offenders == []
