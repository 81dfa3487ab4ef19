"""Whatever is done to a store by its own commands, in whatever order: no invariant of the doctor breaks."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from lockgate.store.doctor_rows import broken_rules

from .test_rows_follow_from_events import Machine


class Watched(Machine):
    @invariant()
    def nothing_is_wrong(self) -> None:
        # The claims of this machine belong to no host that the store has seen.
        found = self.bench.read(lambda connection: list(broken_rules(connection)))
        assert [finding for finding in found if finding.code != "claim_epoch"] == []


Watched.TestCase.settings = settings(
    max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestEveryHistory = Watched.TestCase
