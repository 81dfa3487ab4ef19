"""What is wrong with a workflow file is said with file, node and reason, and can hurt nobody."""

import os
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.engine.checking import Checked, check
from lockgate.model.encoding import sha256
from lockgate.model.errors import DefinitionError, NotFound

GOOD = """
from lockgate import Workflow, compute
def work(ctx):
    return 1
{name} = Workflow("{name}", start="a", nodes={{"a": compute(work)}})
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "flow.py") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        return file

    return write


def good(*names: str) -> str:
    return "".join(GOOD.format(name=name) for name in names)


def refusal(file: Path, *, limit: float = 10.0) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        check(str(file), caller=file.parent, limit=limit)
    assert caught.value.file == str(file)
    return caught.value


def test_a_good_file_is_described_whole(write: Write, tmp_path: Path) -> None:
    file = write(good("flow"))
    found = check("flow.py", caller=tmp_path)
    assert (found.name, found.file, found.project_dir) == ("flow", file, tmp_path)
    assert found.sources == {str(file): sha256(file.read_bytes())}
    assert found.graph.start == "a"
    assert found.digest == sha256(found.document)
    assert found.reference == f"{file}:flow"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        check("nowhere.py", caller=tmp_path)


def test_a_syntax_error(write: Write) -> None:
    assert refusal(write("x = 1\ny = (\n")).reason.startswith("line 2: ")


def test_a_failing_import(write: Write) -> None:
    found = refusal(write("\nimport no_such_module_here\n"))
    assert found.reason == "line 2: ModuleNotFoundError: No module named 'no_such_module_here'"


def test_an_exit_while_loading(write: Write) -> None:
    assert "calls sys.exit" in refusal(write("import sys\nsys.exit(0)\n")).reason


def test_a_hard_exit_while_loading(write: Write) -> None:
    file = write("import os, sys\nprint('last words', file=sys.stderr, flush=True)\nos._exit(3)\n")
    assert refusal(file).reason == "it ended the loading process (exit code 3): last words"


def test_a_death_by_signal_while_loading(write: Write) -> None:
    file = write("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert "signal 9" in refusal(file).reason


def test_a_script_that_starts_itself_is_told_to_guard_it(write: Write, tmp_path: Path) -> None:
    """Without the refusal each loading child would load the file again, without end."""
    file = write(
        f"""
        import asyncio
        from lockgate import Workflow, compute, execute, open_store
        flow = Workflow("flow", start="a", nodes={{"a": compute(lambda ctx: 1)}})

        async def main():
            async with open_store({str(tmp_path / "s.sqlite")!r}, create=True) as store:
                await execute(flow, None, store=store)

        asyncio.run(main())
        """
    )
    assert 'guard that with `if __name__ == "__main__":`' in refusal(file).reason
    assert os.environ.get("LOCKGATE_LOADING") is None


def test_a_file_that_hangs_ends_at_the_limit_with_all_its_children(write: Write, tmp_path: Path) -> None:
    file = write(
        f"""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
        child.wait()
        """
    )
    began = time.monotonic()
    assert refusal(file, limit=1.5).reason == "it was not loaded within 1.5 s"
    assert time.monotonic() - began < 6
    pid = (tmp_path / "pid").read_text()
    stat = Path(f"/proc/{pid}/stat")
    ended = time.monotonic() + 5
    # SIGKILL was sent before the refusal, but the kernel takes its time to end the child on a busy machine.
    while stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z" and time.monotonic() < ended:
        time.sleep(0.01)
    assert not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_no_workflow(write: Write) -> None:
    assert refusal(write("x = 1\n")).reason == "there is no Workflow in this file"


def test_two_workflows_need_a_name(write: Write, tmp_path: Path) -> None:
    file = write(good("one", "two"))
    assert refusal(file).reason == "2 workflows, one, two: say which, flow.py:NAME"
    assert check("flow.py:two", caller=tmp_path).name == "two"
    with pytest.raises(NotFound) as caught:
        check("flow.py:three", caller=tmp_path)
    assert caught.value.details["candidates"] == ["one", "two"]


def test_a_graph_error_names_file_line_and_node(write: Write) -> None:
    file = write(
        """
        from lockgate import Workflow, compute, edge
        w = Workflow("w", start="a", nodes={"a": compute(print)}, edges=[edge("a", "b")])
        """
    )
    found = refusal(file)
    assert found.node == "a"
    assert found.reason == "line 3: the edge a → b leads to an unknown node 'b'"


@pytest.mark.parametrize("layout", ["{}, {}", "{},\n    {}"])
def test_a_node_that_is_refused_by_its_constructor_is_named(write: Write, layout: str) -> None:
    nodes = layout.format('"a": compute(print)', '"b": shell("ls", effect=manual("x"))')
    text = "from lockgate import *\nw = Workflow('w', start='a', edges=[edge('a', 'b')], nodes={" + nodes + "})\n"
    found = refusal(write(text))
    assert found.node == "b"
    assert "a command is a list of texts" in found.reason


def test_an_argument_that_a_constructor_does_not_have(write: Write) -> None:
    text = "from lockgate import *\nw = Workflow('w', start='a', nodes={'a': shell(['ls'])})\n"
    found = refusal(write(text))
    assert found.node == "a"
    assert "effect" in found.reason


def test_what_a_file_prints_does_not_mix_with_the_answer(write: Write, tmp_path: Path) -> None:
    write("print('{}')\nimport os; os.write(1, b'noise')\n" + good("flow"))
    assert check("flow.py", caller=tmp_path).name == "flow"


def test_threads_of_a_file_hold_nobody_up(write: Write, tmp_path: Path) -> None:
    write("import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n" + good("flow"))
    began = time.monotonic()
    assert check("flow.py", caller=tmp_path).name == "flow"
    assert time.monotonic() - began < 5


def test_a_project_may_have_modules_named_like_ours(write: Write, tmp_path: Path) -> None:
    write("raise RuntimeError('shadow')\n", "json.py")
    write(good("flow"), "flows/flow.py")
    (tmp_path / ".git").mkdir()
    assert check("flows/flow.py", caller=tmp_path).name == "flow"


class TestSources:
    def test_modules_of_the_project_count(self, write: Write, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        helper = write("VALUE = 1\n", "project/helper.py")
        write("", "project/__init__.py")
        write("TOOL = 1\n", ".venv/lib/site-packages/tool.py")
        write("HIDDEN = 1\n", ".cache/hidden.py")
        file = write(
            "import sys\n"
            f"sys.path += [{str(tmp_path / '.venv/lib/site-packages')!r}, {str(tmp_path / '.cache')!r}]\n"
            "import project.helper, tool, hidden\n" + good("flow"),
            ".lockgate/workflows/flow.py",
        )
        found = check(str(file), caller=tmp_path)
        init = tmp_path / "project" / "__init__.py"
        assert found.project_dir == tmp_path
        assert set(found.sources) == {str(file), str(helper), str(init)}

    def test_a_project_is_the_nearest_marked_parent(self, write: Write, tmp_path: Path) -> None:
        file = write(good("flow"), "outer/inner/flow.py")
        assert check(str(file), caller=tmp_path).project_dir == tmp_path
        (tmp_path / "outer" / ".lockgate").mkdir()
        assert check(str(file), caller=tmp_path).project_dir == tmp_path / "outer"


class TestNames:
    @pytest.fixture
    def named(self, write: Write, tmp_path: Path) -> Callable[..., Checked]:
        def named(name: str, below: str = "project/deep") -> Checked:
            caller = tmp_path / below
            caller.mkdir(parents=True, exist_ok=True)
            return check(name, caller=caller, data_dir=tmp_path / "data")

        return named

    def test_the_project_comes_before_the_user(
        self, write: Write, tmp_path: Path, named: Callable[..., Checked]
    ) -> None:
        write(good("flow"), "data/workflows/flow.py")
        assert named("flow").file == tmp_path / "data" / "workflows" / "flow.py"
        ours = write(good("flow"), "project/.lockgate/workflows/other.py")
        assert named("flow").file == ours

    def test_a_name_is_the_workflows_not_the_files(self, write: Write, named: Callable[..., Checked]) -> None:
        write(good("one", "two"), "project/.lockgate/workflows/flow.py")
        assert named("two").name == "two"
        with pytest.raises(NotFound) as caught:
            named("flow")
        assert caught.value.details["candidates"] == ["one", "two"]

    def test_two_files_with_one_name_are_both_listed(self, write: Write, named: Callable[..., Checked]) -> None:
        files = [write(good("flow"), f"project/.lockgate/workflows/{name}.py") for name in ("a", "b")]
        with pytest.raises(DefinitionError) as caught:
            named("flow")
        assert all(str(file) in caught.value.reason for file in files)

    def test_a_broken_file_matters_only_if_no_other_has_the_name(
        self, write: Write, named: Callable[..., Checked]
    ) -> None:
        broken = write("flow = (\n", "project/.lockgate/workflows/a.py")
        with pytest.raises(DefinitionError) as caught:
            named("flow")
        assert caught.value.file == str(broken)
        whole = write(good("flow"), "project/.lockgate/workflows/b.py")
        assert named("flow").file == whole
