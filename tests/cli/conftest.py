"""The command called in this process: what it prints on both streams, and its exit code."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lockgate.cli.app import run

HELLO = """
from lockgate import Ask, Workflow, choice, compute, decision_edge, edge, human_decision, text_input

hello = Workflow(
    "hello",
    start="greet",
    nodes={
        "greet": compute(lambda ctx: {"text": "Hello"}),
        "ask": human_decision(
            audience="operator",
            choices={
                "say": choice("Say it", intent="approve"),
                "change": choice("Change it", input=text_input("words", "What then?", max_length=20)),
            },
            request=lambda ctx: Ask(title="Say it?", summary="Aloud."),
        ),
        "said": compute(lambda ctx: {"said": True}),
    },
    edges=[edge("greet", "ask"), decision_edge("ask", {"say": "said", "change": "greet"})],
)
"""

PLAIN = """
from lockgate import Workflow, compute

plain = Workflow("plain", start="only", nodes={"only": compute(lambda ctx: {"input": ctx.input})})
"""


@dataclass(frozen=True)
class Said:
    """What one call printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def documents(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def document(self) -> Any:
        (found,) = self.documents
        return found

    @property
    def error(self) -> Mapping[str, Any]:
        hold(self.document, "error")
        found: Mapping[str, Any] = self.document["error"]
        return found


Command = Callable[..., Said]


def schema(name: str) -> Any:
    return json.loads((files("lockgate.cli") / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


def hold(document: Any, name: str) -> None:
    """Fails unless the document has the shape of a checked-in schema."""
    jsonschema.Draft202012Validator(schema(name)).validate(document)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two workflows, and a store that nothing else uses."""
    for name in ("LOCKGATE_DB", "LOCKGATE_CONFIG", "LOCKGATE_ZONE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCKGATE_DB", str(tmp_path / "store" / "state.sqlite"))
    shelf = tmp_path / ".lockgate" / "workflows"
    shelf.mkdir(parents=True)
    (shelf / "hello.py").write_text(HELLO)
    (shelf / "plain.py").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def lockgate(home: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Calls `lockgate` with arguments, as a pipe sees it: no terminal."""

    def call(*arguments: str) -> Said:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return call
