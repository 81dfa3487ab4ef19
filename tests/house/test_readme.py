"""The README's commands are the ones that CI runs, and the words in it are the program's."""

import re
from pathlib import Path

import pytest

from lockgate.store import reads

ROOT = Path(__file__).resolve().parents[2]


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """The lines of the README's shell blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", readme(), re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "command", ["python -m pip install . && lockgate demo", 'python -m pip install ".[test]" && python -m pytest']
)
def test_the_two_commands_are_in_the_readme_and_in_ci(command: str) -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command in commands()
    assert command in ci


def test_every_command_of_the_readme_exists() -> None:
    from lockgate.cli.app import COMMANDS

    named = {
        match[1]
        for line in commands()
        if not line.startswith("#")
        for match in re.finditer(r"\blockgate ([a-z]+)\b", line.split("#")[0])
    }
    assert named
    assert named <= set(COMMANDS)


def test_the_workflow_of_the_readme_can_be_started(tmp_path: Path) -> None:
    from lockgate.engine.checking import check

    code, _ = re.findall(r"```python\n(.*?)```", readme(), re.DOTALL)
    (tmp_path / "release.py").write_text(code)
    assert check("release.py", caller=tmp_path).name == "release"


async def test_the_included_workflow_of_the_readme_runs(tmp_path: Path) -> None:
    from lockgate import execute, open_store
    from lockgate.engine.loading import load

    _, code = re.findall(r"```python\n(.*?)```", readme(), re.DOTALL)
    file = tmp_path / "letters.py"
    file.write_text(code)
    async with open_store(tmp_path / "store" / "state.sqlite", create=True) as store:
        run = await execute(load(file, "letter").workflow, None, store=store)
        assert (run.status, run.steps) == ("completed", 7)
        output = (await store.run(run.run_id)).row.output_hash
        assert output is not None
        value = await store.read(lambda connection: reads.value(connection, output))
    assert value == b'{"exit":"done","output":"A letter that is muc"}'


def test_every_word_of_a_situation_is_explained() -> None:
    from lockgate.model.statuses import Word

    table = readme()
    assert [word for word in Word if f"{word}".replace("_", " ") not in table.replace("_", " ")] == []
