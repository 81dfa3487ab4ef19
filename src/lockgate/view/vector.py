"""The ids of all matching runs in their order: exact places for scrolling, at a hundred thousand runs too."""

from collections.abc import Iterable, Sequence


class RunVector:
    """Ids and their places. With `growing` new runs are put in front without moving what is already known.

    A snapshot holds a `view` of it: later runs do not change what a view says.
    """

    def __init__(self, ids: Sequence[str], *, growing: bool = False) -> None:
        # The front is the end of the list where runs are added: appending is cheap, and places stay what they were.
        self._ids = list(reversed(ids)) if growing else list(ids)
        self._growing = growing
        self._places: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._known()

    def grow(self, run_ids: Iterable[str]) -> None:
        """Puts new runs in front, the newest last given; runs that are known stay where they are."""
        places = self._known()
        for run_id in run_ids:
            if run_id not in places:
                places[run_id] = len(self._ids)
                self._ids.append(run_id)

    def view(self) -> "VectorView":
        """What the vector says now."""
        return VectorView(self, len(self._ids))

    def _known(self) -> dict[str, int]:
        if self._places is None:
            self._places = {run_id: place for place, run_id in enumerate(self._ids)}
        return self._places

    def slice(self, first: int, count: int) -> list[str]:
        """The ids from place `first`, at most `count`."""
        view = self.view()
        stop = min(first + count, len(view))
        return [run_id for place in range(max(first, 0), stop) if (run_id := view.id_at(place)) is not None]


class VectorView:
    """The vector as it was when a snapshot was made."""

    __slots__ = ("_length", "_vector")

    def __init__(self, vector: RunVector, length: int) -> None:
        self._vector, self._length = vector, length

    def __eq__(self, other: object) -> bool:
        """Whether both say the same places; a vector that was read anew counts as another."""
        if not isinstance(other, VectorView):
            return NotImplemented
        return self._vector is other._vector and self._length == other._length

    def __hash__(self) -> int:
        return hash((id(self._vector), self._length))

    def __len__(self) -> int:
        return self._length

    def id_at(self, index: int) -> str | None:
        """The run at a place from the top; None outside."""
        if not 0 <= index < self._length:
            return None
        place = self._length - 1 - index if self._vector._growing else index
        return self._vector._ids[place]

    def index_of(self, run_id: str) -> int | None:
        """The place of a run from the top; None where it is not in the list."""
        place = self._vector._known().get(run_id)
        if place is None or place >= self._length:
            return None
        return self._length - 1 - place if self._vector._growing else place
