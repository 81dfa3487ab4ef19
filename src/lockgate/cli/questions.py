"""A request as text: everything that a person decides on, in full, and nothing else."""

from collections.abc import Iterable, Iterator
from typing import Any

from lockgate.flow.words import left_ms
from lockgate.model.ids import fingerprint, short_id
from lockgate.model.records import RequestView
from lockgate.model.statuses import RequestKind
from lockgate.model.text import clean
from lockgate.view.lens import Lens
from lockgate.view.times import duration, moment

_LABEL_CELLS = 12


def request_text(request: RequestView, lens: Lens) -> str:
    """The whole request, safe for a terminal: its question, what it is about, blocks, choices, fingerprint."""
    return clean("\n".join(_lines(request, lens)), multiline=True)


def time_left(request: RequestView, lens: Lens) -> str:
    """`in 5m48s: Stop here`, `due: Stop here`, or `no limit`."""
    if request.deadline_at is None:
        return "no limit"
    label = next((choice["label"] for choice in request.choices if choice["key"] == request.default), request.default)
    left = left_ms(request.deadline_at, lens.now_ms, request.run_at)
    return f"in {duration(left)}: {label}" if left > 0 else f"due: {label}"


def grouped(digest: str) -> str:
    """A fingerprint in groups of four."""
    mark = fingerprint(digest)
    return " ".join(mark[start : start + 4] for start in range(0, len(mark), 4))


def _lines(request: RequestView, lens: Lens) -> Iterator[str]:
    yield request.title
    yield f"{request.workflow} {short_id(request.run_id)}, {request.node} #{request.attempt_number}" + (
        f", {request.run_title}" if request.run_title else ""
    )
    for_whom = f", for {request.audience}" if request.audience else ""
    yield f"asked {moment(request.created_at, lens.now_ms, lens.zone)}, started by {request.started_by}{for_whom}"
    if request.deadline_at is not None:
        yield f"{time_left(request, lens)} ({moment(request.deadline_at, lens.now_ms, lens.zone)})"
    presentation = request.presentation or {}
    if presentation.get("summary"):
        yield from ("", str(presentation["summary"]))
    for block in presentation.get("blocks", ()):
        yield from _block(block)
    yield ""
    yield from _choices(request)
    yield f"fingerprint {grouped(request.digest)}"


def _block(block: dict[str, Any]) -> Iterator[str]:
    kind = block["kind"]
    yield ""
    if kind == "section":
        yield block["title"]
    elif kind == "bullets":
        yield from (f"  · {item}" for item in block["items"])
    elif kind == "fields":
        for item in block["items"]:
            first, *rest = str(item["value"]).splitlines() or [""]
            yield f"  {item['label']:<{_LABEL_CELLS}} {first}"
            yield from (" " * (_LABEL_CELLS + 3) + line for line in rest)
    elif kind == "preformatted":
        yield from (f"  │ {line}" for line in block["text"].splitlines())
    else:
        yield from (f"  {line}" for line in block.get("text", "").splitlines())


def _choices(request: RequestView) -> Iterable[str]:
    if request.kind is not RequestKind.DECISION:
        return [f"lockgate submit {request.request_id} --output JSON answers it"]
    width = max((len(choice["key"]) for choice in request.choices), default=0)
    return [line for choice in request.choices for line in _choice(choice, request, width)]


def _choice(choice: dict[str, Any], request: RequestView, width: int) -> Iterator[str]:
    default = "  (the default)" if choice["key"] == request.default else ""
    then = request.consequences.get(choice["key"])
    yield f"  {choice['key']:<{width}}  {choice['label']}{f', then {then}' if then else ''}{default}"
    wanted = choice.get("input")
    if wanted:
        limits = f"{wanted['min_length']} to {wanted['max_length']} characters"
        yield f"  {'':<{width}}  --text: {wanted['prompt']} ({limits})"
