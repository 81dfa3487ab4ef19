"""The dashboard as an app: one feed in, one desk out, the screens between them.

The app owns what outlives a screen: the options, the drafts, the workers and the terminal. It never reads the
store: the feed's worker posts snapshots, and a feed that fails becomes a status and is started again.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from lockgate.model.errors import LockgateError
from lockgate.model.records import Now
from lockgate.model.text import clean
from lockgate.tui import terminal
from lockgate.tui.assets import css_dir
from lockgate.tui.commands import LockgateCommands
from lockgate.tui.drafts import Drafts
from lockgate.tui.flood import Flood
from lockgate.tui.hush import PAUSE_S, Hush
from lockgate.tui.keynames import action_ids, groups
from lockgate.tui.notices import Notices
from lockgate.tui.options import Options
from lockgate.tui.screens.confirm import ConfirmScreen
from lockgate.tui.screens.help import HelpScreen
from lockgate.tui.screens.main import MainScreen
from lockgate.tui.screens.reader import ReaderScreen
from lockgate.tui.themes import PALETTES, themes
from lockgate.tui.widgets.detail_pane import DetailPane
from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.timeline_pane import TimelinePane
from lockgate.view.cells import Line
from lockgate.view.snapshots import ShownRequest, Snapshot
from lockgate.view.times import duration

if TYPE_CHECKING:
    from lockgate.tui.screens.card import CardScreen
    from lockgate.view.desk import Desk
    from lockgate.view.feed import Feed

AGAIN_S = 2.0
SECOND_PRESS_S = 2.0
SLEPT_MS = 30_000
UNFOCUSED_TICKS = 10
"""While the person looks elsewhere, times move with every tenth tick only."""
KEYED = (LinesView, LineList, TimelinePane, DetailPane)
FLOODED = "more keys came than can be taken: the rest of them is left out"
ARRIVALS = (events.Key, events.Paste)
STYLE_SHEETS = ("app.tcss", "main.tcss", "card.tcss", "small.tcss")


class LockgateApp(App[int], inherit_bindings=False):
    """Runs the screens over one feed and one desk."""

    TITLE = "lockgate"
    AUTO_FOCUS = ""
    COMMANDS = {LockgateCommands}  # noqa: RUF012 - the type of the framework's own
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "leave", "quit", id="quit"),
        Binding("ctrl+c", "interrupt", "quit at the second press", id="interrupt", priority=True, show=False),
        Binding("ctrl+p,colon", "command_palette", "commands", id="commands"),
        Binding("question_mark", "help", "help", id="help"),
        Binding("comma", "theme", "theme", id="theme"),
    ]

    class Arrived(Message):
        """The feed read something newer."""

        def __init__(self, snapshot: Snapshot) -> None:
            super().__init__()
            self.snapshot = snapshot

    def __init__(self, feed: "Feed", desk: "Desk", now: Callable[[], Now], options: Options) -> None:
        sheets = [css_dir() / name for name in STYLE_SHEETS]
        super().__init__(css_path=[str(sheet) for sheet in sheets])
        self.feed, self.desk, self.now, self.options = feed, desk, now, options
        self.animation_level = "none"
        self.set_class(options.ascii, "-ascii")
        self.drafts = Drafts()
        self.notices = Notices(self, bell=options.bell)
        self.lifeline = terminal.Lifeline(self)
        self.main = MainScreen()
        self._card: CardScreen | None = None
        self._letters, self._flood = Hush(), Flood()
        self._has_dropped = False
        self._interrupted_at = float("-inf")
        self._ticks = 0
        self._ticked_at: Now | None = None
        for theme in themes():
            self.register_theme(theme)
        self.theme = self._first_theme()

    def _first_theme(self) -> str:
        wanted = self.options.theme
        if wanted in PALETTES:
            return wanted
        return "mono" if self.no_color else "dark"

    def get_default_screen(self) -> Screen[None]:
        return self.main

    def on_mount(self) -> None:
        self._take_keys(self.options.keys)
        self.lifeline.hold()
        terminal.push_title(self)
        self.notices.title(0)
        self.set_interval(terminal.LOOK_FOR_TERMINAL_S, self.lifeline.look)
        self.set_interval(1.0, self._tick)
        self.run_worker(self._listen(), group="feed", exclusive=True, exit_on_error=False)

    def _take_keys(self, keys: Mapping[str, str]) -> None:
        """Remaps keys by the id of their action; what cannot be is said once, at the start."""
        self.set_keymap(keys)
        if not keys:
            return
        from lockgate.tui.screens.card import CardScreen

        known = action_ids(type(self), MainScreen, CardScreen, ConfirmScreen, *KEYED)
        trouble = [f"no action is called {name}" for name in keys if name not in known]
        if not self.main.lens().too_small:
            reached = {each.binding.id for each in self.main.active_bindings.values()}
            lost = sorted(action_ids(type(self), MainScreen) - reached)
            trouble += [f"{name} lost its key to another action" for name in lost]
        if trouble:
            self.call_after_refresh(self.main.painter.say, clean("keys: " + "; ".join(trouble)), bad=True)

    def on_unmount(self) -> None:
        terminal.pop_title(self)
        self.lifeline.release()

    # Keys

    def post_message(self, message: Message) -> bool:
        """Takes a message in, but no key behind a long queue, and none once the app ends."""
        if isinstance(message, events.Key) and not message.is_forwarded and self._refuses(message):
            return False
        return super().post_message(message)

    def _refuses(self, event: events.Key) -> bool:
        if self.lifeline.is_ending:
            return True
        refused = self._flood.refuses(event.time, self.message_queue_size)
        if refused and self._card is not None:
            self._card.arrived(event.time)
        return refused

    async def on_event(self, event: events.Event) -> None:
        """Every key passes here when its turn comes, and most again when no widget took it."""
        if self._card is not None and isinstance(event, ARRIVALS) and not event.is_forwarded:
            self._card.arrived(event.time)
        if isinstance(event, events.Key):
            if not event.is_forwarded and self._drops(event):
                return
            # A queue that is never empty is worked off without a pause: signals and data would wait for its end.
            await asyncio.sleep(0)
            if self._rests(event):
                return
        await super().on_event(event)

    def _drops(self, event: events.Key) -> bool:
        """Whether the key is left out, because the app ends or because too many came; that is said once."""
        if self.lifeline.is_ending:
            return True
        drops = self._flood.drops(event.time, time.monotonic(), self.message_queue_size)
        if drops and not self._has_dropped:
            self._say(FLOODED)
        self._has_dropped = drops
        return drops

    def _rests(self, event: events.Key) -> bool:
        """Whether the key belongs to a text that was typed into a card which is a record now, or closed."""
        if self.has_open_card and self.card.swallows(event):
            return True
        if not (event.is_printable and self._letters.covers(event.time)):
            return False
        return self._is_seen(self.main)

    def rest_letters(self) -> None:
        """Letters do nothing for a moment: the key that closed a card may have been part of a text."""
        self._letters.begin(time.monotonic(), PAUSE_S)

    # Snapshots

    async def _listen(self) -> None:
        """Posts every snapshot; a feed that breaks is said and begun again, so the app never dies of data."""
        try:
            async for snapshot in self.feed.snapshots():
                self.post_message(self.Arrived(snapshot))
        except LockgateError as error:
            self._feed_broke(error.message)
        except Exception as error:
            self._feed_broke(f"{type(error).__name__}: {error}")
            self.log.error(error)

    def _feed_broke(self, why: str) -> None:
        self.main.painter.say(f"reading stopped, trying again: {clean(why)}", bad=True)
        self.set_timer(
            AGAIN_S,
            lambda: self.run_worker(self._listen(), group="feed", exclusive=True, exit_on_error=False),
        )

    def on_lockgate_app_arrived(self, message: Arrived) -> None:
        snapshot = message.snapshot
        self.main.painter.take(snapshot)
        if snapshot.request is not None and self.has_open_card:
            self.card.take(snapshot.request)
        self.notices.note(snapshot)
        self.main.departures.note(snapshot)

    def _tick(self) -> None:
        self._ticks += 1
        self._note_sleep(self.now())
        if self._is_seen(self.main) and (self.app_focus or self._ticks % UNFOCUSED_TICKS == 0):
            self.main.painter.tick()
        snapshot = self.main.painter.snapshot
        if snapshot is not None:
            self.notices.watch(snapshot, self.now().wall_ms)

    def _note_sleep(self, now: Now) -> None:
        """After a suspend the wall clock is ahead of the monotonic one: everything is read once, and it is said."""
        before, self._ticked_at = self._ticked_at, now
        if before is None:
            return
        slept = (now.wall_ms - before.wall_ms) - (now.mono_ms - before.mono_ms)
        if slept > SLEPT_MS:
            self.feed.look(self.main.interest)
            self.main.painter.say(f"resumed after {duration(slept)}")

    # Screens

    def _is_seen(self, screen: Screen[Any]) -> bool:
        """Whether it is the screen on top. While the app ends there is none, and timers still have their turn."""
        return bool(self.screen_stack) and self.screen is screen

    @property
    def why_no_answer(self) -> str:
        """Why no decision can be recorded from this dashboard; empty where it can."""
        if self.options.read_only:
            return "read-only: nothing can be decided here"
        return self.desk.why_no_answer

    @property
    def card(self) -> "CardScreen":
        """The one card: made, and its text area loaded, when the first one is opened."""
        if self._card is None:
            from lockgate.tui.screens.card import CardScreen

            self._card = CardScreen()
            self.install_screen(self._card, "card")
        return self._card

    @property
    def has_open_card(self) -> bool:
        return self._card is not None and self._is_seen(self._card)

    def open_card(self, request: ShownRequest) -> None:
        """Shows the card of a request; never while another screen is open, so it cannot open by itself."""
        if not self._is_seen(self.main):
            return
        self.main.look(request_id=request.request_id)
        self.card.begin(request)
        self.push_screen(self.card, lambda _: self.main.look(request_id=None))

    def refresh_request(self) -> None:
        """Has the feed read the open card's request again now."""
        self.feed.look(self.main.interest)

    def read(self, title: str, lines: Sequence[Line]) -> None:
        """Shows a text on the whole screen."""
        self.push_screen(ReaderScreen(title, lines, self.main.lens()))

    def confirm(self, question: str, about: str, consequence: str, verb: str, act: Callable[[], None]) -> None:
        """Asks before something that cannot be undone."""
        self.push_screen(ConfirmScreen(question, about, consequence, verb, act))

    def action_help(self) -> None:
        if self._is_seen(self.main):
            pane = self.main.pane
            shown = groups(self.main, ascii=self.options.ascii)
            self.push_screen(HelpScreen(pane.NAME, shown, self.main.lens()))

    def action_theme(self) -> None:
        names = list(PALETTES)
        current = names.index(self.theme) if self.theme in names else 0
        self.theme = names[(current + 1) % len(names)]
        self.main.painter.say(f"theme {self.theme}")

    def watch_theme(self, theme_name: str) -> None:
        for screen in self.screen_stack if self.is_running else ():
            for widget in screen.query("LineBlock, LinesView"):
                widget.refresh()

    def copy(self, text: str) -> None:
        """Copies by the terminal and to a file, and says where it is."""
        self.toast(terminal.copy(self, text))

    def toast(self, text: str) -> None:
        """A short note about something that the person just did; never read as markup."""
        self.notify(Content(clean(text)).plain, markup=False, timeout=5)

    # Leaving

    def action_leave(self) -> None:
        count = self.drafts.unrecorded
        if not count:
            self.exit(0)
            return
        drafts = "1 draft is" if count == 1 else f"{count} drafts are"
        self.confirm(f"{drafts} not recorded.", "Quitting loses what was typed.", "", "quit", lambda: self.exit(0))

    def action_interrupt(self) -> None:
        """The first press copies a selection, or says that the second one quits."""
        now = time.monotonic()
        if now - self._interrupted_at < SECOND_PRESS_S:
            self.exit(0)
            return
        self._interrupted_at = now
        focused = self.focused
        if selected := getattr(focused, "selected_text", ""):
            self.copy(selected)
            return
        self._say("ctrl+c once more quits")

    def _say(self, text: str) -> None:
        """Says something where the person looks."""
        say = self.card.say if self.has_open_card else self.main.painter.say
        say(text)
