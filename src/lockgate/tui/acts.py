"""What the keys ask of a run: asked of the law first, confirmed where it cannot be undone, done by the desk."""

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lockgate.flow.words import allowed
from lockgate.model.errors import LockgateError
from lockgate.model.ids import short_id
from lockgate.model.records import Receipt
from lockgate.model.statuses import QueueStatus
from lockgate.model.text import clean
from lockgate.tui import terminal
from lockgate.view.documents import run_document
from lockgate.view.snapshots import ShownRequest, ShownRun, newest

if TYPE_CHECKING:
    from lockgate.tui.screens.main import MainScreen

QUESTIONS = {
    "cancel": ("Cancel this run?", "It ends now, whatever it waits for; this cannot be undone.", "cancel it"),
    "restart": ("Restart this run?", "A new run begins with the same input; this one stays as it is.", "restart it"),
}
FIRST_COMMAND = "lockgate demo"
DONE = {
    "pause": "is paused",
    "resume": "goes on",
    "cancel": "is cancelled",
    "restart": "was restarted",
}


class Acts:
    """Turns a key into an intent about the run (or request) that the person looks at."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen

    @property
    def run(self) -> ShownRun | None:
        """The run that an act is about: the one in the detail; None while a ghost is under the cursor."""
        screen = self._screen
        if screen.number in (1, 2) and screen.pane.focus_target.target is None:
            return None
        wanted = screen.selected
        snapshot = screen.painter.snapshot
        if snapshot is not None and snapshot.detail is not None and snapshot.detail.run.run_id == wanted:
            return snapshot.detail.run
        return screen.runs.run(wanted)

    @property
    def request(self) -> ShownRequest | None:
        """The request that `d` opens: the one under the cursor of pane 2, else the pending one of the run."""
        screen = self._screen
        if screen.number == 2:
            return screen.decisions.request(screen.decisions.list.target)
        snapshot, run = screen.painter.snapshot, self.run
        if snapshot is None or run is None:
            return None
        detail = snapshot.detail
        if detail is not None and detail.run.run_id == run.run_id and detail.request is not None:
            return detail.request
        return newest(snapshot.decisions, run.run_id)

    def decide(self) -> None:
        """Opens the card of the request."""
        request = self.request
        run = self.run
        if request is None and run is not None and "resolve" in allowed(run.run):
            show = f"lockgate show {run.short_id} has the id"
            self._screen.painter.say(f"{run.short_id}: lockgate resolve says whether it happened; {show}")
        elif request is None:
            self._screen.painter.say("nothing to decide here")
        else:
            self._screen.lockgate.open_card(request)

    def ask(self, what: str) -> None:
        """Pauses, resumes, cancels or restarts the run: if the law has it, and after a question where needed."""
        run = self.run
        if run is None:
            self._screen.painter.say("no run is selected")
        elif self._screen.lockgate.options.read_only:
            self._screen.painter.say("read-only: nothing can be changed here")
        elif what not in allowed(run.run):
            self._screen.painter.say(f"{run.short_id} cannot {what} now: it is {run.run.status}")
        elif what in QUESTIONS:
            question, consequence, verb = QUESTIONS[what]
            about = f"{run.run.workflow} {run.run.title or ''} {run.short_id}".replace("  ", " ")
            self._screen.lockgate.confirm(question, about, consequence, verb, lambda: self._do(what, run))
        else:
            self._do(what, run)

    def _do(self, what: str, run: ShownRun) -> None:
        desk = self._screen.lockgate.desk
        calls: dict[str, Callable[[], Awaitable[Receipt]]] = {
            "pause": lambda: desk.pause(run.run_id),
            "resume": lambda: desk.resume(run.run_id),
            "cancel": lambda: desk.cancel(run.run_id),
            "restart": lambda: desk.restart(run.run_id, expected_revision=run.run.revision),
        }
        self._screen.run_worker(self._carry_out(what, run, calls[what]), group="act", exit_on_error=False)

    async def _carry_out(self, what: str, run: ShownRun, call: Callable[[], Awaitable[Receipt]]) -> None:
        say = self._screen.painter.say
        try:
            receipt = await call()
        except LockgateError as error:
            say(clean(error.message), bad=True)
            return
        if receipt.outcome not in ("accepted", "adopted"):
            say(f"{what} of {run.short_id} was refused: {clean(receipt.reason or receipt.outcome)}", bad=True)
        elif what == "restart" and receipt.run_id is not None:
            say(f"{run.short_id} {DONE[what]} as {short_id(receipt.run_id)}")
        elif what == "pause" and run.run.queue is QueueStatus.RUNNING:
            say(f"{run.short_id} pauses after the node that runs now")
        else:
            say(f"{run.short_id} {DONE[what]}")

    def start_host(self) -> None:
        """Starts a host for this store, in the background."""
        if self._screen.lockgate.options.read_only:
            self._screen.painter.say("read-only: no host is started here")
        else:
            self._screen.run_worker(self._start_host(), group="act", exit_on_error=False)

    async def _start_host(self) -> None:
        try:
            self._screen.painter.say(clean(await self._screen.lockgate.desk.start_host()))
        except (LockgateError, OSError) as error:
            self._screen.painter.say(clean(str(error)), bad=True)

    def open_output(self) -> None:
        """Shows what the worker wrote in $PAGER; the tab that has it is opened first."""
        screen = self._screen
        snapshot = screen.painter.snapshot
        output = snapshot.detail.output if snapshot is not None and snapshot.detail is not None else None
        if screen.detail.tab != "output" or output is None:
            screen.detail.open_tab("Output")
            screen.painter.say("o once more opens it in $PAGER")
            return
        text = "\n".join(line for _, line in output.lines)
        if trouble := terminal.page(screen.lockgate, text + "\n"):
            screen.painter.say(clean(trouble), bad=True)

    # Copying

    def copy_id(self) -> None:
        """Copies the id of what is under the cursor of the focused pane."""
        screen = self._screen
        snapshot = screen.painter.snapshot
        if snapshot is not None and snapshot.is_blank:
            self._copy(FIRST_COMMAND)
            return
        target = screen.pane.focus_target.target
        if screen.number == 4 and screen.detail.tab != "steps":
            target = screen.selected
        self._copy(target)

    def copy_json(self) -> None:
        """Copies the run as the JSON that `lockgate runs --json` prints for it."""
        run = self.run
        if run is None:
            self._copy(None)
            return
        document = run_document(run.run, self._screen.lockgate.now())
        self._copy(json.dumps(document, indent=2, ensure_ascii=True))

    def _copy(self, text: str | None) -> None:
        if text is None:
            self._screen.painter.say("nothing to copy here")
        else:
            self._screen.lockgate.toast(terminal.copy(self._screen.lockgate, text))
