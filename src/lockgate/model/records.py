"""Frozen records: the rows of a run as the law and the store exchange them, and what crosses between rooms.

Times are integer epoch milliseconds, durations integer milliseconds, hashes lower-case hex SHA-256.
Field names are the column names. A record is raw: text in it has not been made safe for a terminal.
"""

from lockgate.model.exchange import CheckpointState as CheckpointState
from lockgate.model.exchange import ClaimToken as ClaimToken
from lockgate.model.exchange import Continuation as Continuation
from lockgate.model.exchange import CurrentAttempt as CurrentAttempt
from lockgate.model.exchange import HeadState as HeadState
from lockgate.model.exchange import Receipt as Receipt
from lockgate.model.exchange import Reply as Reply
from lockgate.model.exchange import StepRef as StepRef
from lockgate.model.facts import Actor as Actor
from lockgate.model.facts import Human as Human
from lockgate.model.facts import Now as Now
from lockgate.model.facts import Policy as Policy
from lockgate.model.facts import Record as Record
from lockgate.model.facts import Value as Value
from lockgate.model.rows import AttemptRow as AttemptRow
from lockgate.model.rows import DecisionRow as DecisionRow
from lockgate.model.rows import EffectAttemptRow as EffectAttemptRow
from lockgate.model.rows import EffectRow as EffectRow
from lockgate.model.rows import IntervalRow as IntervalRow
from lockgate.model.rows import QueueRow as QueueRow
from lockgate.model.rows import RequestRow as RequestRow
from lockgate.model.rows import ResolutionRow as ResolutionRow
from lockgate.model.rows import Row as Row
from lockgate.model.rows import RunRow as RunRow
from lockgate.model.rows import SettingsChangeRow as SettingsChangeRow
from lockgate.model.rows import SettingsRow as SettingsRow
from lockgate.model.rows import SourceRow as SourceRow
from lockgate.model.rows import SubmissionRow as SubmissionRow
from lockgate.model.rows import UpdateRow as UpdateRow
from lockgate.model.shown import ClaimView as ClaimView
from lockgate.model.shown import Current as Current
from lockgate.model.shown import EarlierOutcome as EarlierOutcome
from lockgate.model.shown import EventView as EventView
from lockgate.model.shown import HostView as HostView
from lockgate.model.shown import OutputChunk as OutputChunk
from lockgate.model.shown import RequestView as RequestView
from lockgate.model.shown import Run as Run
from lockgate.model.shown import RunDetail as RunDetail
from lockgate.model.shown import Wake as Wake
from lockgate.model.shown import WorkerView as WorkerView
