"""What a node's functions are given."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
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
    """The one argument of a node's functions. Values are copies: changing them changes nothing else."""

    def __init__(
        self,
        *,
        state: State,
        input: Callable[[], Any],
        outputs: Callable[[], Mapping[str, Any]],
        results: Callable[[], Mapping[str, Result]],
        publish: Publish,
    ) -> None:
        self.state = state
        self.settings: Mapping[str, Any] = {}
        self.effect: EffectState | None = None
        self._input, self._outputs, self._results = input, outputs, results
        self._publish = publish
        self._is_stopping = False

    @cached_property
    def input(self) -> Any:
        """The run's input; in an include, what the parent gave."""
        return self._input()

    @cached_property
    def outputs(self) -> Mapping[str, Any]:
        """The latest output of each node whose latest attempt ended ok."""
        return self._outputs()

    @cached_property
    def results(self) -> Mapping[str, Result]:
        """The latest Result of every node that ran."""
        return self._results()

    @property
    def cancelled(self) -> bool:
        """Whether the node ran over its limit or has to stop: what goes on after that is not recorded."""
        return self._is_stopping

    def update(self, data: Mapping[str, Any], *, type: str = "progress", key: str = "overall") -> None:
        """Publishes progress, from any thread, without waiting.

        The newest data of each (type, key) is what people see, at most four commits a second. `progress`
        takes completed and total with their unit, label, phase, and status (running unless said otherwise).
        Raises PayloadError for what does not fit.
        """
        self._publish(type, key, data)

    def stop(self) -> None:
        """Tells the node's functions that their time is over."""
        self._is_stopping = True
