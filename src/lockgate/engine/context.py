"""What a node's functions are given."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """Where the workflow stands. `steps` is the number of finished attempts before this one.

    In an include, `workflow` and `node` are the child's own names, and `steps` and `visit` count in this invocation.
    """

    run_id: str
    workflow: str
    node: str
    attempt_id: str
    attempt_number: int
    visit: int
    steps: int


@dataclass(frozen=True, slots=True)
class Result:
    """How the latest finished attempt of a node ended: `outcome` is ok, failed or timed_out.

    `error` is {type, message, traceback, result} unless it was ok.
    """

    outcome: str
    output: Any
    error: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class EffectState:
    """The declared effect of this node visit. `key` stays the same over losses: give it to the other side."""

    effect_id: str
    key: str
    type: str
    recovery: str


class Lazily(Mapping[str, Any], Generic[T]):
    """A read-only mapping whose values are made from `parts` when they are first asked for."""

    def __init__(self, parts: Mapping[str, T], make: Callable[[T], Any]) -> None:
        self._parts = parts
        self._make = make
        self._made: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._made:
            self._made[key] = self._make(self._parts[key])
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"<{', '.join(self._parts) or 'empty'}>"


Publish = Callable[[str, str, Mapping[str, Any]], None]


class Context:
    """The one argument of a node's functions.

    `outputs` has the latest output of each node whose latest attempt ended ok, `results` the latest Result of
    every node that ran. Values are copies: changing them changes nothing else.
    """

    def __init__(
        self,
        *,
        state: State,
        input: Callable[[], Any],
        outputs: Mapping[str, Any],
        results: Mapping[str, Result],
        publish: Publish,
    ) -> None:
        self.state = state
        self.outputs = outputs
        self.results = results
        self.settings: Mapping[str, Any] = {}
        self.effect: EffectState | None = None
        self._input = Lazily({"input": None}, lambda _: input())
        self._publish = publish
        self._stopping = threading.Event()

    @property
    def input(self) -> Any:
        """The run's input; in an include, what the parent gave."""
        return self._input["input"]

    @property
    def cancelled(self) -> bool:
        """Whether the node ran over its limit or has to stop: what goes on after that is not recorded."""
        return self._stopping.is_set()

    def update(self, data: Mapping[str, Any], *, type: str = "progress", key: str = "overall") -> None:
        """Publishes progress, from any thread, without waiting.

        The newest data of each (type, key) is what people see, at most four commits a second. `progress`
        takes completed and total with their unit, label, phase, and status (running unless said otherwise).
        Raises PayloadError for what does not fit.
        """
        self._publish(type, key, data)

    def stop(self) -> None:
        """Tells the node's functions that their time is over."""
        self._stopping.set()
