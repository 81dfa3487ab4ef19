"""A run that waits inside an included workflow: killed there, decided, set anew by its scope, restarted; all agrees."""

import os
import signal
from typing import Any

import pytest

from tests.cli.conftest import hold
from tests.journeys.conftest import Home, until

REVIEW = """
import os, time
from pathlib import Path
from lockgate import Ask, Workflow, allow, choice, compute, decision_edge, edge, human_decision, settings

def slow(name, value):
    def work(ctx):
        with open(f"log-{name}", "a") as file:
            file.write(f"{os.getpid()}\\n")
        while not Path(f"go-{name}").exists():
            time.sleep(0.005)
        return value(ctx)
    return compute(work)

review = Workflow(
    "review",
    start="look",
    nodes={
        "look": slow("look", lambda ctx: {"text": ctx.input["text"], "steps": ctx.state.steps}),
        "ask": human_decision(
            audience="operator",
            choices={"take": choice("Take it"), "again": choice("Write it again")},
            request=lambda ctx: Ask(title=f"Take {ctx.outputs['look']['text']}?", summary="As it is."),
        ),
        "weigh": slow("weigh", lambda ctx: [ctx.input, sorted(ctx.outputs), ctx.settings, ctx.state.steps]),
        "back": compute(lambda ctx: "again"),
    },
    edges=[edge("look", "ask"), decision_edge("ask", {"take": "weigh", "again": "back"})],
    exits={"taken": "weigh", "refused": "back"},
    settings=settings({"tone": "dry"}, rules=[allow("/tone", replace=["user", "human"])]),
)
"""
PAPER = """
from lockgate import Workflow, compute, edge, include
from review import review

paper = Workflow(
    "paper",
    start="write",
    nodes={
        "write": compute(lambda ctx: {"text": f"draft {ctx.state.visit}"}),
        "review": include(review, input=lambda ctx: ctx.outputs["write"]),
        "print": compute(lambda ctx: ctx.outputs["review"]),
    },
    edges=[edge("write", "review"), edge("review.refused", "write"), edge("review.taken", "print")],
)
"""


@pytest.fixture
def shelf(home: Home) -> Home:
    shelf = home.directory / ".lockgate" / "workflows"
    shelf.mkdir(parents=True)
    (shelf / "review.py").write_text(REVIEW)
    (shelf / "paper.py").write_text(PAPER)
    return home


def pids(home: Home, name: str) -> list[int]:
    log = home.directory / f"log-{name}"
    return [int(line) for line in log.read_text().splitlines()] if log.exists() else []


def answer(home: Home, run_id: str, choice: str) -> None:
    (request,) = home.json("decisions")["requests"]
    assert request["node"] == "review/ask"
    with home.terminal("answer", run_id, choice, "--digest", request["digest"][:12]) as terminal:
        assert terminal.ends() == 0


def set_tone(home: Home, run_id: str, tone: str, scope: str, code: int = 0) -> Any:
    patch = f'[{{"op": "replace", "path": "/tone", "value": "{tone}"}}]'
    return home.json("set", run_id, patch, "--scope", scope, code=code)


def all_agrees(home: Home, *runs: str) -> None:
    assert home.json("doctor", "--json")["findings"] == []
    for run_id in runs:
        audit = home.json("audit", run_id)
        hold(audit, "audit")
        assert audit["difference"] is None


def test_a_run_waits_inside_an_include_through_kills(shelf: Home) -> None:
    home = shelf
    run_id = home.json("start", "paper")["run_id"]
    with home.host():
        until(lambda: len(pids(home, "look")) == 1, "the first look")
        os.killpg(pids(home, "look")[0], signal.SIGKILL)
        until(lambda: len(pids(home, "look")) == 2, "the second look")
        (home.directory / "go-look").touch()
        until(lambda: home.word(run_id) == "waiting", "the decision")
    assert set_tone(home, run_id, "warm", "review")["outcome"] == "accepted"
    answer(home, run_id, "again")
    with home.host():
        until(lambda: home.word(run_id) == "waiting", "the decision of the second invocation")
    late = set_tone(home, run_id, "late", "review#1", code=5)
    assert late["reason"] == "scope_closed"
    assert set_tone(home, run_id, "kind", "review#2")["outcome"] == "accepted"
    answer(home, run_id, "take")
    with home.host() as host:
        until(lambda: len(pids(home, "weigh")) == 1, "the weighing")
        os.kill(host.pid, signal.SIGKILL)
        os.killpg(pids(home, "weigh")[0], signal.SIGKILL)
    all_agrees(home, run_id)
    (home.directory / "go-weigh").touch()
    home.call("host", "--drain")
    shown = home.json("show", run_id)
    hold(shown, "run")
    inside = [{"text": "draft 2"}, ["ask", "look"], {"tone": "kind"}, 2]
    assert (shown["word"], shown["output"]) == ("completed", {"exit": "taken", "output": inside})
    assert [step["node"] for step in shown["steps"]] == [
        *("write", "review", "review/look", "review/ask", "review/back", "review.refused"),
        *("write", "review", "review/look", "review/ask", "review/weigh", "review.taken", "print"),
    ]
    document = home.json("settings", run_id)
    hold(document, "settings")
    assert [(scope["mount_path"], scope["invocation"], scope["current"]) for scope in document["scopes"]] == [
        ("review", 1, {"tone": "warm"}),
        ("review", 2, {"tone": "kind"}),
    ]
    assert [(change["mount_path"], change["invocation"]) for change in document["changes"]] == [
        ("review", 1),
        ("review", 2),
    ]
    frame = home.call("--once", "--size", "120x40")
    assert "…/weigh" in frame or "review/weigh" in frame

    child_id = home.json("restart", run_id)["run_id"]
    home.call("host", "--drain")
    assert home.word(child_id) == "waiting"
    (scope,) = home.json("settings", child_id)["scopes"]
    assert (scope["mount_path"], scope["invocation"], scope["current"]) == ("review", 1, {"tone": "dry"})
    answer(home, child_id, "take")
    home.call("host", "--drain")
    assert home.json("show", child_id)["output"]["output"][0] == {"text": "draft 1"}
    all_agrees(home, run_id, child_id)


def test_a_change_in_the_childs_file_blocks_the_parents_run(shelf: Home) -> None:
    home = shelf
    run_id = home.json("start", "paper")["run_id"]
    (home.directory / "go-look").touch()
    home.call("host", "--drain")
    review = home.directory / ".lockgate" / "workflows" / "review.py"
    review.write_text(review.read_text().replace('"back": compute(lambda ctx: "again")', '"back": compute(print)'))
    answer(home, run_id, "again")
    home.call("host", "--drain")
    shown = home.json("show", run_id)
    assert (shown["word"], shown["blocked"]) == ("blocked", "source_changed")
    assert "review.py" in home.call("show", run_id)
