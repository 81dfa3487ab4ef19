"""A manual effect whose worker is killed in the middle: nobody repeats it, a person says what became of it."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import hold
from tests.journeys.conftest import Home, until

SEND = """
from lockgate import Workflow, compute, edge, manual, shell

SCRIPT = "import time; open('sent', 'a').write('x'); time.sleep(60)"

send = Workflow(
    "send",
    start="send",
    nodes={
        "send": shell(["{python}", "-c", SCRIPT], effect=manual("mail")),
        "done": compute(lambda ctx: {"sent": ctx.outputs["send"]}),
    },
    edges=[edge("send", "done")],
)
"""


@pytest.fixture
def unsure(home: Home) -> Any:
    """A run that is blocked: its worker was killed after the mail may have gone out. No host runs any more."""
    (home.directory / ".lockgate" / "workflows").mkdir(parents=True)
    (home.directory / ".lockgate" / "workflows" / "send.py").write_text(SEND)
    run_id = home.json("start", "send")["run_id"]
    sent = home.directory / "sent"
    with home.host():
        until(sent.exists, "the mail")
        os.killpg(home.json("show", run_id)["worker"]["pid"], signal.SIGKILL)
        until(lambda: home.word(run_id) == "blocked", "the block")
    return home.json("show", run_id)


def test_it_is_shown_as_a_question_and_never_repeated(home: Home, unsure: Any) -> None:
    assert (unsure["blocked"], unsure["waiting_for"]) == ("effect_ambiguous", "effect")
    assert home.json("resume", unsure["run_id"], code=5)["outcome"] == "rejected"
    home.call("host", "--drain")
    assert (home.directory / "sent").read_text() == "x"
    effects = home.json("effects", unsure["run_id"])
    hold(effects, "effects")
    assert [effect["status"] for effect in effects["effects"]] == ["ambiguous"]


def test_happened_goes_on_with_the_given_output(home: Home, unsure: Any) -> None:
    home.call("resolve", unsure["run_id"], "happened", code=2)
    with home.terminal("resolve", unsure["run_id"], "happened", "--output", '{"id": 7}') as terminal:
        terminal.shows("resolved")
        assert terminal.ends() == 0
    home.call("host", "--drain")
    shown = home.json("show", unsure["run_id"])
    assert (shown["word"], shown["output"]) == ("completed", {"sent": {"id": 7}})
    assert (home.directory / "sent").read_text() == "x"
    assert Path(home.directory / "sent").exists()
