"""Raw records made into clean snapshots: the one place where text of the store becomes text of a screen."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from lockgate.model.ids import short_id
from lockgate.model.records import EffectRow, RequestView, ResolutionRow, Run
from lockgate.model.statuses import Intent, Provenance
from lockgate.model.text import clean
from lockgate.view.snapshots import (
    Block,
    ShownChoice,
    ShownEffect,
    ShownInput,
    ShownRequest,
    ShownResolution,
    ShownRun,
)


def shown_run(run: Run, *, slower: float | None = None) -> ShownRun:
    """A run with every text of it cleaned."""
    texts = {
        "workflow": clean(run.workflow),
        "title": clean(run.title) if run.title is not None else None,
        "error_summary": clean(run.error_summary) if run.error_summary else run.error_summary,
        "started_by": clean(run.started_by),
        "default_choice": clean(run.default_choice) if run.default_choice else run.default_choice,
        "default_label": clean(run.default_label) if run.default_label else run.default_label,
    }
    return ShownRun(run=msgspec.structs.replace(run, **texts), short_id=short_id(run.run_id), slower=slower)


def shown_request(request: RequestView, *, text: str | None = None) -> ShownRequest:
    """A request whole; `text` is what came with the choice that won, where it is known."""
    choices = tuple(_choice(choice, request.consequences) for choice in request.choices)
    return ShownRequest(
        request_id=request.request_id,
        digest=request.digest,
        kind=request.kind,
        status=request.status,
        run_id=request.run_id,
        short_id=short_id(request.run_id),
        workflow=clean(request.workflow),
        run_title=clean(request.run_title or ""),
        run_over=request.run_status.is_terminal,
        run_at=request.run_at,
        paused=request.paused,
        node=clean(request.node),
        attempt_id=request.attempt_id,
        attempt_number=request.attempt_number,
        audience=clean(request.audience or ""),
        title=clean(request.title),
        blocks=tuple(blocks(request.presentation)),
        choices=choices,
        contract=_contract(request.contract),
        started_by=clean(request.started_by),
        deadline_at=request.deadline_at,
        default=request.default,
        created_at=request.created_at,
        resolution=_resolution(request.resolution, choices, text) if request.resolution else None,
    )


def _choice(choice: Mapping[str, Any], consequences: Mapping[str, str]) -> ShownChoice:
    asked = choice.get("input")
    return ShownChoice(
        key=choice["key"],
        label=clean(choice["label"]),
        intent=Intent(choice.get("intent", Intent.NEUTRAL)),
        input=ShownInput(
            name=asked["name"],
            prompt=clean(asked["prompt"]),
            min_length=asked.get("min_length", 1),
            max_length=asked.get("max_length", 4000),
        )
        if asked
        else None,
        consequence=clean(consequences.get(choice["key"], "")),
    )


def _resolution(resolution: ResolutionRow, choices: Sequence[ShownChoice], text: str | None) -> ShownResolution:
    label = next((choice.label for choice in choices if choice.key == resolution.choice), resolution.choice)
    place = resolution.channel or ""
    return ShownResolution(
        provenance=Provenance(resolution.provenance),
        choice=resolution.choice,
        label=clean(label) if label is not None else None,
        actor=clean(resolution.actor_id),
        place=clean(seat(place)),
        at=resolution.resolved_at,
        text=clean(text, multiline=True) if text is not None else None,
    )


def seat(channel: str) -> str:
    """`ws1 pts/4`: where a person sat, from the channel of a receipt (`ws1:/dev/pts/4`)."""
    return channel.replace(":", " ", 1).replace(" /dev/", " ", 1)


def _contract(contract: Any) -> str:
    return clean(json.dumps(contract, indent=2, ensure_ascii=False), multiline=True) if contract is not None else ""


def blocks(presentation: Mapping[str, Any] | None) -> Iterable[Block]:
    """The summary and the blocks of a presentation; a kind that a newer version knows is shown as its JSON."""
    if not presentation:
        return
    if presentation.get("summary"):
        yield Block("paragraph", clean(presentation["summary"], multiline=True))
    for block in presentation.get("blocks", ()):
        match block:
            case {"kind": "paragraph" | "preformatted" as kind, "text": str(text)}:
                yield Block(kind, clean(text, multiline=True))
            case {"kind": "section", "title": str(title)}:
                yield Block("section", clean(title))
            case {"kind": "bullets", "items": [*items]}:
                yield Block("bullets", items=tuple(clean(str(item)) for item in items))
            case {"kind": "fields", "items": [*items]}:
                pairs = tuple((clean(str(item["label"])), clean(str(item["value"]))) for item in items)
                yield Block("fields", fields=pairs)
            case _:
                yield Block("preformatted", clean(json.dumps(block, indent=2, ensure_ascii=False), multiline=True))


def shown_effect(effect: EffectRow) -> ShownEffect:
    return ShownEffect(
        effect_id=effect.effect_id,
        node=clean(effect.node_id),
        visit=effect.visit,
        type=clean(effect.effect_type),
        recovery=effect.recovery,
        status=effect.status,
        attempts=effect.attempt_count,
        resolved_by=clean(effect.resolved_by or ""),
        resolved_at=effect.resolved_at,
    )
