"""The command palette: every action that has a key, by its words."""

from collections.abc import Callable, Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from lockgate.tui.keynames import key_name

Command = tuple[str, str, Callable[[], object]]


class LockgateCommands(Provider):
    """Offers what the screen's bindings offer; the words are ours, never data."""

    def _commands(self) -> Iterator[Command]:
        seen: set[str] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.id and binding.description not in seen and not binding.id.startswith("list."):
                seen.add(binding.description)
                run = partial(self.app.run_action, binding.action, active.node)
                yield binding.description, key_name(binding.key), run

    async def discover(self) -> Hits:
        for words, key, run in self._commands():
            yield DiscoveryHit(words, run, help=key)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for words, key, run in self._commands():
            score = matcher.match(words)
            if score > 0:
                yield Hit(score, matcher.highlight(words), run, text=words, help=key)
