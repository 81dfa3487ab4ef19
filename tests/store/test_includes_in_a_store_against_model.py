"""The machine of includes, on a real file: what is read of a run inside an include is what the law made of it."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from lockgate.store.audit import audit
from lockgate.store.doctor_rows import broken_rules
from tests.flow.driver import Driver
from tests.flow.test_includes_against_model import FLOW, IncludeMachine

from .test_store_against_model import StoreDriver


class StoreIncludeMachine(IncludeMachine):
    driver: StoreDriver

    def new_driver(self) -> Driver:
        return StoreDriver(FLOW.graph)

    @rule(when=st.sampled_from(["before", "after"]))
    def the_next_transaction_meets_a_crash(self, when: str) -> None:
        self.driver.crash = when

    def teardown(self) -> None:
        if not hasattr(self, "driver"):
            return
        super().teardown()
        found = self.driver.read(lambda connection: audit(connection, self.driver.run_id))
        broken = self.driver.read(lambda connection: {rule.code for rule in broken_rules(connection)})
        self.driver.close()
        # The claims are those of a host that this store never had.
        assert (found.difference, broken - {"claim_epoch"}) == (None, set())


StoreIncludeMachine.TestCase.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
TestIncludesInAStoreAgainstModel = StoreIncludeMachine.TestCase
