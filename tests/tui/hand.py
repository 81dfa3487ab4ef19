"""The clock of keys and presses, which a test moves instead of waiting."""

from lockgate.tui.guard import ARM_MS


class Hand:
    """Stands for the module `time`, and for the moments at which keys arrive."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def monotonic(self) -> float:
        return self.seconds

    get_time = monotonic

    def wait(self, ms: float = ARM_MS + 1) -> None:
        self.seconds += ms / 1000
