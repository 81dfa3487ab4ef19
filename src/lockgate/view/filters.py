"""The filter language of pane 1: free text and `state:waiting wf:release id:3f9a title:"1.4"`; `!` inverts.

All terms must hold. Free text is looked for in workflow, title and id, without regard to case. A filter that
cannot be read is refused as it is typed, with what is wrong, and shows nothing instead of everything.
"""

from collections.abc import Callable, Collection, Mapping

import msgspec

from lockgate.flow.words import waiting_for, word
from lockgate.model.records import Now, Run
from lockgate.model.statuses import RunStatus, Word
from lockgate.store.reads import RunQuery
from lockgate.store.reads import Term as StoreTerm
from lockgate.view.times import DAY, HOUR, MINUTE, SECOND

KEYS = ("state", "wf", "id", "title", "age", "err", "by")
_UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
_STATES = {"timed out": "timed_out", "timedout": "timed_out"}


class BadFilter(ValueError):
    """A filter that cannot be read; the message says what is wrong in a few words."""


class Term(msgspec.Struct, frozen=True):
    """One condition: `key` is one of KEYS, or text; `value` is in lower case."""

    key: str
    value: str
    inverted: bool = False

    def holds(self, run: Run, now: Now, stuck: Collection[str] = ()) -> bool:
        """Whether the run fits at this moment; `stuck` are the ids of the runs that are."""
        if self.key == "state" and self.value == "stuck":
            return (run.run_id in stuck) is not self.inverted
        return _CHECKS[self.key](run, self.value, now) is not self.inverted


Filter = tuple[Term, ...]


def parsed(text: str) -> Filter:
    """The terms of what was typed. Raises BadFilter for an unknown state, a bad age or an open quote."""
    return tuple(_term(raw) for raw in _split(text))


def matches(terms: Filter, run: Run, now: Now, stuck: Collection[str] = ()) -> bool:
    """Whether every term holds."""
    return all(term.holds(run, now, stuck) for term in terms)


_FIELDS = {"text": "text", "wf": "workflow", "id": "run", "title": "title", "err": "error", "by": "by"}


def query(terms: Filter, now_ms: int) -> RunQuery | None:
    """What the store can leave out by itself; None where nothing can match.

    A word such as `lost` depends on the moment and on several facts: the query keeps every run that is not
    finished, and `matches` says of those few which ones hold.
    """
    kept = [status for status in RunStatus if _may_be(status, terms)]
    if not kept:
        return None
    ages = [_age(term.value) if not term.inverted else _opposite(term.value) for term in terms if term.key == "age"]
    older = [now_ms - ms for sign, ms in ages if sign == ">"]
    newer = [now_ms - ms for sign, ms in ages if sign == "<"]
    return RunQuery(
        statuses=tuple(kept) if len(kept) < len(RunStatus) else (),
        terms=tuple(
            StoreTerm(field=_FIELDS[term.key], text=term.value, negated=term.inverted)
            for term in terms
            if term.key in _FIELDS and term.value
        ),
        created_before=min(older, default=None),
        created_after=max(newer, default=None),
    )


def _may_be(status: RunStatus, terms: Filter) -> bool:
    """Whether runs of a durable status can match the state terms."""
    for term in terms:
        if term.key != "state":
            continue
        if status.is_terminal:
            if (term.value == status) is term.inverted:
                return False
        elif not term.inverted and term.value in set(RunStatus) and RunStatus(term.value).is_terminal:
            return False
    return True


def _opposite(value: str) -> tuple[str, int]:
    sign, ms = _age(value)
    return ("<" if sign == ">" else ">"), ms


def _split(text: str) -> list[str]:
    """Words, where quotes keep blanks inside a word: `title:"1.4 beta"`."""
    words: list[str] = []
    word, quoted, some = "", False, False
    for character in text:
        if character == '"':
            quoted, some = not quoted, True
        elif character.isspace() and not quoted:
            if word or some:
                words.append(word)
            word, some = "", False
        else:
            word += character
    if quoted:
        raise BadFilter("a quote is open")
    return [*words, word] if word or some else words


def _term(raw: str) -> Term:
    inverted = raw.startswith("!") and len(raw) > 1
    body = raw[1:] if inverted else raw
    key, colon, value = body.partition(":")
    if not colon or key not in KEYS:
        return Term("text", body.lower(), inverted)
    value = value.lower()
    if key == "state":
        value = _STATES.get(value, value)
        if value not in set(Word) | {"you", "input", "agent", "open", "stuck"}:
            raise BadFilter(f"no state {value!r}")
    elif key == "age":
        _age(value)
    return Term(key, value, inverted)


def _age(value: str) -> tuple[str, int]:
    """`>1h` as its sign and milliseconds; without a sign it means older than."""
    sign, number = (value[0], value[1:]) if value[:1] in ("<", ">") else (">", value)
    if not number[:-1].isdigit() or number[-1:] not in _UNITS:
        raise BadFilter("an age is like >1h")
    return sign, int(number[:-1]) * _UNITS[number[-1]]


def _has_text(run: Run, value: str, now: Now) -> bool:
    return any(value in (field or "").lower() for field in (run.workflow, run.title, run.run_id))


def _is_state(run: Run, value: str, now: Now) -> bool:
    name = word(run, now)
    if value == "open":
        return not run.status.is_terminal
    if value in ("you", "input", "agent"):
        return name is Word.WAITING and waiting_for(run, now) == ("person" if value == "you" else value)
    return name == value


def _is_aged(run: Run, value: str, now: Now) -> bool:
    sign, ms = _age(value)
    age_ms = now.wall_ms - run.created_at
    return age_ms > ms if sign == ">" else age_ms < ms


_CHECKS: Mapping[str, Callable[[Run, str, Now], bool]] = {
    "text": _has_text,
    "state": _is_state,
    "wf": lambda run, value, now: value in run.workflow.lower(),
    "id": lambda run, value, now: value in run.run_id.lower(),
    "title": lambda run, value, now: value in (run.title or "").lower(),
    "age": _is_aged,
    "err": lambda run, value, now: value in f"{run.error_code or ''} {run.error_summary or ''}".lower(),
    "by": lambda run, value, now: value in run.started_by.lower(),
}
