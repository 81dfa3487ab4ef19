"""Commands as nodes: argv as it is, the project's directory, and an environment that names the attempt."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate import Context, Workflow, idempotent, shell
from tests.engine.bench import Bench


def one(argv: Any, **more: Any) -> Workflow:
    return Workflow("one", start="a", nodes={"a": shell(argv, effect=idempotent("x"), **more)})


def python(code: str, **more: Any) -> Workflow:
    return one(["{python}", "-S", "-c", code], **more)


async def test_the_output_is_the_whole_result(bench: Bench) -> None:
    assert await bench.go(python("import sys; print('out'); sys.stderr.write('err')")) == "completed"
    result = bench.result
    assert result.pop("duration_ms") >= 0
    assert result == {
        "argv": [sys.executable, "-S", "-c", "import sys; print('out'); sys.stderr.write('err')"],
        "exit_code": 0,
        "signal": None,
        "stdout": "out\n",
        "stderr": "err",
        "truncated": False,
    }


async def test_only_a_whole_element_is_the_interpreter(bench: Bench) -> None:
    assert await bench.go(one(["echo", "x{python}", "{other}", "$HOME", "a b"])) == "completed"
    assert bench.result["stdout"] == "x{python} {other} $HOME a b\n"


async def test_argv_may_be_computed(bench: Bench) -> None:
    assert await bench.go(one(lambda ctx: ["echo", ctx.input, "{python}"]), "hello") == "completed"
    assert bench.result["stdout"] == f"hello {sys.executable}\n"


@pytest.mark.parametrize("argv", ["echo", [], None, 3])
async def test_a_computed_argv_is_a_list(bench: Bench, argv: Any) -> None:
    assert await bench.go(one(lambda ctx: argv)) == "failed"
    assert "CommandError" in (bench.run.error_summary or "")


async def test_parse_makes_the_output(bench: Bench) -> None:
    assert await bench.go(python("print(6 * 7)", parse=lambda result: int(result["stdout"]))) == "completed"
    assert bench.result == 42


async def test_another_exit_code_fails_with_the_last_words(bench: Bench) -> None:
    assert await bench.go(python("import sys; print('x'); sys.exit('first\\nlast words')")) == "failed"
    assert bench.run.error_summary == "a: CommandFailed: exit code 1: last words"
    error = bench.value(bench.detail.row.error_hash)
    assert error["result"]["stdout"] == "x\n"
    assert error["result"]["exit_code"] == 1


async def test_exit_codes_may_be_allowed(bench: Bench) -> None:
    assert await bench.go(python("raise SystemExit(3)", allow=[0, 3])) == "completed"
    assert bench.result["exit_code"] == 3


async def test_a_signal_fails(bench: Bench) -> None:
    assert await bench.go(python("import os; os.kill(os.getpid(), 9)")) == "failed"
    assert "signal 9" in (bench.run.error_summary or "")


@pytest.mark.parametrize("more", [{"argv": ["/no/such/program"]}, {"argv": ["true"], "cwd": "nowhere"}])
async def test_a_command_that_cannot_start_fails(bench: Bench, more: Any) -> None:
    assert await bench.go(one(more.pop("argv"), **more)) == "failed"
    assert "CommandNotStarted" in (bench.run.error_summary or "")


async def test_stdin_is_a_text_or_a_function(bench: Bench) -> None:
    assert await bench.go(one(["cat"], stdin=lambda ctx: f"from {ctx.state.node} ü")) == "completed"
    assert bench.result["stdout"] == "from a ü"


async def test_the_directory_is_the_projects_or_below(bench: Bench) -> None:
    (bench.directory / "below").mkdir()
    code = "import os; print(os.getcwd())"
    assert await bench.go(python(code, cwd="below", parse=lambda result: result["stdout"].strip())) == "completed"
    assert Path(bench.result) == (bench.directory / "below").resolve()


async def test_the_environment_names_the_attempt_and_nothing_else_of_ours(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKGATE_DB", "/secret")
    monkeypatch.setenv("OTHER", "kept")
    code = "import json, os; print(json.dumps({k: v for k, v in os.environ.items()}))"

    def parse(result: Any) -> Any:
        import json

        return json.loads(result["stdout"])

    assert await bench.go(python(code, env={"MORE": "1"}, parse=parse)) == "completed"
    seen = bench.result
    assert {name: value for name, value in seen.items() if name.startswith("LOCKGATE_")} == {
        "LOCKGATE_RUN_ID": bench.run_id,
        "LOCKGATE_NODE": "a",
        "LOCKGATE_ATTEMPT": bench.attempts[0].attempt_id,
    }
    assert (seen["OTHER"], seen["MORE"]) == ("kept", "1")
    assert "LOCKGATE_NODE" not in os.environ


async def test_a_given_environment_is_kept_up_to_date(bench: Bench) -> None:
    given: dict[str, str] = {"PATH": os.environ["PATH"]}
    assert await bench.go(one(["true"]), environment=given) == "completed"
    assert given["LOCKGATE_NODE"] == "a"


async def test_output_is_passed_on_as_it_comes(bench: Bench) -> None:
    heard: list[tuple[str, bytes]] = []
    workflow = python("print('one', flush=True); import sys; print('two', file=sys.stderr)")
    assert await bench.go(workflow, sink=lambda *piece: heard.append(piece)) == "completed"
    assert {stream for stream, _ in heard} == {"stdout", "stderr"}


async def test_a_parse_that_fails_does_not_undo_the_effect(bench: Bench) -> None:
    def parse(result: Context) -> None:
        raise ValueError("unreadable")

    assert await bench.go(one(["true"], parse=parse)) == "failed"
    assert str(bench.detail.effects[0].status) == "applied"
