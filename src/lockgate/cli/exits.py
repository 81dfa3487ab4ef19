"""Exit codes, and which failure ends with which."""

from lockgate.config.errors import ConfigFileError, SettingError
from lockgate.model.errors import (
    ClaimLost,
    KeyConflict,
    LockgateError,
    NotFound,
    PayloadError,
    Refused,
    WorkflowError,
)

OK = 0
FAILURE = 1
USAGE = 2
NOT_COMPLETED = 3
NOT_FOUND = 4
REFUSED = 5
INTERRUPTED = 130

_BY_OUTCOME = {"accepted": OK, "adopted": OK, "not_found": NOT_FOUND}


class NoTerminal(LockgateError):
    """The command needs a person at a terminal, and there is none."""

    code = "no_terminal"

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what} needs a terminal: {advice}", advice=advice)


def code_of(error: LockgateError) -> int:
    """The exit code of a failure."""
    if isinstance(error, NotFound):
        return NOT_FOUND
    if isinstance(error, Refused | KeyConflict | ClaimLost | WorkflowError):
        return REFUSED
    if isinstance(error, PayloadError | SettingError | ConfigFileError | NoTerminal):
        return USAGE
    return FAILURE


def code_of_outcome(outcome: str) -> int:
    """The exit code of a receipt's outcome."""
    return _BY_OUTCOME.get(outcome, REFUSED)
