"""What holds for all tests: generated examples are the same in every run, so that a failure is one of the change.

`LOCKGATE_TEST_EXAMPLES=random python -m pytest` looks for new ones.
"""

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
settings.load_profile("default" if os.environ.get("LOCKGATE_TEST_EXAMPLES") == "random" else "steady")
